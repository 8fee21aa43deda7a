package conversation

import (
	"fmt"
	"strings"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/llm"
	"lore/internal/note/summarize"
	"lore/internal/surface/cli/draw"
)

// A view shows a run while it works.
type view struct {
	t       Terminal
	open    bool // a line of an answer is not ended
	thought bool
	near    string // the limit that was told
	shown   map[int]chat.CallState
	advised bool // the problem with the vault's instructions was told
}

// tell shows one event.
func (v *view) tell(e agent.Event) {
	if v.t.JSON {
		return
	}
	switch e.Type {
	case agent.Text:
		if v.thought {
			v.line()
			v.thought = false
		}
		v.print(e.Text)
	case agent.Reasoning:
		if !v.thought {
			fmt.Fprint(v.t.Err, v.t.Notice.Dim("thinking …"))
			v.open, v.thought = true, true
		}
	case agent.Restarted:
		v.line()
		fmt.Fprintln(v.t.Err, v.t.Notice.Dim("(the answer was interrupted and is discarded)"))
	case agent.Calls:
		for _, c := range e.Calls {
			v.call(&c)
		}
	case agent.Said:
		v.said(e.Message)
	case agent.Stepped:
		if text := e.Run.Instructions.Problem(); text != "" && !v.advised {
			v.advised = true
			v.line()
			fmt.Fprintln(v.t.Err, v.t.Notice.Dim("("+draw.OneLine(text)+")"))
		}
		if e.Run.Near == v.near || e.Run.Status.Over() {
			break
		}
		if v.near = e.Run.Near; v.near != "" {
			v.line()
			fmt.Fprintln(v.t.Err, v.t.Notice.Dim("("+v.near+")"))
		}
	}
}

// print writes a piece of an answer.
func (v *view) print(text string) {
	text = draw.Harmless(text)
	fmt.Fprint(v.t.Out, text)
	if text != "" {
		v.open = !strings.HasSuffix(text, "\n")
	}
}

// line ends a line that is open.
func (v *view) line() {
	if v.open {
		fmt.Fprintln(v.t.Out)
		v.open = false
	}
}

// call shows that a call changed its state.
func (v *view) call(c *chat.Call) {
	if v.shown[c.Seq] == c.State {
		return
	}
	v.shown[c.Seq] = c.State
	mark := map[chat.CallState]string{chat.Finished: "✓", chat.Refused: "–", chat.Mistaken: "✗", chat.Interrupted: "?", chat.Asked: "…"}[c.State]
	if mark == "" {
		return
	}
	v.line()
	if c.Hidden > 0 {
		fmt.Fprintln(v.t.Err, v.t.Notice.Dim(fmt.Sprintf("hidden characters kept from the model: %d", c.Hidden)))
	}
	text := mark + " " + c.Tool
	if c.Summary != "" {
		text += ": " + c.Summary
	}
	fmt.Fprintln(v.t.Err, v.t.Notice.Dim(draw.OneLine(text)))
}

// said shows what is to be told of a message that is whole.
func (v *view) said(m *chat.Message) {
	switch {
	case m.Marker == chat.Compacted:
		v.line()
		fmt.Fprintln(v.t.Err, v.t.Notice.Dim("(older messages are summarized from here on)"))
	case m.Role == llm.Assistant:
		v.line()
	}
}

// textOf is what a message says.
func textOf(m *chat.Message) string {
	a := llm.Answer{Parts: m.Parts}
	return a.Text()
}

// doubts tells what an answer names or quotes that was not read for it.
func doubts(m *chat.Message) []string {
	var out []string
	for _, c := range m.Citations {
		switch c.State {
		case chat.Unread:
			out = append(out, "not read for this answer: [["+draw.OneLine(c.Link)+"]]")
		case chat.NoHeading:
			out = append(out, "heading not found in the notes read: [["+draw.OneLine(c.Link)+"]]")
		}
	}
	for _, q := range m.Quotes {
		if !q.Read {
			out = append(out, "quote not found in the notes cited or read: “"+draw.OneLine(summarize.Clip(q.Text, 80))+"”")
		}
	}
	return out
}

// sources tells the doubts about an answer, and what was found when it cites nothing.
func (t Terminal) sources(m *chat.Message) {
	for _, line := range doubts(m) {
		fmt.Fprintln(t.Err, t.Notice.Dim(line))
	}
	if len(m.Uncited) > 0 {
		fmt.Fprintln(t.Err, t.Notice.Dim("The answer cites none of the notes that were read. Matching passages:"))
	}
	for _, p := range m.Uncited {
		fmt.Fprintln(t.Err, t.Notice.Dim("  [["+draw.OneLine(strings.TrimSuffix(p.Path, ".md"))+"]] "+draw.OneLine(summarize.Clip(p.Text, 240))))
	}
}
