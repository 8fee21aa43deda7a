package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/note/summarize"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/transcript"
	"lore/internal/surface/tui/widget"
)

// A mode says who has the keys.
type mode int

const (
	writing  mode = iota // the input
	deciding             // the card of a question
	wording              // a word that goes with a no
	ruling               // the paths of a standing answer
	editing              // the arguments of a call
	parting              // the parts of a change
	choosing             // a list
	looking              // the calls and thoughts of the transcript
)

// A model is everything that the screen shows. Update changes it and says what to
// do, View draws it; nothing else reaches outside.
type model struct {
	h     *effects
	now   func() time.Time
	after func(time.Duration, tea.Msg) tea.Cmd
	paint draw.Screen

	width, height int
	t             transcript.Transcript
	mode          mode
	input         widget.Editor // what will be sent
	line          widget.Editor // what the other modes write
	past          widget.Past
	offer         widget.Offer
	noted         bool // the notes were asked for
	list          *widget.List
	choice        choice // what the list is of
	hint          string // said once, below the input
	leaving       bool   // one Ctrl-C came, and a second one leaves

	chat, asked, mind string // the conversation; the model that is asked for, and which one that is
	note              string
	sets              []string
	tools             bool
	limits            chat.Limits

	run      *chat.Run // the last one
	working  bool
	stopping bool
	taken    bool // another process works on it
	stop     context.CancelCauseFunc
	speaking *transcript.Entry
	thinking *transcript.Entry

	cards []*card
	card  int
}

func newModel(h *effects, o Options, now func() time.Time) *model {
	m := &model{
		h: h, now: now, paint: o.Paint, width: 80, height: 24, chat: o.Chat, asked: o.Model, note: o.Note, sets: o.Sets, tools: o.Tools, limits: o.Limits,
		after: func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) },
	}
	if m.sets == nil {
		m.sets = []string{agent.Usual}
	}
	m.t.Paint = o.Paint
	m.resize(80, 24)
	return m
}

// Init opens the conversation that goes on, and finds out who answers.
func (m *model) Init() tea.Cmd {
	if m.chat != "" {
		return tea.Batch(m.h.load(m.chat), m.h.who(m.asked, false))
	}
	m.welcome()
	return m.h.who(m.asked, false)
}

func (m *model) welcome() {
	m.t.Tell(transcript.Notice, "Ask about your notes. /help lists keys and commands; lore chat --plain runs line by line, for screen readers.")
}

func (m *model) resize(width, height int) {
	m.width, m.height = max(width, 20), max(height, 6)
	m.t.Resize(m.width - 1) // a terminal may turn at its last column
	for _, c := range m.cards {
		c.lines = nil
	}
}

// Update takes a message. It is the only place where the model changes.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			m.t.Scroll(3, m.transcriptHeight())
		case tea.MouseWheelDown:
			m.t.Scroll(-3, m.transcriptHeight())
		}
	case retry:
		if m.run != nil && m.run.ID == msg.run && m.taken {
			return m, m.work(msg.run)
		}
	case wake, tick:
		return m, m.drain()
	case armed:
	default:
		return m, m.told(msg)
	}
	return m, nil
}

// told takes what became of a command.
func (m *model) told(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case startedMsg:
		return m.started(msg)
	case workedMsg:
		m.drainNow()
		return m.worked(msg)
	case stoppedMsg:
		return m.stopped(msg)
	case cardsMsg:
		return m.dealt(msg)
	case answeredMsg:
		return m.answered(msg)
	case elsewhereMsg:
		return m.elsewhere(msg)
	case rehearsedMsg:
		return m.rehearsed(msg)
	case loadedMsg:
		return m.loaded(msg)
	case citedMsg:
		m.cited(msg)
	case whoMsg:
		m.met(msg)
	case listedMsg:
		m.listed(msg)
	case undoneMsg:
		return m.undone(msg)
	case compactedMsg:
		m.compacted(msg)
	case notesMsg:
		m.offer.Notes = msg.paths
		m.offer.Look(&m.input)
	}
	return nil
}

// drainNow shows all news before something that comes after them.
func (m *model) drainNow() {
	for {
		list := m.h.box.take()
		if len(list) == 0 {
			return
		}
		for i := range list {
			m.hear(&list[i])
		}
	}
}

// problem shows what went wrong.
func (m *model) problem(err error) { m.t.Tell(transcript.Problem, err.Error()) }

// leave gives the conversation up that is shown, and leaves what waits waiting.
func (m *model) leave() {
	m.dropCards()
	m.t.Clear()
	m.run, m.speaking, m.thinking, m.mode, m.list, m.taken = nil, nil, nil, writing, nil, false
}

// active reports whether a run is not over.
func (m *model) active() bool { return m.working || m.run != nil && !m.run.Status.Over() }

// send says something to the mind.
func (m *model) send(text string) tea.Cmd {
	if m.active() {
		m.hint = "the model is still working; Esc stops it"
		return nil
	}
	if len(m.cards) > 0 {
		m.hint = "approve or deny the change above first"
		return nil
	}
	m.past.Add(text)
	m.input.Set("")
	m.offer.Close()
	m.t.Up = 0
	m.t.Add(&transcript.Entry{Kind: transcript.Said, Text: []byte(text)})
	m.working = true
	q := agent.Request{Text: text, Model: m.asked, Note: m.note, Limits: m.limits}
	return m.h.start(m.chat, q)
}

