package app

import (
	"context"
	"fmt"

	"lore/internal/access"
	"lore/internal/beacon"
	"lore/internal/chat"
	"lore/internal/doctor"
	"lore/internal/note"
	"lore/internal/surface/cli"
	"lore/internal/surface/talk"
	"lore/internal/tools/files"
	"lore/internal/tools/find"
	"lore/internal/tools/knowledge"
	"lore/internal/tools/notes"
	"lore/internal/tools/work"
	"lore/internal/websearch"
)

// knowledge is what the tools of the knowledge graph may touch. The settings of
// the web are read when it is asked: a mistake in them stops nothing else.
func (s *session) knowledge(parse note.Options) knowledge.Env {
	return knowledge.Env{
		Vault: s.vault, Store: s.asks, Search: s.search, Fresh: s.gate.Fresh, Parse: parse, Folder: s.folder, Judge: s.judge(),
		Web: func() (websearch.Searcher, error) {
			c, err := s.app.config().Read()
			if err != nil {
				return nil, err
			}
			return websearch.FromSettings(func(key string) (string, error) { return s.app.config().Get(&c, key) }, s.app.env)
		},
	}
}

// face is what a surface sees of the session.
func (s *session) face(ctx context.Context) (*cli.Session, error) {
	face := &cli.Session{
		Dir: s.vault.Dir(), Attend: func(context.Context) {}, Close: s.close, Tokens: s.tokens(),
		Server:     func(ctx context.Context) string { return beacon.Find(ctx, s.dir) },
		Verify:     s.history.Verify,
		AcceptLoss: func(ctx context.Context) (int, error) { return s.history.AcceptLoss(ctx, access.Terminal()) },
		AddRule:    s.asked.NewRule,
	}
	face.Mind = func(ctx context.Context) (*talk.Session, error) { return s.talk(ctx, face) }
	if s.link != nil {
		face.Door = s.link
		return face, nil
	}
	version := func(ctx context.Context, hash string) (string, bool) { return s.history.Image(ctx, hash) }
	parse := s.dialect(ctx)
	reg, err := s.registry(
		notes.Tools(notes.Env{
			Vault: s.vault, Store: s.asks, Search: s.search, Fresh: s.gate.Fresh, Now: s.app.now, Parse: parse, Version: version,
		}),
		find.Tools(find.Env{Vault: s.vault, Store: s.asks, Search: s.search, Fresh: s.gate.Fresh, Parse: parse}),
		knowledge.Tools(s.knowledge(parse)),
		work.Tools(work.Env{History: s.history, Questions: s.asked, Vault: s.vault, Now: s.app.now, Chats: chat.New(s.state, s.app.now), Folder: s.chats, Look: s.lookAgain, Accept: s.accept, Store: s.asks, Parse: parse}),
		files.Tools(files.Env{}),
	)
	if err != nil {
		return nil, err
	}
	// It connects to no server before follow, or a call that names one.
	if s.hub, err = s.app.desk().Hub(s.vault.Dir(), s.log, reg, s.bus, s.off); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.hub.Close)
	if s.writes && s.unsettled == nil {
		if err := reg.Recover(ctx); err != nil {
			return nil, err
		}
	}
	if s.door != nil {
		s.door.Open(otherProcesses{&inForce{reg, s}}, nil)
	}
	face.Door, face.Attend, face.Report, face.Doctor = &inForce{reg, s}, reg.Attend, s.report, s.patient().Look
	face.Follow = func(ctx context.Context) error { return s.follow(ctx, reg) }
	return face, nil
}

// verify checks the record of what was done; while nothing is open there is none
// to check.
func (s *session) verify(ctx context.Context) (int, error) {
	v, err := s.history.Verify(ctx)
	return v.Entries, err
}

// patient is the session as the doctor sees it.
func (s *session) patient() *doctor.Patient {
	return &doctor.Patient{
		Vault: s.vault, Store: s.store, Model: s.model, Report: s.report, Asked: s.asked, History: s.history, Writer: s.writer, Writable: s.writable,
		Damage: s.damage,
		Held:   !s.writes, Answers: s.holderAnswers,
	}
}

// damage lists what was found damaged earlier and is still kept.
func (s *session) damage() []string {
	out := s.app.home().Damage()
	for _, path := range s.state.Aside() {
		out = append(out, fmt.Sprintf("state.db was damaged and was replaced; %s is kept, and can be deleted", path))
	}
	for _, path := range s.history.BrokenLogs() {
		out = append(out, fmt.Sprintf("%s is kept: its key was damaged or missing, so its entries cannot be proved", path))
	}
	return out
}

func (s *session) report(ctx context.Context) (doctor.Report, error) {
	id := ""
	if s.model != nil {
		id = s.model.ID()
	}
	st, err := s.store.Stats(ctx, id)
	if err != nil {
		return doctor.Report{}, err
	}
	s.mu.Lock()
	sum := s.sum
	s.mu.Unlock()
	f := s.indexState()
	r := doctor.Report{
		Vault: s.vault.Dir(), Index: s.dir, Notes: st.Notes, Attachments: st.Attachments, Conflicts: st.Conflicts,
		Links: st.Links, Passages: st.Passages, Embedded: st.Embedded, Model: id, Problems: st.Problems,
		Added: sum.Added, Changed: sum.Changed, Dropped: sum.Dropped, Seconds: sum.Took.Seconds(), Fresh: f.Fresh, Reason: f.Reason,
	}
	if s.opening.Rebuilt && s.opening.Reason != "new" {
		r.Rebuilt = s.opening.Reason
	}
	return r, nil
}
