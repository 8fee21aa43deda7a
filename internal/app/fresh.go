package app

import (
	"context"
	"encoding/json"

	"lore/internal/access"
	"lore/internal/fresh"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/tool"
	"lore/internal/vault"
)

// openGate lets calls of tools wait until the index is up to date.
func (s *session) openGate(ctx context.Context) {
	o := fresh.Options{State: s.indexState, Vault: s.vault, Fatal: sqlite.Damaged}
	if s.writes {
		o.Look = s.look
	}
	s.gate = fresh.New(ctx, o)
	s.asks = index.Visible(index.Awaiting(s.store, s.gate.Await))
}

// look brings the index up to date with everything that was saved before it was
// called. whole says that it had to look at the whole vault.
func (s *session) look(ctx context.Context) (f index.Freshness, whole bool, err error) {
	defer func() {
		if f = s.explained(f); s.outdated() {
			f.Fresh, f.Reason = false, "the settings changed and are being applied"
		}
	}()
	if w := s.watcher.Load(); w != nil {
		sum, err := s.indexer.Flush(ctx, w)
		if sum.Wrote() > 0 {
			s.stir()
		}
		return sum.Fresh, sum.Glance != nil, err
	}
	if g := s.glance().Read(s.app.now()); !g.Began.IsZero() {
		now := s.app.now()
		same, err := s.indexer.Unchanged(ctx, g)
		if same || sqlite.Damaged(err) {
			return index.Freshness{Fresh: same, Synced: now}, true, err
		}
	}
	sum, err := s.sync(ctx)
	return sum.Fresh, true, err
}

// otherProcesses is the door as other processes find it.
type otherProcesses struct{ tool.Door }

func (o otherProcesses) Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (tool.Result, error) {
	return o.Door.Call(fresh.FromOther(ctx), who, name, args)
}

func (o otherProcesses) Answer(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Result, error) {
	return o.Door.Answer(fresh.FromOther(ctx), person, id, a)
}

func (o otherProcesses) Rehearse(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Question, error) {
	return o.Door.Rehearse(fresh.FromOther(ctx), person, id, a)
}

// outdated reports whether the settings changed since the vault was opened: what
// they exclude by now must not pass for the vault as it is. It is opened again
// in a moment.
func (s *session) outdated() bool {
	if s.mark == "" || s.app.config().Mark() == s.mark {
		return false
	}
	_, err := s.app.config().Read()
	return err == nil // else the former ones are in force
}

// indexState tells how far the index can be believed, as far as is known.
func (s *session) indexState() index.Freshness {
	if !s.writes {
		return index.Freshness{Reason: "another lore process keeps the index up to date"}
	}
	f := s.indexer.Freshness()
	if w := s.watcher.Load(); w != nil && f.Fresh && w.Behind() {
		f.Fresh, f.Reason = false, fresh.CatchingUp
	}
	return s.explained(f)
}

// announceState tells everyone who listens that the vault's state changed.
func (s *session) announceState(st vault.State) {
	v := tool.VaultState{Mode: string(st.Mode), Reason: st.Reason}
	if !st.Believed() && !st.NoFolder {
		v.Missing = st.Gone
	}
	s.bus.Announce(tool.TopicVault, v)
}

// explained adds what to do about it.
func (s *session) explained(f index.Freshness) index.Freshness {
	if !f.Fresh && s.lost() {
		f.Reason += "; if you deleted them: lore index --accept"
	}
	return f
}
