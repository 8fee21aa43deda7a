package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/markdown"
	"lore/internal/surface/tui/transcript"
	"lore/internal/tool"
	"lore/internal/tool/policy"
)

// settleFor is how long a card is looked at before keys answer it: what was typed
// for something else is no answer.
const settleFor = 500 * time.Millisecond

// armed says that a card takes keys from now on; it only draws anew.
type armed struct{}

// A card is a question that waits for the person.
type card struct {
	q     tool.Question
	since time.Time
	own   bool   // the person wants it, not a run
	busy  string // what is being done about it
	wrong string // what was wrong with the last answer
	stop  context.CancelFunc

	args  json.RawMessage // edited, and rehearsed
	plan  *tool.Question  // what they would do
	parts []part
	at    int // the part that keys are about

	lines []string // drawn
	top   int      // the first line that is shown
	whole bool     // as much of it as fits
}

// A part is a file, or a place of the only file, that may be left out.
type part struct {
	name string
	diff string
	take bool
}

// shown is the question as it would be carried out.
func (c *card) shown() *tool.Question {
	if c.plan != nil {
		return c.plan
	}
	return &c.q
}

// ready reports whether keys answer the card.
func (c *card) ready(now time.Time) bool { return c.busy == "" && now.Sub(c.since) >= settleFor }

// current is the card that is shown, nil when nothing waits.
func (m *model) current() *card {
	if len(m.cards) == 0 {
		return nil
	}
	m.card = max(0, min(m.card, len(m.cards)-1))
	return m.cards[m.card]
}

// dealt shows what a run asks. When nothing waits any more, it goes on.
func (m *model) dealt(msg cardsMsg) tea.Cmd {
	if m.run == nil || m.run.ID != msg.run || m.stopping {
		return nil
	}
	if msg.err != nil {
		m.problem(msg.err)
		return nil
	}
	m.dropCards()
	if len(msg.list) == 0 {
		return m.work(msg.run)
	}
	var cmds []tea.Cmd
	for _, q := range msg.list {
		c := &card{}
		m.cards = append(m.cards, c)
		cmds = append(cmds, m.ask(c, q))
	}
	m.card = 0
	return tea.Batch(append(cmds, m.present())...)
}

// ask puts a question on a card, and listens whether it is answered elsewhere.
func (m *model) ask(c *card, q tool.Question) tea.Cmd {
	if c.stop != nil {
		c.stop()
	}
	*c = card{q: q, since: m.now(), own: c.own}
	if q.State != tool.Pending {
		c.busy = "Applying …"
	}
	var ctx context.Context
	ctx, c.stop = context.WithCancel(m.h.ctx)
	return m.h.await(ctx, &c.q)
}

// present lets the person see a card before keys answer it. Whoever writes keeps
// writing.
func (m *model) present() tea.Cmd {
	c := m.current()
	if c == nil {
		return nil
	}
	c.since = m.now()
	if m.mode == writing && m.input.Empty() {
		m.mode = deciding
	}
	return m.after(settleFor, armed{})
}

// dropCards forgets all cards; what waits goes on waiting.
func (m *model) dropCards() {
	for _, c := range m.cards {
		c.stop()
	}
	m.cards, m.card = nil, 0
	m.back()
}

// back gives the keys back from whatever a card needed them for.
func (m *model) back() {
	switch m.mode {
	case deciding, wording, ruling, editing, parting:
		m.mode = writing
		if m.current() != nil {
			m.mode = deciding
		}
	}
}

// over takes a card away that was answered, and shows the next one or goes on.
func (m *model) over(c *card) tea.Cmd {
	c.stop()
	for i := range m.cards {
		if m.cards[i] == c {
			m.cards = append(m.cards[:i], m.cards[i+1:]...)
			break
		}
	}
	m.back()
	if len(m.cards) > 0 {
		return m.present()
	}
	if m.run == nil || m.run.Status.Over() || m.stopping {
		return nil
	}
	return m.work(m.run.ID)
}

func (m *model) cardOf(id string) *card {
	for _, c := range m.cards {
		if c.q.ID == id {
			return c
		}
	}
	return nil
}

// answered sees what became of an answer.
func (m *model) answered(msg answeredMsg) tea.Cmd {
	c := m.cardOf(msg.id)
	if c == nil {
		return nil
	}
	c.busy = ""
	switch {
	case msg.err != nil && c.own:
		m.problem(msg.err)
		return m.over(c)
	case msg.err != nil && msg.over:
		return m.over(c) // it was carried out and went wrong: the run is told
	case msg.err != nil && fault.Of(msg.err) == fault.Conflict && m.run != nil:
		m.t.Tell(transcript.Notice, msg.err.Error())
		return m.h.cards(m.run.ID) // as it is now
	case msg.err != nil:
		c.wrong, c.lines = msg.err.Error(), nil
		var ctx context.Context
		ctx, c.stop = context.WithCancel(m.h.ctx)
		return m.h.await(ctx, &c.q)
	case msg.res.Question != nil:
		q := *msg.res.Question
		cmd := m.ask(c, q)
		c.wrong = "The plan changed; review it again"
		return tea.Batch(cmd, m.present())
	case c.own:
		m.tellUndone(msg.res)
	}
	return m.over(c)
}

