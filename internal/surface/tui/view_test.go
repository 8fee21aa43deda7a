package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/llm"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// bare is a screen without anybody behind it: messages go in, text comes out.
func bare(tb testing.TB, colour bool) *model {
	tb.Helper()
	ctx, leave := context.WithCancel(context.Background())
	tb.Cleanup(leave)
	m := newModel(&effects{ctx: ctx}, Options{Tools: true, Paint: draw.Screen{Colour: colour, Terminal: true}, Limits: agent.DefaultLimits()}, time.Now)
	m.after = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	m.welcome()
	return m
}

func (m *model) gets(events ...agent.Event) {
	for _, e := range events {
		m.h.box.tell(e)
	}
	m.Update(wake{})
}

// evil is what a model could write to take the terminal over.
const evil = "\x1b[2J\x1b]0;owned\x07\u009b31m\u202e玉露👩‍👩‍👧\x00\r\n\x9c"

// full has one of everything, all of it hostile.
func full(tb testing.TB, colour bool) *model {
	m := bare(tb, colour)
	m.run = &chat.Run{ID: "run-1", Status: chat.Running, Model: "m" + evil, Priced: true, Limits: agent.DefaultLimits()}
	args, _ := json.Marshal(map[string]string{"a": evil})
	m.t.Tell(1, evil) // an answer
	m.gets(
		agent.Event{Type: agent.Reasoning, Text: "hm " + evil}, agent.Event{Type: agent.Text, Text: "# T" + evil + "\n\n|a|b|\n|-|-|\n|" + evil + "|[[" + evil + "]]|\n"},
		agent.Event{Type: agent.Said, Message: &chat.Message{Run: "run-1", Marker: chat.Compacted, Message: llm.Say(llm.User, "x")}},
		agent.Event{Type: agent.Calls, Calls: []chat.Call{{Seq: 1, Tool: "t" + evil, Args: args, Result: evil, Summary: strings.Repeat(evil, 5), State: chat.Asked, Operation: "op" + evil}}},
		agent.Event{Type: agent.Stepped, Run: m.run})
	m.h.box.say("beside it " + evil)
	m.Update(wake{})
	for _, e := range m.t.Entries {
		e.Open = true
		m.t.Touch(e)
	}
	q := tool.Question{
		ID: "pending-1", State: tool.Pending, Tool: "t" + evil, Args: args, Risk: "change", Reason: evil, Who: access.Principal{Kind: access.Agent, Surface: evil},
		Preview: tool.Preview{Summary: "S" + evil, Warnings: []string{evil}}, Notices: []string{evil},
		Changes: []tool.FileChange{{Path: "a" + evil + ".md", Action: "change", Diff: "@@ -1 +1 @@\n-" + strings.Repeat("old "+evil, 20) + "\n+" + strings.Repeat("new\t"+evil, 20) + "\n"}, {Path: "b.md", Action: "create", Diff: "@@ -0,0 +1 @@\n+x" + evil + "\n"}},
	}
	c := &card{q: q, stop: func() {}, wrong: evil}
	m.cards = []*card{c}
	m.note = draw.OneLine(evil)
	return m
}

// sound checks what must hold of every screen.
func sound(t *testing.T, m *model, what string) {
	t.Helper()
	text, x, y := m.drawn()
	lines := strings.Split(text, "\n")
	if len(lines) != m.height {
		t.Fatalf("%s: %d lines on %d:\n%s", what, len(lines), m.height, text)
	}
	if x >= m.width || y >= m.height {
		t.Fatalf("%s: the cursor is outside: %d %d", what, x, y)
	}
	for _, l := range lines {
		if n := draw.Cells(l); n > m.width {
			t.Fatalf("%s: %d columns on %d: %q", what, n, m.width, l)
		}
		for i, part := range strings.Split(l, "\x1b") {
			if i > 0 {
				end := strings.IndexByte(part, 'm')
				if !m.paint.Colour || end < 0 || strings.Trim(part[:end], "[0123456789;") != "" {
					t.Fatalf("%s: a code came through: %q", what, l)
				}
				part = part[end+1:]
			}
			if part != draw.Harmless(part) || strings.Contains(part, "\t") {
				t.Fatalf("%s: not harmless: %q", what, l)
			}
		}
	}
}

