package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"lore/internal/approval"
	"lore/internal/change"
	"lore/internal/doctor"
	"lore/internal/fault"
	"lore/internal/history"
	"lore/internal/history/rundiff"
	"lore/internal/index"
	"lore/internal/policy"
	"lore/internal/settings"
	"lore/internal/state"
	"lore/internal/tool"
	"lore/internal/vault"
	"lore/internal/vault/journal"
	"lore/internal/vault/writer"
)

// hands are what a session needs to change a vault: questions, history, and the
// code that writes.
type hands struct {
	state    *state.File
	asked    *approval.Store
	history  *history.Store
	writer   *writer.Writer
	policy   policy.Settings
	limits   policy.Limits
	off      []string
	instruct map[string]string
	folder   string // where new nodes go
	chats    string // where conversations go that are saved as notes
	// unsettled says why what a crash left could not be settled at the start;
	// nothing is changed then, until a start that can.
	unsettled error
}

// openHands opens nothing: state.db is opened when it is first needed, and
// nothing is written into the vault before something is to be changed.
func (s *session) openHands(c *settings.File) error {
	var err error
	if s.policy, s.off, err = s.app.policyOf(c, s.vault.Dir()); err != nil {
		return err
	}
	if s.limits, err = s.app.limitsOf(c); err != nil {
		return err
	}
	if s.chats, err = s.app.config().Get(c, "chats.folder"); err != nil {
		return err
	}
	if s.folder, err = s.app.config().Get(c, "nodes.folder"); err != nil {
		return err
	}
	s.instruct = c.Instructions
	s.state, s.history = s.app.records(s.dir, s.log)
	if s.scratch != nil {
		s.history.Refuse(s.scratch.refusal())
	}
	s.closers = append(s.closers, s.state.Close)
	s.asked = approval.New(s.state, s.app.now)
	s.closers = append(s.closers, s.closeHistory)
	s.writer = writer.Open(s.vault, writer.Options{Log: s.log, Now: s.app.now})
	s.closers = append(s.closers, s.writer.Close)
	return nil
}

// records are state.db and the history in it. Whoever opens state.db compares it
// with the audit log and tells what is damaged.
func (a *app) records(dir string, log *slog.Logger) (*state.File, *history.Store) {
	f := state.In(dir)
	f.Tell(func(text string) { log.Warn("stored data was damaged", "detail", text) })
	return f, history.New(f, history.Options{Now: a.now})
}

// closeHistory writes the reads that wait. An answer that was given is not taken
// back because it cannot be recorded.
func (s *session) closeHistory() error {
	if err := s.history.Close(); err != nil {
		s.log.Warn("calls could not be recorded", "error", err)
	}
	return nil
}

