package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"

	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
)

// admit finds the tool, gives the arguments their one form, and checks what can
// be checked before anything is planned.
func (c *call) admit(ctx context.Context, args json.RawMessage, metered bool) error {
	c.metered = metered
	t, err := c.fetch(ctx, c.rec.Tool)
	if err != nil {
		return err
	}
	c.tool, c.rec.Tool = t, t.Name
	switch {
	case c.isOff(t) && t.Off:
		return fault.Fix(fault.Denied, "a person can turn it on: lore config set tools."+t.Name+" on", "%s is turned off", t.Name)
	case c.isOff(t):
		return fault.New(fault.Denied, "%s is turned off", t.Name)
	case t.Persons && c.who.Kind != access.Person:
		return fault.New(fault.Denied, "only a person can call %s", t.Name)
	case !c.who.May(access.Read):
		return fault.New(fault.Denied, "%s: this caller does not have the read scope", t.Name)
	case t.Effect == access.Changes && t.With == "" && !t.gathers && !c.who.May(access.Write):
		return fault.New(fault.Denied, "%s: this caller does not have the write scope", t.Name)
	case t.Needs != "" && !c.who.May(t.Needs):
		return fault.New(fault.Denied, "%s: this caller does not have the %s scope", t.Name, t.Needs)
	}
	lenient := c.who.Kind == access.Agent || c.who.Kind == access.MCP
	if t.schema().Foreign() {
		args, c.dry = takeForeignDryRun(t, args)
	}
	c.args, c.notices, err = t.schema().Canonical(args, lenient)
	if metered {
		if slow := c.meter(err == nil); slow != nil {
			return slow
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	if t.Effect != access.Reads && !t.schema().Foreign() {
		if c.args, c.dry, err = takeDryRun(c.args); err != nil {
			return err
		}
	}
	if t.With != "" && !c.who.May(access.Write) && isSet(c.args, t.With) {
		return fault.New(fault.Denied, "%s: this caller does not have the write scope; leave out %s", t.Name, t.With)
	}
	c.rec.Args, c.rec.ArgsHash = t.redacted(c.args), hashOf(c.args)
	if c.logs(slog.LevelDebug) {
		c.log().Debug("call arguments", "args", string(c.rec.Args))
	}
	return nil
}

// meter counts the call. A tool that changes only with a switch is a read
// without it, which nothing but the decoded arguments can tell: their text may
// write the name of the switch in many ways. Arguments that are refused count
// as what the tool can do at the most.
func (c *call) meter(valid bool) error {
	effect := c.tool.Effect
	if valid && c.tool.With != "" && !isSet(c.args, c.tool.With) {
		effect = access.Reads
	}
	if err := c.deps.Meter.Take(c.who, c.tool.Name, effect, c.tool.Rate, c.start); err != nil {
		return fmt.Errorf("%s: %w", c.tool.Name, err)
	}
	return nil
}

// isSet reports whether a switch is set in canonical arguments.
func isSet(args json.RawMessage, field string) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(args, &m) != nil || string(m[field]) == "true"
}

// takeDryRun takes the common argument out of the tool's own.
func takeDryRun(args json.RawMessage) (json.RawMessage, bool, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(args, &m); err != nil {
		return nil, false, err
	}
	given, have := m[DryRun]
	if !have {
		return args, false, nil
	}
	dry := string(given) == "true"
	delete(m, DryRun)
	out, err := schema.Marshal(m)
	return out, dry, err
}

// takeForeignDryRun does the same for a tool whose schema knows no such
// argument: it must not run because it does not know the word.
func takeForeignDryRun(t *Tool, args json.RawMessage) (json.RawMessage, bool) {
	if _, own := t.Input().Properties[DryRun]; own {
		return args, false
	}
	// Read as strictly as all arguments are: what is refused there stays whole
	// here, so that it is refused there.
	m, err := schema.Object(args)
	if err != nil {
		return args, false
	}
	dry, have := m[DryRun]
	if !have {
		return args, false
	}
	delete(m, DryRun)
	out, err := schema.Marshal(m)
	if err != nil {
		return args, false
	}
	return out, dry != false
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// redacted is args without the values of fields that hold secrets.
func (t *Tool) redacted(args json.RawMessage) json.RawMessage {
	secrets := t.schema().Secrets
	if len(secrets) == 0 {
		return args
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(args, &m); err != nil {
		return json.RawMessage(`{}`)
	}
	for _, s := range secrets {
		if _, have := m[s]; have {
			m[s] = json.RawMessage(`"(secret)"`)
		}
	}
	out, err := schema.Marshal(m)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return out
}
