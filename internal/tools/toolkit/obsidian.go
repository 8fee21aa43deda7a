package toolkit

import (
	"context"
	"encoding/json"

	"lore/internal/fault"
	"lore/internal/vault"
)

// ObsidianSetting reads one of Obsidian's files, such as
// ".obsidian/templates.json"; a missing one leaves into as it is.
func ObsidianSetting(ctx context.Context, v *vault.Vault, path string, into any) error {
	f, err := v.ReadHidden(ctx, path)
	switch {
	case fault.Of(err) == fault.NotFound:
		return nil
	case err != nil:
		return err
	}
	if err := json.Unmarshal(f.Data, into); err != nil {
		return fault.Fix(fault.Invalid, "fix it in Obsidian", "%s cannot be read: %v", path, err)
	}
	return nil
}