// policyOf reads what the owner of the vault decided.
func (a *app) policyOf(c *settings.File, dir string) (policy.Settings, []string, error) {
	var p policy.Settings
	create, err := a.config().Get(c, "approve.create")
	if err != nil {
		return p, nil, err
	}
	many, err := a.config().Number(c, "approve.many")
	if err != nil {
		return p, nil, err
	}
	share, err := a.config().Get(c, "approve.share")
	if err != nil {
		return p, nil, err
	}
	if share == "never" {
		share = string(policy.Deny)
	}
	p.Create, p.Share, p.Many = policy.Verdict(create), policy.Verdict(share), many
	if p.Protected, p.Instructions, err = a.config().Guarded(c, dir); err != nil {
		return p, nil, err
	}
	p.Tools = map[string]policy.Verdict{}
	var off []string
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		word := c.Tools[name]
		if word == "" {
			continue // as it comes
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
	for _, t := range catalogue() {
		if state, _ := c.Tool(t); state == "ask" || state == "allow" {
			p.Tools[t.Name] = policy.Verdict(state)
		}
	}
	return p, off, nil
}

func (a *app) limitsOf(c *settings.File) (policy.Limits, error) {
	l := policy.DefaultLimits()
	var err error
	if l.Calls.Calls, err = a.config().Number(c, "limits.calls"); err != nil {
		return l, err
	}
	l.Changes.Calls, err = a.config().Number(c, "limits.changes")
	return l, err
}

// registry binds the tools to the session.
func (s *session) registry(sets ...[]*tool.Tool) (*tool.Registry, error) {
	r := tool.NewRegistry(tool.Deps{
		Log: s.log, Now: s.app.now, Bus: s.bus, Policy: s.policy, Meter: policy.NewMeter(s.limits),
		Questions: s.asked, Ledger: s.history, Writable: s.writable, Apply: s.apply, Settle: s.settle,
		Real: s.vault.Real, Since: rundiff.In(s.history), Warn: (&doctor.Adviser{Vault: s.vault, Store: s.store}).Warn, Prepare: s.gate.Prepare, Fetch: s.fetch,
		Folders: index.TopFolders(s.asks), Untrusted: index.Untrusted(s.store),
	}, sets...)
	return r, s.furnish(r)
}

// furnish switches tools off and gives them the words that the settings say.
func (s *session) furnish(r *tool.Registry) error {
	for _, name := range s.off {
		if err := r.Switch(name, false); err != nil {
			return fmt.Errorf("settings, tools.%s: %w", name, err)
		}
	}
	for name, text := range s.instruct {
		if err := r.Instruct(name, text); err != nil {
			return fmt.Errorf("settings, instructions.%s: %w", name, err)
		}
	}
	return nil
}

// writable says why this process does not change the vault.
func (s *session) writable(context.Context) error {
	if !s.writes {
		return fault.Fix(fault.Busy, "do it there, or stop that process; approvals can be answered here", "another lore process holds this vault, and only one writes")
	}
	switch st := s.vault.State(); st.Mode {
	case vault.Offline:
		return fault.New(fault.Offline, "the vault is offline: %s", st.Reason)
	case vault.ReadOnly:
		return fault.Fix(fault.ReadOnly, "give yourself the right to write into the folder", "the vault cannot be written")
	}
	return s.unsettled
}

func (s *session) apply(ctx context.Context, op string, set change.Set) error {
	apply := s.writer.Apply
	if tool.Restoring(ctx) {
		apply = s.writer.Restore
	}
	receipt, err := apply(ctx, op, set)
	for _, w := range receipt.Warnings {
		s.log.Warn("a change has a note", "operation", op, "note", w)
	}
	return err
}

// settle lets the index see what was written.
func (s *session) settle(ctx context.Context, paths []string) error {
	_, err := s.indexer.Update(ctx, paths)
	s.mu.Lock()
	s.changed = true
	s.mu.Unlock()
	s.stir()
	return err
}

// recover settles what a crash left behind: first the files, then the record,
// then the questions. Without a crash it looks at one folder and for one row. It
// always looks: no file shows that a process was killed, since another one may
// have closed state.db in order after it.
func (s *session) recover(ctx context.Context) error {
	if !s.writes {
		return nil
	}
	settled, err := s.writer.Recover(ctx)
	if err != nil {
		return err
	}
	for _, op := range settled {
		s.log.Warn("an interrupted change was settled", "operation", op.Op, "outcome", string(op.Outcome), "conflicts", len(op.Conflicts))
		for _, c := range op.Conflicts {
			s.log.Warn("a version was set aside", "path", c.Path, "copy", c.Copy, "reason", c.Reason)
		}
	}
	held, err := s.writer.Held(ctx)
	if err != nil {
		return err
	}
	// An intent can be all that is left: of a change that never began, or of a
	// new note, which displaced nothing.
	if err := s.settleRecords(ctx, settled, held); err != nil || len(settled)+len(held) == 0 {
		return err
	}
	_, err = s.writer.Sweep(ctx, s.synced(ctx))
	return err
}

// synced says whether history holds both sides of an operation.
func (s *session) synced(ctx context.Context) func(op string) bool {
	return func(op string) bool {
		o, err := s.history.Outcome(ctx, op)
		return err == nil && o != tool.Intended
	}
}

// settleRecords ends the operations of which only the intent is known. Where
// the journal does not know, the files tell: a change is made when every file
// is as it should be afterwards.
func (s *session) settleRecords(ctx context.Context, settled []journal.Settled, held []string) error {
	if _, err := os.Stat(s.state.Path()); errors.Is(err, fs.ErrNotExist) && !s.history.Lost() {
		return nil // nothing was ever recorded
	}
	list, err := s.history.Unsettled(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, op := range settled {
		if op.Outcome != journal.SetAside { // then the files tell
			known[op.Op] = op.Outcome == journal.Applied
		}
	}
	for _, op := range held {
		known[op] = true // what is kept was displaced by a change that stands
	}
	for _, op := range list {
		applied, sure := known[op.ID]
		if !sure {
			if applied, err = s.stands(ctx, op.ID); err != nil {
				return err
			}
		}
		outcome := tool.Dropped
		if applied {
			outcome = tool.Applied
		}
		if err := s.history.Settle(ctx, op.ID, outcome, "settled after the program was stopped"); err != nil {
			return err
		}
		if err := s.history.Record(ctx, interrupted(op, applied)); err != nil {
			return err
		}
	}
	lost, err := s.history.Unrecorded(ctx)
	if err != nil || len(lost) == 0 {
		return err
	}
	return s.history.Record(ctx, interrupted(lost[0], true))
}

// interrupted is the record of a call that the program did not live to make.
func interrupted(op history.Operation, applied bool) tool.CallRecord {
	c := tool.CallRecord{
		ID: "call-" + strings.TrimPrefix(op.ID, "op-"), Time: op.Time, Who: op.Who, Tool: op.Tool, Args: op.Args, ArgsHash: op.ArgsHash,
		Decision: policy.Allow, Reason: "settled after the program was stopped", Status: tool.CallDone, Summary: op.Summary,
		Operation: op.ID, Question: op.Question, Cost: -1,
	}
	if !applied {
		c.Status, c.Kind, c.Error = tool.CallCancelled, fault.Cancelled, "the program was stopped before it was done"
	}
	return c
}

// stands reports whether the vault is as an operation wanted it.
func (s *session) stands(ctx context.Context, op string) (bool, error) {
	set, err := s.history.Edits(ctx, op)
	if err != nil {
		return false, err
	}
	for _, e := range set {
		f, err := s.vault.Read(ctx, e.Path)
		switch {
		case fault.Of(err) == fault.NotFound:
			if e.After != nil || e.From != "" {
				return false, nil
			}
		case err != nil:
			return false, err
		case e.After == nil && e.From == "", e.After != nil && string(f.Data) != *e.After:
			return false, nil
		}
	}
	return true, nil
}

// sweepEvery is how often a process that stays looks after what it displaced.
const sweepEvery = 5 * time.Second

// prune lets go what history and questions keep no longer. It costs nothing when
// there is nothing to do.
func (s *session) prune(ctx context.Context) {
	if err := errors.Join(s.history.Prune(ctx, s.app.now()), s.asked.Prune(ctx, s.app.now())); err != nil && ctx.Err() == nil {
		s.log.Warn("old records could not be let go", "error", err)
	}
}

// attend carries out what was approved elsewhere and looks after displaced
// files, until ctx ends.
func (s *session) attend(ctx context.Context, r *tool.Registry) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Attend(ctx)
	}()
	defer func() { <-done }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.prune(ctx)
			conflicts, err := s.writer.Sweep(ctx, s.synced(ctx))
			if err != nil && ctx.Err() == nil {
				s.log.Warn("displaced files could not be looked after", "error", err)
			}
			for _, c := range conflicts {
				s.log.Warn("a version was set aside", "path", c.Path, "copy", c.Copy, "reason", c.Reason)
			}
		}
	}
}
