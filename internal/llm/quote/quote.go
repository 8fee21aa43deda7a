// Package quote answers without a language model: it searches for what was asked
// and returns the best passages, quoted and cited, and runs a tool that is named
// with a slash. It implements the contract of a model, so that everything that
// works with a model also works on a computer that has none.
package quote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"lore/internal/llm"
	"lore/internal/note/summarize"
)

// ID names the model.
const ID = "quote"

// Search is the role of the tool that it searches with.
const Search = "search-notes"

// Info is what is known of it.
func Info() llm.Info {
	yes := true
	return llm.Info{Name: ID, Context: 1 << 20, Tools: &yes, Local: true, Mute: true}
}

// A Model quotes.
type Model struct{}

var _ llm.Model = Model{}

// ID is "quote".
func (Model) ID() string { return ID }

// Stream answers at once.
func (Model) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(llm.Event{}, err)
			return
		}
		p := answer(&r)
		stop := llm.Stopped
		if p.Kind == llm.ToolCall {
			stop = llm.WantsTool
		} else {
			for line := range strings.Lines(p.Text) {
				if !yield(llm.Event{Type: llm.TextDelta, Text: line}, nil) {
					return
				}
			}
		}
		free := 0.0
		_ = yield(llm.Event{Type: llm.PartDone, Part: &p}, nil) &&
			yield(llm.Event{Type: llm.Finish, Stop: stop, Usage: llm.Usage{CostUSD: &free}}, nil)
	}
}

func say(format string, args ...any) llm.Part {
	return llm.Part{Kind: llm.Text, Text: fmt.Sprintf(format, args...)}
}

const alone = "No language model is connected, so I can only quote your notes and run tools that you name."

// answer is what is said to a request.
func answer(r *llm.Request) llm.Part {
	asked, at := lastAsked(r)
	if done := results(r, at); done != nil {
		if strings.HasPrefix(asked, "/") {
			return told(done)
		}
		return quoted(asked, done)
	}
	if strings.HasPrefix(asked, "/") {
		return command(r, asked)
	}
	i := slices.IndexFunc(r.Tools, func(t llm.Tool) bool { return slices.Contains(t.Roles, Search) })
	if i < 0 || r.ToolChoice == "none" {
		return say("%s Search is not available, so I have nothing to quote.\n", alone)
	}
	args, err := json.Marshal(map[string]any{"query": asked, "top_k": 5})
	if err != nil {
		return say("%v", err)
	}
	return llm.Part{Kind: llm.ToolCall, ID: "search", Name: r.Tools[i].Name, Args: args}
}

// lastAsked is what the person said last, and where.
func lastAsked(r *llm.Request) (string, int) {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		if m.Role == llm.User && len(m.Parts) > 0 {
			return strings.TrimSpace(m.Parts[len(m.Parts)-1].Text), i
		}
	}
	return "", -1
}

// results are those of the calls since the person spoke.
func results(r *llm.Request, at int) []llm.Part {
	for i := len(r.Messages) - 1; i > at; i-- {
		if r.Messages[i].Role == llm.Results {
			return r.Messages[i].Parts
		}
	}
	return nil
}

// hit is one passage of a search.
type hit struct {
	Path, Title, Heading, Chunk, Excerpt string
	Score                                float64
}

// quoted answers with passages.
func quoted(asked string, parts []llm.Part) llm.Part {
	var found struct {
		Results []hit
		Error   string
	}
	if err := json.Unmarshal([]byte(parts[0].Text), &found); err != nil || found.Error != "" {
		return say("%s\n\nThe search failed: %s\n", alone, parts[0].Text)
	}
	// What is only a list of relations says nothing by itself.
	found.Results = slices.DeleteFunc(found.Results, func(h hit) bool {
		return h.Heading == "Relations" || strings.HasSuffix(h.Heading, " > Relations")
	})
	if len(found.Results) == 0 {
		return say("%s\n\nNo note matches %q. Try other words, or /help to see what I can run.\n", alone, asked)
	}
	var b strings.Builder
	b.WriteString("The best matching passages in your notes:\n")
	for i, h := range found.Results {
		if i == 3 {
			break
		}
		place := strings.TrimSuffix(h.Path, ".md")
		if parts := strings.Split(h.Heading, " > "); h.Heading != "" {
			place += "#" + parts[len(parts)-1]
		}
		text := cmp.Or(strings.TrimSpace(h.Chunk), strings.TrimSpace(h.Excerpt), h.Title)
		fmt.Fprintf(&b, "\n> %s\n\n[[%s]]\n", strings.ReplaceAll(summarize.Cut(text, 600), "\n", "\n> "), place)
	}
	if len(found.Results) > 3 {
		b.WriteString("\nSee also")
		for i, h := range found.Results[3:] {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, " [[%s]]", strings.TrimSuffix(h.Path, ".md"))
		}
		b.WriteString(".\n")
	}
	b.WriteString("\n" + alone + " /help lists them.\n")
	return llm.Part{Kind: llm.Text, Text: b.String()}
}

// told shows what a tool that the person named has answered.
func told(parts []llm.Part) llm.Part {
	var b strings.Builder
	for _, p := range parts {
		var v map[string]any
		if err := json.Unmarshal([]byte(p.Text), &v); err != nil {
			b.WriteString(p.Text + "\n")
			continue
		}
		ok, _ := v["success"].(bool)
		for _, key := range []string{"message", "error"} {
			if s, _ := v[key].(string); s != "" {
				b.WriteString(s + "\n")
			}
		}
		if s, _ := v["fix"].(string); s != "" && !strings.Contains(b.String(), s) {
			b.WriteString(s + "\n")
		}
		if op, _ := v["operation_id"].(string); op != "" {
			// What was done stands in the message and the history; its fields are for programs.
			fmt.Fprintf(&b, "Recorded as %s; it can be undone.\n", op)
			continue
		}
		for _, key := range []string{"success", "message", "error", "isError", "fix", "kind", "index", "changes"} {
			delete(v, key)
		}
		if len(v) == 0 || !ok && len(v) <= 1 {
			continue
		}
		out, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			continue
		}
		fmt.Fprintf(&b, "\n```json\n%s\n```\n", out)
	}
	return llm.Part{Kind: llm.Text, Text: b.String()}
}
