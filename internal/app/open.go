package app

import (
	"context"

	"lore/internal/doctor"
	"lore/internal/surface/cli"
	"lore/internal/surface/cli/conversation"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
	"lore/internal/workspace"
	"lore/internal/workspace/endpoint"
)

// open opens the vault that the flags name, for a command.
func (a *app) open(ctx context.Context, g cli.Globals, o workspace.Options) (*cli.Session, error) {
	s, err := a.opener().Open(ctx, flags(g), o)
	if err != nil {
		return nil, err
	}
	c := a.forCommand(s)
	if s.UsesOtherProcess() {
		c.Door, c.Close = a.opener().Reconnect(s, flags(g), o)
	}
	return cli.AtTerminal(c), nil
}

// forCommand is an open vault as commands see it.
func (a *app) forCommand(s *workspace.Session) *cli.Session {
	c := &cli.Session{
		Dir: s.Vault.Dir(), Door: s.Door, Attend: func(context.Context) {}, Close: s.Close, Tokens: token.New(s.State, a.now),
		Server:     func(ctx context.Context) string { return endpoint.Find(ctx, s.Dir) },
		Verify:     s.History.Verify,
		AcceptLoss: func(ctx context.Context) (int, error) { return s.History.AcceptLoss(ctx, access.Terminal()) },
		AddRule:    s.Approvals.NewRule,
	}
	c.Mind = func(ctx context.Context) (*conversation.Session, error) { return a.talk(ctx, s, c) }
	if !s.UsesOtherProcess() {
		c.Attend, c.Follow, c.Doctor = s.Registry.CarryOutApprovals, s.Follow, a.patient(s).Look
		c.Report = func(ctx context.Context) (doctor.Report, error) { return report(ctx, s) }
	}
	return c
}

// patient is an open vault as the doctor sees it.
func (a *app) patient(s *workspace.Session) *doctor.Patient {
	return &doctor.Patient{
		Vault: s.Vault, Store: s.Store, Model: s.Model, Asked: s.Approvals, History: s.History, Writer: s.Writer, Writable: s.Writable, Damage: s.Damage,
		Report: func(ctx context.Context) (doctor.Report, error) { return report(ctx, s) },
		Apps:   func() []doctor.Finding { return a.installed(s.Vault.Dir()) },
		Held:   !s.Holds(), Answers: s.HolderAnswers,
	}
}

// report describes the index and what opening it did.
func report(ctx context.Context, s *workspace.Session) (doctor.Report, error) {
	id := ""
	if s.Model != nil {
		id = s.Model.ID()
	}
	st, err := s.Store.Stats(ctx, id)
	if err != nil {
		return doctor.Report{}, err
	}
	now := s.Status()
	return doctor.Report{
		Vault: s.Vault.Dir(), Index: s.Dir, Notes: st.Notes, Attachments: st.Attachments, Conflicts: st.Conflicts,
		Links: st.Links, Passages: st.Passages, Embedded: st.Embedded, Model: id, Problems: st.Problems,
		Added: now.Summary.Added, Changed: now.Summary.Changed, Dropped: now.Summary.Dropped, Seconds: now.Summary.Took.Seconds(),
		Fresh: now.Fresh.Fresh, Reason: now.Fresh.Reason, Rebuilt: now.Rebuilt,
	}, nil
}
