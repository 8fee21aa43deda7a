package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/llm"
	"lore/internal/surface/tui/transcript"
	"lore/internal/surface/tui/widget"
	"lore/internal/tool"
)

func plays(t *tool.Tool, r tool.Role) bool { return slices.Contains(t.Roles, r) }

// hear shows one piece of news.
func (m *model) hear(n *news) {
	switch n.Type {
	case agent.Text:
		if m.speaking == nil {
			m.quiet()
			m.speaking = m.t.Add(&transcript.Entry{Kind: transcript.Answer, Live: true, Run: m.runID()})
		}
		m.t.Write(m.speaking, n.text)
	case agent.Reasoning:
		if m.thinking == nil {
			m.thinking = m.t.Add(&transcript.Entry{Kind: transcript.Thought, Live: true, Run: m.runID()})
		}
		m.thinking.Text = append(m.thinking.Text, n.text...)
		m.t.Touch(m.thinking)
	case agent.Restarted:
		for _, e := range []*transcript.Entry{m.speaking, m.thinking} {
			if e != nil {
				m.t.Remove(e)
			}
		}
		m.speaking, m.thinking = nil, nil
		m.t.Tell(transcript.Notice, "(the answer was interrupted and is discarded)")
	case agent.Calls:
		m.t.Show(m.runID(), n.Calls)
	case agent.Said:
		m.kept(n.Message)
	case agent.Stepped:
		r := *n.Run
		if text := r.Instructions.Problem(); text != "" && (m.run == nil || m.run.Instructions.Problem() != text) {
			m.t.Tell(transcript.Notice, text)
		}
		m.run = &r
		if r.Model != "" {
			m.mind = r.Model
		}
	default:
		if line := strings.TrimSpace(n.line); line != "" {
			m.t.Tell(transcript.Notice, line)
		}
	}
}

func (m *model) runID() string {
	if m.run == nil {
		return ""
	}
	return m.run.ID
}

// kept takes a message that is whole: what was shown while it came is made the
// same.
func (m *model) kept(msg *chat.Message) {
	switch {
	case msg.Marker == chat.Compacted:
		m.t.Tell(transcript.Notice, compacted)
	case msg.Role != llm.Assistant || msg.Marker != "":
	default:
		text := textOf(msg)
		switch {
		case m.speaking == nil && strings.TrimSpace(text) != "":
			m.t.Add(&transcript.Entry{Kind: transcript.Answer, Text: []byte(text), Run: msg.Run})
		case m.speaking != nil && string(m.speaking.Text) != text:
			m.speaking.Text = []byte(text)
			m.t.Redraw(m.speaking)
		}
		m.quiet()
	}
}

const compacted = "(older messages are summarized from here on)"

// textOf is what a message says.
func textOf(m *chat.Message) string {
	a := llm.Answer{Parts: m.Parts}
	return a.Text()
}

// loaded shows a conversation that goes on, and works on what is open in it.
func (m *model) loaded(msg loadedMsg) tea.Cmd {
	if msg.err != nil {
		m.chat = ""
		m.problem(msg.err)
		return nil
	}
	m.leave()
	c := msg.chat
	m.chat, m.tools = c.ID, !c.NoTools
	if m.sets = c.Sets; m.sets == nil {
		m.sets = []string{agent.Usual}
	}
	m.past = widget.Past{}
	for i := range msg.messages {
		m.recall(&msg.messages[i], msg.calls)
	}
	var cmds []tea.Cmd
	if m.asked == "" && c.Model != "" {
		m.asked = c.Model
		cmds = append(cmds, m.h.who(c.Model, false))
	}
	if n := len(msg.runs); n > 0 {
		m.run = &msg.runs[n-1]
		if !m.run.Status.Over() {
			cmds = append(cmds, m.work(m.run.ID))
		}
	}
	return tea.Batch(cmds...)
}

// recall shows a message of before.
func (m *model) recall(msg *chat.Message, calls map[string][]chat.Call) {
	switch {
	case msg.Marker == chat.Compacted:
		m.t.Tell(transcript.Notice, compacted)
	case msg.Marker != "":
	case msg.Role == llm.User:
		m.past.Add(textOf(msg))
		m.t.Add(&transcript.Entry{Kind: transcript.Said, Text: []byte(textOf(msg))})
	case msg.Role == llm.Assistant:
		for _, p := range msg.Parts {
			if p.Kind == llm.Reasoning && strings.TrimSpace(p.Text) != "" {
				m.t.Add(&transcript.Entry{Kind: transcript.Thought, Text: []byte(p.Text), Run: msg.Run})
			}
		}
		if text := textOf(msg); strings.TrimSpace(text) != "" {
			m.t.Add(&transcript.Entry{Kind: transcript.Answer, Text: []byte(text), Run: msg.Run})
			m.cited(citedMsg{msg})
		}
		for _, c := range calls[msg.Run] {
			if c.Message == msg.Seq {
				m.t.Show(msg.Run, []chat.Call{c})
			}
		}
	}
}