func TestEverySizeFits(t *testing.T) {
	for _, colour := range []bool{true, false} {
		m := full(t, colour)
		for _, size := range [][2]int{{40, 12}, {20, 6}, {80, 24}, {132, 50}, {41, 8}, {10, 3}} {
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for _, md := range []mode{writing, deciding, wording, ruling, editing, parting, looking} {
				m.mode = md
				m.cards[0].parts = partsOf(&m.cards[0].q)
				m.cards[0].whole = md == deciding
				m.line.Set(escaped(m.cards[0].q.Args))
				m.input.Set(strings.Repeat(evil+"words and words\t", 9))
				sound(t, m, fmt.Sprint(size, md, colour))
			}
			m.open(chats, nil)
			m.Update(listedMsg{what: chats, items: nil, problems: []string{evil}})
			sound(t, m, fmt.Sprint(size, "list"))
			m.regain()
			for range 30 { // every part of the transcript
				m.Update(keyOf("pgup"))
				sound(t, m, fmt.Sprint(size, "scrolled"))
			}
			m.t.Up = 0
		}
	}
}

func TestWhatTheEditorShowsMeansTheSame(t *testing.T) {
	args, _ := json.Marshal(map[string]string{"a": evil + "\U000e0041"})
	text := escaped(args)
	if text != draw.Revealed(text) {
		t.Errorf("something is hidden: %q", text)
	}
	var want, got map[string]string
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(args, &want); err != nil || got["a"] != want["a"] {
		t.Errorf("%q, want %q", got["a"], want["a"])
	}
}

func TestThoughtsMarkersAndRestarts(t *testing.T) {
	m := bare(t, false)
	has := func(want ...string) {
		t.Helper()
		text, _, _ := m.drawn()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Fatalf("no %q in\n%s", w, text)
			}
		}
	}
	m.gets(agent.Event{Type: agent.Reasoning, Text: "First.\n"}, agent.Event{Type: agent.Reasoning, Text: "Then that."})
	has("∴ thinking …: Then that.")
	m.gets(agent.Event{Type: agent.Text, Text: "An **ans"}, agent.Event{Type: agent.Text, Text: "wer**"})
	has("∴ thought: Then that.", "An **answer**")
	m.gets(agent.Event{Type: agent.Restarted})
	has("(the answer was interrupted and is discarded)")
	if text, _, _ := m.drawn(); strings.Contains(text, "An **answer**") {
		t.Error("what does not count is still there")
	}
	m.gets(agent.Event{Type: agent.Text, Text: "Wor"}, agent.Event{Type: agent.Said, Message: &chat.Message{Message: llm.Say(llm.Assistant, "Words.")}})
	has("Words.")
	m.gets(agent.Event{Type: agent.Said, Message: &chat.Message{Marker: chat.Compacted, Message: llm.Say(llm.User, "x")}})
	has("(older messages are summarized from here on)")
	m.Update(keyOf("ctrl+o"))
	m.Update(keyOf("enter"))
	has("▸ ∴ thought", "    First.", "    Then that.")
	m.Update(keyOf("esc"))
	if m.mode != writing {
		t.Error(m.mode)
	}
}

func TestWriting(t *testing.T) {
	m := bare(t, false)
	m.mind = "test/script"
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"a", "alt+enter", "b", "ctrl+j", "c"}, "a\nb\nc"},
		{[]string{"up", "up", "x"}, "ax\nb\nc"},
		{[]string{"ctrl+a", "ctrl+k"}, "\nb\nc"},
		{[]string{"down", "ctrl+e", "backspace"}, "\n\nc"},
	} {
		for _, k := range c.keys {
			m.Update(keyOf(k))
		}
		if m.input.Value() != c.want {
			t.Errorf("%v: %q, want %q", c.keys, m.input.Value(), c.want)
		}
	}
	m.input.Set("")
	m.Update(tea.PasteMsg{Content: "one\r\ntwo\x1b[2J\rthree"})
	if m.input.Value() != "one\ntwo[2J\nthree" || m.working {
		t.Errorf("%q", m.input.Value())
	}
	m.past.Add("first")
	m.past.Add("second")
	m.input.Set("draft")
	for _, c := range [][2]string{{"up", "second"}, {"up", "first"}, {"up", "first"}, {"down", "second"}, {"down", "draft"}, {"down", "draft"}} {
		m.Update(keyOf(c[0]))
		if m.input.Value() != c[1] {
			t.Errorf("%s: %q, want %q", c[0], m.input.Value(), c[1])
		}
	}
	m.input.Set("/nothing")
	m.Update(keyOf("enter"))
	if text, _, _ := m.drawn(); !strings.Contains(text, "unknown command /nothing") {
		t.Error(text)
	}
	m.input.Set("/note Tea.md")
	m.Update(keyOf("enter"))
	if text, _, _ := m.drawn(); m.note != "Tea.md" || !strings.Contains(text, "note: Tea.md") {
		t.Error(text)
	}
}

