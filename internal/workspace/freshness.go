package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/fresh"
	"lore/internal/vault"
	"lore/internal/workspace/settings"
)

// openGate lets calls of tools wait until the index is up to date.
func (s *Session) openGate(ctx context.Context, c *settings.File) error {
	seconds, err := s.opener.Config().Number(c, "limits.wait")
	if err != nil {
		return err
	}
	o := fresh.Options{Patience: time.Duration(seconds) * time.Second, State: s.indexState, Vault: s.Vault, Fatal: sqlite.Damaged}
	if s.holds {
		o.Look = s.look
	}
	s.Gate = fresh.New(ctx, o)
	s.Index = index.Visible(index.Awaiting(s.Store, s.Gate.Await))
	return nil
}

// look brings the index up to date with everything that was saved before it was
// called. whole says that it had to look at the whole vault.
func (s *Session) look(ctx context.Context) (f index.Freshness, whole bool, err error) {
	defer func() { f = s.explained(f) }()
	if w := s.watcher.Load(); w != nil {
		sum, err := s.Indexer.Flush(ctx, w)
		if sum.Wrote() > 0 {
			s.wakeEmbedder()
		}
		return sum.Fresh, sum.Snapshot != nil, err
	}
	if g := s.snapshotFile().Read(s.opener.Now()); !g.Began.IsZero() {
		now := s.opener.Now()
		same, err := s.Indexer.Unchanged(ctx, g)
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

// indexState tells how far the index can be believed, as far as is known.
func (s *Session) indexState() index.Freshness {
	if !s.holds {
		return index.Freshness{Reason: "another lore process keeps the index up to date"}
	}
	f := s.Indexer.Freshness()
	if w := s.watcher.Load(); w != nil && f.Fresh && w.Behind() {
		f.Fresh, f.Reason = false, fresh.CatchingUp
	}
	if s.building && f.Synced.IsZero() {
		f.Partial = true
		if f.Files > 0 {
			done := max(0, f.Files-f.Pending) // files to drop are pending too
			f.Reason = fmt.Sprintf("the index is being built: %d of %d files so far (%d%%)", done, f.Files, 100*done/f.Files)
		}
	}
	return s.explained(f)
}

// announceState tells everyone who listens that the vault's state changed.
func (s *Session) announceState(st vault.State) {
	v := tool.VaultState{Mode: string(st.Mode), Reason: st.Reason}
	if !st.Believed() && !st.NoFolder {
		v.Missing = st.Gone
	}
	s.Bus.Announce(tool.TopicVault, v)
}

// explained adds what to do about it.
func (s *Session) explained(f index.Freshness) index.Freshness {
	if !f.Fresh && s.lost() {
		f.Reason += "; if you deleted them, run lore index --accept"
	}
	return f
}
