package workspace

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/approval"
	"lore/internal/tool/history"
	"lore/internal/tool/policy"
	"lore/internal/vault/writer"
	"lore/internal/workspace/settings"
)

// Records are what a session needs to change a vault: approvals, history, the
// code that writes, and what the owner decided.
type Records struct {
	State     *state.File
	Approvals *approval.Store
	History   *history.Store
	Writer    *writer.Writer
	Policy    policy.Settings
	Limits    policy.Limits
	// NodeFolder is where new nodes go, ChatFolder where conversations go that are
	// saved as notes.
	NodeFolder, ChatFolder string
	// WorkflowFolder is where workflows are, ToolFolder where the tools are that a
	// person wrote.
	WorkflowFolder, ToolFolder string
	// FilesFolder is the folder that the tools for files work in; empty is the vault.
	FilesFolder string
	// Off are the tools that the settings switch off.
	Off []string

	instructions map[string]string // of tools, by their names
	// recoverErr says why what a crash left could not be recovered at the start.
	// Changes are refused then, until a start that can.
	recoverErr error
}

// openRecords opens no file: state.db is opened when it is first needed, and
// nothing is written into the vault before something is to be changed.
func (s *Session) openRecords(c *settings.File) error {
	var err error
	if s.Policy, s.Off, err = s.opener.Policy(c, s.Vault.Dir()); err != nil {
		return err
	}
	if s.Limits, err = s.opener.limitsOf(c); err != nil {
		return err
	}
	if s.ChatFolder, err = s.opener.Config().Get(c, "chats.folder"); err != nil {
		return err
	}
	if s.WorkflowFolder, err = s.opener.Config().Get(c, "automation.folder"); err != nil {
		return err
	}
	if s.ToolFolder, err = s.opener.Config().Get(c, "automation.tools"); err != nil {
		return err
	}
	if s.NodeFolder, err = s.opener.Config().Get(c, "nodes.folder"); err != nil {
		return err
	}
	if s.FilesFolder, err = s.opener.Config().Get(c, "files.folder"); err != nil {
		return err
	}
	s.instructions = c.Instructions
	s.State, s.History = s.opener.OpenRecords(s.Dir, s.Log)
	if s.copied != nil {
		s.History.Refuse(s.copied.refusal())
	}
	s.closers = append(s.closers, s.State.Close)
	s.Approvals = approval.New(s.State, s.opener.Now)
	s.closers = append(s.closers, s.closeHistory)
	s.Writer = writer.Open(s.Vault, writer.Options{Log: s.Log, Now: s.opener.Now})
	s.closers = append(s.closers, s.Writer.Close)
	return nil
}

// OpenRecords opens state.db and the history in it. Every process that opens it compares it
// with the audit log and tells what is damaged.
func (op *Opener) OpenRecords(dir string, log *slog.Logger) (*state.File, *history.Store) {
	f := state.In(dir)
	f.OnDamage(func(text string) { log.Warn("stored data was damaged", "detail", text) })
	return f, history.New(f, history.Options{Now: op.Now})
}

// closeHistory writes the reads that wait. An answer that was given is not taken
// back because it cannot be recorded.
func (s *Session) closeHistory() error {
	if err := s.History.Close(); err != nil {
		s.Log.Warn("calls could not be recorded", "error", err)
	}
	return nil
}

// Policy reads what the owner of the vault decided.
func (op *Opener) Policy(c *settings.File, dir string) (policy.Settings, []string, error) {
	var p policy.Settings
	create, err := op.Config().Get(c, "approve.create")
	if err != nil {
		return p, nil, err
	}
	many, err := op.Config().Number(c, "approve.many")
	if err != nil {
		return p, nil, err
	}
	share, err := op.Config().Get(c, "approve.share")
	if err != nil {
		return p, nil, err
	}
	if share == "never" {
		share = string(policy.Deny)
	}
	p.Create, p.Share, p.Many = policy.Verdict(create), policy.Verdict(share), many
	if p.Protected, p.Instructions, err = op.Config().Guarded(c, dir); err != nil {
		return p, nil, err
	}
	p.Tools = map[string]policy.Verdict{}
	var off []string
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		word := c.Tools[name]
		if word == "" {
			continue // the default
		}
		if err := settings.CheckSwitch(word); err != nil {
			return p, nil, err
		}
		switch {
		case word == "off":
			off = append(off, name)
		case word != "on" && tool.IsExternal(name): // not in the catalogue
			p.Tools[name] = policy.Verdict(word)
		}
	}
	for _, t := range op.Catalog() {
		switch state, from := c.Tool(t); {
		case state == "ask" || state == "allow":
			p.Tools[t.Name] = policy.Verdict(state)
		case state == "off" && from == "default":
			off = append(off, t.Name)
		}
	}
	return p, off, nil
}

func (op *Opener) limitsOf(c *settings.File) (policy.Limits, error) {
	l := policy.DefaultLimits()
	var err error
	if l.Calls.Calls, err = op.Config().Number(c, "limits.calls"); err != nil {
		return l, err
	}
	l.Changes.Calls, err = op.Config().Number(c, "limits.changes")
	return l, err
}

// sweepEvery is how often a process that stays looks after what it displaced.
const sweepEvery = 5 * time.Second

// prune lets go what history and questions keep no longer. It costs nothing when
// there is nothing to do.
func (s *Session) prune(ctx context.Context) {
	if err := errors.Join(s.History.Prune(ctx, s.opener.Now()), s.Approvals.Prune(ctx, s.opener.Now())); err != nil && ctx.Err() == nil {
		s.Log.Warn("old records could not be deleted", "error", err)
	}
}

// maintain carries out what was approved elsewhere and looks after displaced
// files, until ctx ends.
func (s *Session) maintain(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Registry.CarryOutApprovals(ctx)
	}()
	defer func() { <-done }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.prune(ctx)
			conflicts, err := s.Writer.Sweep(ctx, s.synced(ctx))
			if err != nil && ctx.Err() == nil {
				s.Log.Warn("displaced files could not be checked", "error", err)
			}
			for _, c := range conflicts {
				s.Log.Warn("a conflict copy was saved", "path", c.Path, "copy", c.Copy, "reason", c.Reason)
			}
		}
	}
}