// elsewhere sees that somebody else has answered.
func (m *model) elsewhere(msg elsewhereMsg) tea.Cmd {
	c := m.cardOf(msg.id)
	if c == nil || c.q.Revision != msg.revision || c.busy == answering {
		return nil
	}
	if msg.err == nil && msg.res.Question != nil {
		cmd := m.ask(c, *msg.res.Question)
		c.wrong = "The plan changed; review it again"
		return tea.Batch(cmd, m.present())
	}
	m.t.Tell(transcript.Notice, "Answered elsewhere: "+c.q.Preview.Summary)
	return m.over(c)
}

// answering is said while an answer is on its way.
const answering = "Sending your answer …"

// reply gives the person's answer to a card.
func (m *model) reply(c *card, a tool.Answer) tea.Cmd {
	c.stop() // only one of the two may carry it out
	c.busy, c.wrong = answering, ""
	a.Revision = c.q.Revision
	m.back()
	return m.h.reply(c.q.ID, a)
}

// rehearsed shows what edited arguments would do, or what is wrong with them.
func (m *model) rehearsed(msg rehearsedMsg) tea.Cmd {
	c := m.cardOf(msg.id)
	if c == nil {
		return nil
	}
	c.busy = ""
	if msg.err != nil {
		c.wrong, c.lines = msg.err.Error(), nil
		return nil
	}
	c.args, c.plan, c.wrong, c.lines, c.top = msg.args, &msg.next, "", nil, 0
	c.since = m.now()
	m.mode = deciding
	return m.after(settleFor, armed{})
}

// scope is the pattern that a standing answer begins with: the folder of all
// that is changed.
func scope(q *tool.Question) string {
	if len(q.Changes) == 0 {
		return ""
	}
	dir := path.Dir(q.Changes[0].Path)
	for _, c := range q.Changes {
		for dir != "." && !strings.HasPrefix(c.Path, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	if dir == "." {
		if len(q.Changes) == 1 {
			return q.Changes[0].Path
		}
		return "**"
	}
	return dir + "/**"
}

// places reports whether the parts of a question are places of one file, and not
// files.
func places(q *tool.Question) bool {
	return len(q.Changes) == 1 && q.Changes[0].Action != change.Reads
}

// partsOf are the files of a change, or the places of the only one.
func partsOf(q *tool.Question) []part {
	var out []part
	if places(q) {
		for line := range strings.SplitAfterSeq(q.Changes[0].Diff, "\n") {
			if strings.HasPrefix(line, "@@") {
				out = append(out, part{name: fmt.Sprintf("part %d", len(out)+1), take: true})
			}
			if n := len(out); n > 0 {
				out[n-1].diff += line
			}
		}
	} else {
		for _, c := range q.Changes {
			out = append(out, part{name: c.Path, diff: c.Diff, take: true})
		}
	}
	return out
}

// some is the answer that takes the parts that are chosen.
func (c *card) some() (tool.Answer, error) {
	a := tool.Answer{Approve: true}
	var taken []int
	for i, p := range c.parts {
		if !p.take {
			continue
		}
		taken = append(taken, i+1)
		if !places(&c.q) {
			a.Paths = append(a.Paths, p.name)
		}
	}
	if len(taken) == 0 {
		return a, fault.New(fault.Invalid, "no part is selected; press d to deny the whole change")
	}
	if places(&c.q) {
		a.Hunks = map[string][]int{c.q.Changes[0].Path: taken}
	}
	return a, nil
}

// always is a yes that becomes a standing answer for thirty days.
func (m *model) always(pattern string) tool.Answer {
	return tool.Answer{Approve: true, Always: &policy.Rule{Paths: strings.TrimSpace(pattern), Until: m.now().AddDate(0, 0, 30)}}
}

// drawCard draws what the person decides on.
func (m *model) drawCard(c *card) []string {
	if c.lines != nil {
		return c.lines
	}
	s := m.paint
	s.Width, s.Terminal = m.width-1, true
	q := c.shown()
	var out []string
	add := func(lines ...string) {
		for _, l := range lines {
			out = append(out, markdown.Fold(l, m.width-1)...)
		}
	}
	add(s.Bold(draw.Revealed(draw.OneLine(q.Preview.Summary))))
	add(s.Dim(draw.Requested(*q)))
	for _, step := range q.Preview.Steps {
		add("  " + draw.Revealed(draw.OneLine(step)))
	}
	for _, n := range append(append([]string{}, q.Preview.Warnings...), q.Notices...) {
		add(s.Mark("! " + draw.OneLine(n)))
	}
	if c.plan != nil {
		add(s.Mark("With your edited arguments: a allows this, Esc returns to the original request"))
	}
	if len(q.Changes) == 0 {
		add(markdown.Plain(draw.Revealed(transcript.Indented(q.Args)), "  ", "  ", m.width-1)...)
	}
	for _, f := range q.Changes {
		var b strings.Builder
		s.Change(&b, f, true)
		add(strings.Split(strings.TrimSuffix(strings.ReplaceAll(b.String(), "\t", "    "), "\n"), "\n")...)
	}
	c.lines = out
	return out
}
