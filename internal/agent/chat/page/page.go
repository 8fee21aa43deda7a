// Package page shows a conversation as a Markdown note and reads one from a note:
// its own form, and that of ChatGPT MD. It is pure: it writes no file and keeps
// no chat.
//
//	---
//	chat: chat-7k3f
//	title: Cold brew
//	model: ollama/qwen3:8b
//	---
//	### user
//
//	How long?
//
//	### assistant (ollama/qwen3:8b)
//
//	> [!note]- search_notes: 3 notes
//
//	Eight hours [[Cold brew#Time]].
//
// What a person changes in such a note is a conversation of its own from there on.
package page

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"lore/internal/agent/chat"
	"lore/internal/llm"
)

// Render writes a conversation. Opaque state of providers and what tools answered
// stay in the store; a call is one line.
func Render(c chat.Chat, messages []chat.Message, calls map[string][]chat.Call) string {
	var b strings.Builder
	b.WriteString("---\n")
	fmt.Fprintf(&b, "chat: %s\n", quoteYAML(c.ID))
	fmt.Fprintf(&b, "title: %s\n", quoteYAML(c.Title))
	if c.Model != "" {
		fmt.Fprintf(&b, "model: %s\n", quoteYAML(c.Model))
	}
	in, out, cost, priced := spent(messages)
	if in+out > 0 {
		fmt.Fprintf(&b, "tokens: %d\n", in+out)
	}
	if priced {
		fmt.Fprintf(&b, "cost: %.4f\n", cost)
	}
	b.WriteString("---\n")
	for _, m := range messages {
		switch {
		case m.Marker == chat.Compacted:
			b.WriteString("\n> [!info]- " + inShort + "\n")
			b.WriteString(quotedLines(textOf(&m)))
		case m.Marker != "" || m.Role == llm.Results:
		case m.Role == llm.User:
			b.WriteString("\n### user\n\n" + escape(textOf(&m)) + "\n")
			for _, a := range m.Attached {
				fmt.Fprintf(&b, "\n> [!note]- Attached: %s\n", oneLine(a.Name))
			}
		case m.Role == llm.Assistant:
			head := "assistant"
			if m.Model != "" {
				head += " (" + strings.ReplaceAll(m.Model, ")", "") + ")"
			}
			b.WriteString("\n### " + head + "\n")
			if text := escape(textOf(&m)); text != "" {
				b.WriteString("\n" + text + "\n")
			}
			for _, call := range calls[m.Run] {
				if call.Message == m.Seq {
					fmt.Fprintf(&b, "\n> [!note]- %s: %s\n", call.Tool, oneLine(cmp.Or(call.Summary, string(call.State))))
				}
			}
		}
	}
	return b.String()
}

func spent(messages []chat.Message) (in, out int, cost float64, priced bool) {
	priced = true
	any := false
	for _, m := range messages {
		if m.Usage == nil {
			continue
		}
		any = true
		in, out = in+m.Usage.In, out+m.Usage.Out
		if m.Usage.CostUSD == nil {
			priced = false
			continue
		}
		cost += *m.Usage.CostUSD
	}
	return in, out, cost, priced && any
}

func textOf(m *chat.Message) string {
	a := llm.Answer{Parts: m.Parts}
	return strings.TrimSpace(a.Text())
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// quoteYAML writes a text so that it is one whatever it says.
func quoteYAML(s string) string {
	s = oneLine(s)
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func quotedLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("> " + strings.TrimRight(line, "\r\n") + "\n")
	}
	return b.String()
}

// head is a line that begins what somebody said.
var head = regexp.MustCompile(`^(\\*)###\s+(?:role::)?(user|assistant|system|developer)\b(?:\s*<span[^>]*>\s*\(([^()]*)\)\s*</span>|\s*\(([^()]*)\))?\s*$`)

// called is the line of a call.
var called = regexp.MustCompile(`^> \[!(note|info)\]-`)

