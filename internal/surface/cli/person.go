package cli

import (
	"context"
	"errors"

	"lore/internal/fault"
	"lore/internal/surface/cli/tty"
)

// askPerson lets the person at the controlling terminal confirm what is about to
// happen. Standard input is not looked at: a program could have filled it. Without
// a terminal there is nobody, and it is refused.
func (p *program) askPerson(ctx context.Context, text string) (err error) {
	t, err := tty.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	yes, err := t.Confirm(ctx, text)
	if err == nil && !yes {
		err = fault.New(fault.Cancelled, "not confirmed; nothing was changed")
	}
	return err
}

// askUnless asks, unless the command carries --yes: then it is the person's own
// act, in a script perhaps.
func (p *program) askUnless(ctx context.Context, yes bool, text string) error {
	if yes {
		return nil
	}
	return p.askOrSay(ctx, text, "run the command in a terminal, or add --yes")
}

// askOrSay asks, and says what to do where nobody can be asked.
func (p *program) askOrSay(ctx context.Context, text, fix string) error {
	err := p.askPerson(ctx, text)
	var r *fault.Report
	if errors.As(err, &r) && r.Kind == fault.Denied {
		return fault.Fix(fault.Denied, fix, "%s", r.Message)
	}
	return err
}