func TestNamesOfNotesAreOffered(t *testing.T) {
	m := bare(t, false)
	m.Update(notesMsg{paths: []string{"Notes/Matcha.md", "Notes/Tea map.md", "Tea.md"}})
	for _, k := range []string{"s", "[", "[", "t", "e", "a"} {
		m.Update(keyOf(k))
	}
	text, _, _ := m.drawn()
	if !strings.Contains(text, "▸ [[Notes/Tea map.md") || !strings.Contains(text, "[[Tea.md") || strings.Contains(text, "Matcha") {
		t.Fatal(text)
	}
	m.Update(keyOf("down"))
	m.Update(keyOf("tab"))
	if m.input.Value() != "s[[Tea]]" {
		t.Error(m.input.Value())
	}
}

func TestScrolling(t *testing.T) {
	m := bare(t, false)
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "- line %d\n", i)
	}
	m.gets(agent.Event{Type: agent.Text, Text: text.String()})
	m.Update(keyOf("pgup"))
	before := m.t.View(5)
	m.gets(agent.Event{Type: agent.Text, Text: "- more\n- and more\n"})
	if after := m.t.View(5); strings.Join(before, "\n") != strings.Join(after, "\n") {
		t.Errorf("what is looked at moved:\n%q\n%q", before, after)
	}
	if !strings.Contains(m.status(), "more lines") {
		t.Error(m.status())
	}
	m.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	for range 20 {
		m.Update(keyOf("pgdown"))
	}
	m.gets(agent.Event{Type: agent.Text, Text: "- the last\n"})
	if v, _, _ := m.drawn(); m.t.Up != 0 || !strings.Contains(v, "the last") {
		t.Error("the end is not followed")
	}
}

func TestWordsOfAFrameAreOnePiece(t *testing.T) {
	var b inbox
	woken := 0
	b.wake = func() { woken++ }
	for range 1000 {
		b.tell(agent.Event{Type: agent.Text, Text: "word "})
	}
	b.tell(agent.Event{Type: agent.Calls})
	b.tell(agent.Event{Type: agent.Text, Text: "end"})
	list := b.take()
	if woken != 1 || len(list) != 3 || len(list[0].text) != 5000 || string(list[2].text) != "end" {
		t.Errorf("woken %d times for %d pieces", woken, len(list))
	}
	b.tell(agent.Event{Type: agent.Text, Text: "x"}) // somebody looks a frame later
	if woken != 1 || len(b.take()) != 1 || len(b.take()) != 0 {
		t.Error("woken again")
	}
	b.tell(agent.Event{Type: agent.Text, Text: "y"})
	if woken != 2 {
		t.Error("not woken")
	}
}

// BenchmarkFrame is one more word, drawn, of an answer or a thought that is so long
// already.
func BenchmarkFrame(b *testing.B) {
	for _, kind := range []agent.EventType{agent.Text, agent.Reasoning} {
		benchFrame(b, kind)
	}
}

func benchFrame(b *testing.B, kind agent.EventType) {
	for _, kb := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("%s/%dKB", kind, kb), func(b *testing.B) {
			m := bare(b, true)
			m.gets(agent.Event{Type: kind, Text: strings.Repeat(strings.Repeat("some **words** of [[Tea]] ", 38)+"\n\n", kb)})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				word := "word "
				if i%40 == 39 {
					word = "\n\n"
				}
				m.gets(agent.Event{Type: kind, Text: word})
				_ = m.View()
			}
		})
	}
}

// TestTheVaultsInstructionsAreTold: that they are not used is told once, and /tools names
// them when they are.
func TestTheVaultsInstructionsAreTold(t *testing.T) {
	m := bare(t, false)
	m.tools = false
	r := chat.Run{ID: "run-1", Status: chat.Running, Instructions: &chat.Instructions{Path: "AGENTS.md", Unused: "it is marked as untrusted"}}
	m.gets(agent.Event{Type: agent.Stepped, Run: &r}, agent.Event{Type: agent.Stepped, Run: &r})
	text, _, _ := m.drawn()
	if n := strings.Count(text, "AGENTS.md was not used: it is marked as untrusted"); n != 1 || strings.Contains(m.toolsText(), "AGENTS.md") {
		t.Errorf("%d times in\n%s", n, text)
	}
	r.Instructions = &chat.Instructions{Path: "AGENTS.md"}
	m.gets(agent.Event{Type: agent.Stepped, Run: &r})
	if got := m.toolsText(); got != "The model follows AGENTS.md.\nThe model has no tools in this chat." {
		t.Error(got)
	}
}