// inShort is the title of what older messages are told in short by.
const inShort = "Older messages, summarized"

// marks reports whether a line, without backslashes before it, means something to
// who reads a page: it begins what somebody says, or is nobody's words.
func marks(l string) bool {
	bare := strings.TrimLeft(l, `\`)
	switch strings.TrimSpace(bare) {
	case hr, commentBegin, commentEnd:
		return true
	}
	return head.MatchString(strings.TrimRight(l, "\r")) || called.MatchString(bare) || strings.HasPrefix(bare, hr)
}

// escape puts a backslash before lines that would mean something else.
func escape(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if marks(l) {
			lines[i] = `\` + l
		}
	}
	return strings.Join(lines, "\n")
}

func unescape(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		rest := strings.TrimPrefix(l, `\`)
		if rest != l && marks(rest) {
			lines[i] = rest
		}
	}
	return strings.Join(lines, "\n")
}

// The marks of ChatGPT MD.
const (
	hr           = `<hr class="__chatgpt_plugin">`
	commentBegin = "=begin-chatgpt-md-comment"
	commentEnd   = "=end-chatgpt-md-comment"
)

// A Page is a conversation that was read from a note.
type Page struct {
	Chat     string // the id, when it is one of ours
	Title    string
	Model    string
	System   string
	Messages []Said
	// Aside says that it holds words that belong to no message.
	Aside bool
}

// A Said is one message of a page.
type Said struct {
	Role  llm.Role
	Text  string
	Model string
}

// Parse reads the body of a note as a conversation; front is its properties. What
// stands before the first mark is what the person said, when there is anything.
func Parse(front func(key string) string, body string) (Page, bool) {
	p := Page{Chat: front("chat"), Title: front("title"), Model: front("model"), System: cmp.Or(front("system_message"), front("system"))}
	var text strings.Builder
	role, model := llm.User, ""
	marked, comment, short := false, false, false
	flush := func() {
		said := strings.TrimFunc(unescape(text.String()), unicode.IsSpace)
		text.Reset()
		switch {
		case said == "":
		case role == "system":
			p.System = strings.TrimSpace(p.System + "\n\n" + said)
		default:
			p.Messages = append(p.Messages, Said{role, said, model})
		}
	}
	for line := range strings.Lines(body) {
		bare := strings.TrimRight(line, "\r\n")
		if short = strings.HasPrefix(bare, ">") && (short || bare == "> [!info]- "+inShort); short {
			continue
		}
		switch {
		case strings.TrimSpace(bare) == commentBegin:
			comment = true
			continue
		case strings.TrimSpace(bare) == commentEnd:
			comment = false
			continue
		case comment:
			p.Aside = p.Aside || strings.TrimSpace(bare) != ""
			continue
		case strings.TrimSpace(bare) == hr:
			continue
		case called.MatchString(bare):
			continue
		}
		if m := head.FindStringSubmatch(bare); m != nil && m[1] == "" {
			flush()
			marked, model = true, cmp.Or(m[3], m[4])
			switch m[2] {
			case "user":
				role = llm.User
			case "assistant":
				role = llm.Assistant
			default:
				role = "system"
			}
			continue
		}
		text.WriteString(line)
	}
	flush()
	return p, marked
}

// Fork tells where a page and a conversation part: how many messages of the
// conversation, counted by who spoke, stand on the page unchanged, and what the
// page says after them.
func Fork(p Page, messages []chat.Message) (same int, rest []Said) {
	i := 0
	for _, m := range messages {
		if m.Marker != "" || m.Role == llm.Results || m.Role == llm.Assistant && textOf(&m) == "" {
			same = m.Seq
			continue
		}
		if i >= len(p.Messages) || p.Messages[i].Role != m.Role || p.Messages[i].Text != strings.TrimFunc(textOf(&m), unicode.IsSpace) {
			break
		}
		same = m.Seq
		i++
	}
	return same, p.Messages[i:]
}