// started works on the run that was made.
func (m *model) started(msg startedMsg) tea.Cmd {
	if msg.chat != "" {
		m.chat = msg.chat
	}
	if msg.err != nil {
		m.working, m.stopping = false, false
		m.problem(msg.err)
		return nil
	}
	m.run = &msg.run
	return m.work(msg.run.ID)
}

// work lets the agent go on with a run.
func (m *model) work(id string) tea.Cmd {
	ctx, stop := context.WithCancelCause(m.h.ctx)
	m.working, m.stop = true, stop
	if m.stopping {
		stop(agent.ErrStopped)
	}
	return m.h.work(ctx, id)
}

// worked sees how far a run has come.
func (m *model) worked(msg workedMsg) tea.Cmd {
	m.working = false
	if m.stop != nil {
		m.stop(nil)
	}
	m.quiet()
	switch {
	case m.h.ctx.Err() != nil:
		return nil
	case m.stopping:
		return m.h.cancel(msg.id)
	case errors.Is(msg.err, chat.ErrTaken):
		return m.wait(msg.id)
	case msg.err != nil:
		m.problem(msg.err)
		if m.run = &msg.run; msg.run.ID == "" || !msg.run.Status.Over() {
			m.run = nil // it goes on when somebody continues it
		}
		return nil
	case m.taken: // what the other one has done is not shown yet
		m.taken = false
		return m.h.load(m.chat)
	}
	m.run = &msg.run
	switch msg.run.Status {
	case chat.WaitingApproval:
		return m.h.cards(msg.run.ID)
	case chat.Failed:
		m.t.Tell(transcript.Problem, msg.run.Reason)
	case chat.Limited, chat.WaitingUser:
		m.t.Tell(transcript.Notice, msg.run.Reason)
	}
	return m.h.cite(msg.run)
}

// retry says that a run which another process had may be free now.
type retry struct{ run string }

// wait tries again later to go on with a run that another process works on.
func (m *model) wait(run string) tea.Cmd {
	if !m.taken {
		m.t.Tell(transcript.Notice, "Another process is working on this chat; the result will appear here.")
	}
	m.taken, m.working = true, true
	return m.after(time.Second, retry{run})
}

// quiet ends what was being said.
func (m *model) quiet() {
	for _, e := range []*transcript.Entry{m.speaking, m.thinking} {
		if e != nil {
			e.Live = false
			m.t.Touch(e)
		}
	}
	m.speaking, m.thinking = nil, nil
}

// halt stops the run that is not over.
func (m *model) halt() tea.Cmd {
	if !m.active() || m.stopping {
		return nil
	}
	m.stopping = true
	m.hint = "Stopping …"
	if m.working {
		if m.stop != nil {
			m.stop(agent.ErrStopped)
		}
		return nil
	}
	m.dropCards()
	return m.h.cancel(m.run.ID)
}

// stopped shows what stays of a run that was stopped.
func (m *model) stopped(msg stoppedMsg) tea.Cmd {
	m.stopping, m.taken, m.hint = false, false, ""
	m.t.Show(msg.id, msg.calls)
	if msg.err != nil {
		m.problem(msg.err)
		m.run = nil
		return nil
	}
	m.run = &msg.run
	m.t.Tell(transcript.Notice, "Stopped. Changes made so far are kept.")
	return nil
}

// cited marks what an answer names or quotes and nobody read for it.
func (m *model) cited(msg citedMsg) {
	if msg.message == nil {
		return
	}
	doubts := map[string]string{}
	for _, c := range msg.message.Citations {
		switch c.State {
		case chat.Unread:
			doubts[c.Link] = "not read"
		case chat.NoHeading:
			doubts[c.Link] = "no such heading"
		}
	}
	for _, e := range slices.Backward(m.t.Entries) {
		if e.Kind == transcript.Answer && e.Run == msg.message.Run && len(doubts) > 0 {
			e.Doubts = doubts
			m.t.Redraw(e)
			break
		}
	}
	for _, q := range msg.message.Quotes {
		if !q.Read {
			m.t.Tell(transcript.Notice, "Quote not found in the notes cited or read: “"+summarize.Clip(q.Text, 80)+"”")
		}
	}
	if len(msg.message.Uncited) > 0 {
		m.t.Tell(transcript.Notice, "The answer cites none of the notes that were read. Matching passages:")
	}
	for _, p := range msg.message.Uncited {
		m.t.Tell(transcript.Notice, "[["+strings.TrimSuffix(p.Path, ".md")+"]] "+summarize.Clip(p.Text, 240))
	}
}

// met learns which model answers.
func (m *model) met(msg whoMsg) {
	if msg.err != nil {
		m.problem(msg.err)
		return
	}
	m.mind = msg.id
	if msg.chosen {
		m.asked = msg.id
		m.t.Tell(transcript.Notice, "Now using "+draw.OneLine(msg.id))
	}
}

// paste puts a text where the cursor is: many lines are one message.
func (m *model) paste(text string) {
	switch m.mode {
	case wording, ruling, editing:
		m.line.Insert(text)
	case choosing:
		m.list.Type(text)
	default:
		m.mode = writing
		m.input.Insert(text)
		m.suggest()
	}
}
