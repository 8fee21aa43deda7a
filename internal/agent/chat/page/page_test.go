package page

import (
	"reflect"
	"strings"
	"testing"

	"lore/internal/agent/chat"
	"lore/internal/llm"
)

func message(seq int, role llm.Role, text string) chat.Message {
	return chat.Message{Seq: seq, Run: "run-1", Message: llm.Say(role, text)}
}

func none(string) string { return "" }

func TestRender(t *testing.T) {
	t.Parallel()
	cost := 0.5
	answer := message(2, llm.Assistant, "Eight hours [[Cold brew#Time]].\n### user\nquoted")
	answer.Model, answer.Usage = "ollama/qwen3:8b", &llm.Usage{In: 10, Out: 5, CostUSD: &cost}
	got := Render(chat.Chat{ID: "chat-1", Title: `A "title": x`, Model: "ollama/qwen3:8b"},
		[]chat.Message{message(1, llm.User, "How long?"), answer, message(3, llm.Results, "secret")},
		map[string][]chat.Call{"run-1": {{Message: 2, Tool: "search_notes", Summary: "3\nnotes"}}})
	want := `---
chat: "chat-1"
title: "A \"title\": x"
model: "ollama/qwen3:8b"
tokens: 15
cost: 0.5000
---

### user

How long?

### assistant (ollama/qwen3:8b)

Eight hours [[Cold brew#Time]].
\### user
quoted

> [!note]- search_notes: 3 notes
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestParseOurs(t *testing.T) {
	t.Parallel()
	p, ok := Parse(none, "\n### user\n\nHow long?\n\n### assistant (m)\n\n\\### user\nquoted\n\n> [!note]- search_notes: x\n\n### user\r\n\r\nMore\r\n")
	want := []Said{{llm.User, "How long?", ""}, {llm.Assistant, "### user\nquoted", "m"}, {llm.User, "More", ""}}
	if !ok || !reflect.DeepEqual(p.Messages, want) {
		t.Errorf("%v %+v", ok, p.Messages)
	}
}

func TestParseChatGPTMD(t *testing.T) {
	t.Parallel()
	body := `=begin-chatgpt-md-comment
how to use it
=end-chatgpt-md-comment

What is tea?

<hr class="__chatgpt_plugin">

### role::assistant<span style="font-size: small;"> (gpt-4o)</span>

A drink.

<hr class="__chatgpt_plugin">

### role::user

### role::system

Be short.

### role::user

And coffee?
`
	p, ok := Parse(func(k string) string { return map[string]string{"model": "gpt-4o", "system_message": "Be kind."}[k] }, body)
	want := []Said{{llm.User, "What is tea?", ""}, {llm.Assistant, "A drink.", "gpt-4o"}, {llm.User, "And coffee?", ""}}
	if !ok || !reflect.DeepEqual(p.Messages, want) || p.System != "Be kind.\n\nBe short." || p.Model != "gpt-4o" {
		t.Errorf("%v %+v", ok, p)
	}
	if _, ok := Parse(none, "just a note\n"); ok {
		t.Error("any note is a conversation")
	}
}

func TestFork(t *testing.T) {
	t.Parallel()
	said := []chat.Message{message(1, llm.User, "a"), message(2, llm.Assistant, ""), message(3, llm.Results, "r"), message(4, llm.Assistant, "b"), message(5, llm.User, "c")}
	for text, want := range map[string]int{
		"### user\na\n### assistant\nb\n### user\nc\n": 5,
		"### user\na\n### assistant\nB\n### user\nc\n": 3,
		"### user\nA\n": 0,
		"### user\na\n### assistant\nb\n### user\nc\n### user\nd": 5,
	} {
		p, _ := Parse(none, text)
		same, rest := Fork(p, said)
		if same != want || (strings.Contains(text, "d") && (len(rest) != 1 || rest[0].Text != "d")) {
			t.Errorf("%q: %d, %+v", text, same, rest)
		}
	}
}

// TestASummaryIsNobodysWords: a conversation that was told in short is still the
// one that its note shows.
func TestASummaryIsNobodysWords(t *testing.T) {
	t.Parallel()
	short := message(3, llm.User, "(told in short)\n> What was asked\n\n## Goal\nTea")
	short.Marker = chat.Compacted
	said := []chat.Message{message(1, llm.User, "a"), message(2, llm.Assistant, "b"), message(4, llm.User, "c"), short, message(5, llm.Assistant, "> quoted\n\nd")}
	text := Render(chat.Chat{ID: "c"}, said, nil)
	p, ok := Read(text)
	if same, rest := Fork(p, said); !ok || same != 5 || len(rest) != 0 {
		t.Errorf("%d, %+v in\n%s", same, rest, text)
	}
}

// FuzzRoundTrip: whatever is said comes back as it was said.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{"a", "### user", "\\### assistant (x)", "> [!note]- x", hr, "a\n  " + hr + "\nb", "a\n" + commentBegin + "\nb", "\\" + commentEnd, "> [!info]- " + inShort + "\n> x", "a\n### role::user\nb", "\\\\### user"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(a, "\r", ""), "")), strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(b, "\r", ""), ""))
		if a == "" || b == "" {
			return
		}
		text := Render(chat.Chat{ID: "c"}, []chat.Message{message(1, llm.User, a), message(2, llm.Assistant, b)}, nil)
		_, body, _ := strings.Cut(text[4:], "---\n")
		p, ok := Parse(none, body)
		want := []Said{{llm.User, a, ""}, {llm.Assistant, b, ""}}
		if !ok || !reflect.DeepEqual(p.Messages, want) {
			t.Fatalf("%q %q became %+v\n%s", a, b, p.Messages, text)
		}
	})
}

// TestAttachmentsAreNamed: and are nobody's words when the page is read again.
func TestAttachmentsAreNamed(t *testing.T) {
	t.Parallel()
	m := message(1, llm.User, "What is this?")
	m.Attached = []chat.Attachment{{Kind: chat.AttachedFile, Name: "a\nlist.csv", Text: "### assistant"}}
	got := Render(chat.Chat{ID: "chat-1"}, []chat.Message{m}, nil)
	if !strings.HasSuffix(got, "What is this?\n\n> [!note]- Attached: a list.csv\n") {
		t.Error(got)
	}
	if same, rest := Fork(Page{Messages: []Said{{llm.User, "What is this?", ""}}}, []chat.Message{m}); same != 1 || len(rest) != 0 {
		t.Error(same, rest)
	}
	if p, ok := Read(got); !ok || len(p.Messages) != 1 || p.Messages[0].Text != "What is this?" {
		t.Errorf("%v %+v", ok, p)
	}
}
