package workspace

import (
	"context"
	"fmt"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/history/rundiff"
	"lore/internal/tool/policy"
	"lore/internal/tool/token"
	"lore/internal/vault"
)

// bind makes the registry of the session.
func (s *Session) bind(ctx context.Context) error {
	deps := tool.Deps{
		Log: s.Log, Now: s.opener.Now, Bus: s.Bus, Policy: s.Policy, Meter: policy.NewMeter(s.Limits),
		Questions: s.Approvals, Ledger: s.History, Taints: s.History, HasPIN: token.New(s.State, s.opener.Now).HasPIN, Writable: s.Writable, Apply: s.Apply, Reindex: s.Reindex,
		Real: s.Vault.Real, Since: rundiff.In(s.History), Prepare: s.Gate.Prepare, Fetch: s.fetch,
		Folders: s.topFolders, Untrusted: index.Untrusted(s.Store),
	}
	sets := s.opener.Bind(ctx, s, &deps)
	s.Registry = tool.NewRegistry(deps, sets...)
	return configureTools(s.Registry, s.Off, s.instructions)
}

// topFolders lists the folders that a person can share: all of them, so it waits
// for an index that is being built.
func (s *Session) topFolders(ctx context.Context) ([]string, error) {
	return index.TopFolders(s.Index)(s.Gate.Prepare(ctx, tool.WholeIndex))
}

// fetch brings in one tool of another server.
func (s *Session) fetch(ctx context.Context, name string) error {
	if s.servers == nil {
		return nil
	}
	return s.servers.Fetch(ctx, name)
}

// configureTools switches tools off and gives them the words of the settings.
func configureTools(r *tool.Registry, off []string, instructions map[string]string) error {
	for _, name := range off {
		if err := r.Switch(name, false); err != nil {
			return fmt.Errorf("settings, tools.%s: %w", name, err)
		}
	}
	for name, text := range instructions {
		if err := r.Instruct(name, text); err != nil {
			return fmt.Errorf("settings, instructions.%s: %w", name, err)
		}
	}
	return nil
}

// Writable says why this process does not change the vault.
func (s *Session) Writable(context.Context) error {
	if !s.holds {
		return fault.Fix(fault.Busy, "make the change in that process, or stop it; you can answer approval requests in this one", "another lore process has this vault open, and only one can change it")
	}
	switch st := s.Vault.State(); st.Mode {
	case vault.Offline:
		return fault.New(fault.Offline, "the vault is offline: %s", st.Reason)
	case vault.ReadOnly:
		return fault.Fix(fault.ReadOnly, "change the permissions of the folder", "the vault folder is not writable")
	}
	return s.recoverErr
}

// Apply writes the edits of an operation.
func (s *Session) Apply(ctx context.Context, op string, set change.Set) error {
	apply := s.Writer.Apply
	if tool.Restoring(ctx) {
		apply = s.Writer.Restore
	}
	receipt, err := apply(ctx, op, set)
	for _, w := range receipt.Warnings {
		s.Log.Warn("a change was made with a warning", "operation", op, "note", w)
	}
	return err
}

// Reindex lets the index see what was written.
func (s *Session) Reindex(ctx context.Context, paths []string) error {
	_, err := s.Indexer.Update(ctx, paths)
	s.mu.Lock()
	s.changed = true
	s.mu.Unlock()
	s.wakeEmbedder()
	return err
}
