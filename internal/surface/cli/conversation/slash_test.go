package conversation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/llm/llmtest"
	"lore/internal/llm/quote"
	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/notes"
	"lore/internal/tools/work"
)

// A talker is a vault, a model that follows a script, and a person who types lines and
// says yes to everything.
type talker struct {
	dir     string
	s       *Session
	model   *llmtest.Model
	out     bytes.Buffer
	notices bytes.Buffer
	asked   []string // which models
}

func newTalker(t *testing.T, steps ...llmtest.Step) *talker {
	t.Helper()
	w := &talker{dir: t.TempDir(), model: llmtest.New(steps...)}
	if err := os.WriteFile(filepath.Join(w.dir, "Tea.md"), []byte("# Tea\n\nNever boil green tea.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := tooltest.Open(t, w.dir, nil)
	deps := p.Deps()
	reg := tool.NewRegistry(deps, notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}),
		work.Tools(work.Env{History: p.History, Questions: p.Questions, Vault: p.Vault, Now: tooltest.Now}))
	file := state.In(t.TempDir())
	t.Cleanup(func() { _ = file.Close() })
	n := 0
	w.s = &Session{Door: reg, Agent: &agent.Agent{
		Store: chat.New(file, nil), Door: reg, Now: time.Now, Log: slog.New(slog.DiscardHandler), Holder: "test", Parallel: 1,
		Model: func(_ context.Context, id string) (llm.Model, llm.Info, error) {
			switch w.asked = append(w.asked, id); id {
			case quote.ID:
				return quote.Model{}, quote.Info(), nil
			case "nobody":
				return nil, llm.Info{}, fault.New(fault.NotFound, "unknown provider")
			}
			return w.model, llm.Info{Context: 100_000, Local: true}, nil
		},
		Prefs:  func() (agent.Prefs, error) { return agent.Prefs{NoTitles: true}, nil },
		ID:     func(word string) string { n++; return fmt.Sprintf("%s-%d", word, n) },
		Scopes: []access.Scope{access.Read, access.Write, access.Destroy},
	}}
	return w
}

// types is a whole session at the terminal.
func (w *talker) types(t *testing.T, o *options, lines ...string) error {
	t.Helper()
	w.out.Reset()
	w.notices.Reset()
	typed := make(chan string, len(lines))
	for _, l := range lines {
		typed <- l
	}
	close(typed)
	term := Terminal{
		Lines: func() <-chan string { return typed },
		Decide: func(ctx context.Context, q tool.Question) (tool.Result, error) {
			return w.s.Door.Answer(ctx, access.Terminal(), q.ID, tool.Answer{Approve: true, Revision: q.Revision})
		},
		Pending: errors.New("pending"), Denied: errors.New("denied"), Undone: errors.New("undone"),
	}
	term.Out, term.Err, term.AtTerminal = &w.out, &w.notices, true
	resume := ""
	if all, err := w.s.Agent.Store.List(t.Context(), 1, 0); err == nil && len(all) > 0 {
		resume = "last"
	}
	_, err := o.talk(t.Context(), w.s, term, resume)
	return err
}

func (w *talker) tea(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, "Tea.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func edits(search, replace string) llmtest.Step {
	args, _ := json.Marshal(map[string]string{"path": "Tea", "search": search, "replace": replace})
	return llmtest.Step{Calls: []llm.Part{{Kind: llm.ToolCall, ID: "a" + replace, Name: "edit_note", Args: args}}}
}

// TestCommandsOfAChat: a line with a slash is a command where a model answers, and the
// model never gets it.
func TestCommandsOfAChat(t *testing.T) {
	t.Parallel()
	w := newTalker(t, llmtest.Text("Hello."))
	if err := w.types(t, &options{tools: true}, "/help", "/tools", "/nonsense x", "/undo", "/compact", "/model nobody", "/model other/one", "Hi", "/quit", "never read"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/compact     summarize older", "unknown command /nonsense; /help lists the commands", "this chat has no changes to undo", "There is nothing to summarize yet", "unknown provider", "Model: test/script"} {
		if !strings.Contains(w.notices.String(), want) {
			t.Errorf("no %q in\n%s", want, w.notices.String())
		}
	}
	if !strings.Contains(w.out.String(), "read_note (notes): Read one note") || !strings.Contains(w.out.String(), "Hello.") {
		t.Errorf("%s", w.out.String())
	}
	if n := len(w.model.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	if c, err := w.s.Agent.Store.List(t.Context(), 1, 0); err != nil || len(c) != 1 || c[0].Model != "other/one" {
		t.Errorf("%v %+v", err, c)
	}
}

// TestSlashesWithoutAModel: what is no command runs a tool, and help lists both.
func TestSlashesWithoutAModel(t *testing.T) {
	t.Parallel()
	w := newTalker(t)
	if err := w.types(t, &options{model: quote.ID, tools: true}, "/help", "/read_note Tea", "/compact"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.notices.String(), "/undo ") || !strings.Contains(w.out.String(), "/rename_note") || !strings.Contains(w.out.String(), "Never boil green tea") ||
		!strings.Contains(w.notices.String(), "without a model, there is nothing to summarize") {
		t.Errorf("%s\n%s", w.out.String(), w.notices.String())
	}
}

// TestUndoInAChat: each /undo takes back one request more, and nothing twice.
func TestUndoInAChat(t *testing.T) {
	t.Parallel()
	w := newTalker(t, edits("green tea", "sencha"), llmtest.Text("Done."), edits("Never", "Do not"), llmtest.Text("Done."), llmtest.Text("It is hot."))
	before := w.tea(t)
	if err := w.types(t, &options{tools: true}, "Say sencha", "Say do not", "How hot?"); err != nil {
		t.Fatal(err)
	}
	if got := w.tea(t); !strings.Contains(got, "Do not boil sencha") {
		t.Fatalf("%s\n%s", got, w.notices.String())
	}
	for i, want := range []string{"Never boil sencha", "Never boil green tea", "Never boil green tea"} {
		if err := w.types(t, &options{tools: true}, "/undo"); err != nil {
			t.Fatal(err)
		}
		if got := w.tea(t); !strings.Contains(got, want) || strings.Contains(w.notices.String(), "Undone") != (i < 2) {
			t.Errorf("%d: %s\n%s", i, got, w.notices.String())
		}
	}
	if got := w.tea(t); got != before || !strings.Contains(w.notices.String(), "no changes to undo") {
		t.Errorf("%q\n%s", got, w.notices.String())
	}
}

// TestCompactInAChat: what was said before is told in short from then on, word for word
// in what the person asked.
func TestCompactInAChat(t *testing.T) {
	t.Parallel()
	w := newTalker(t, llmtest.Text("First answer, xyzzy."), llmtest.Text("Second answer."), llmtest.Text("A SUMMARY"), llmtest.Text("Third answer."))
	if err := w.types(t, &options{tools: true}, "First question", "Second question", "/compact", "/compact", "Third question"); err != nil {
		t.Fatal(err)
	}
	if got := w.notices.String(); !strings.Contains(got, "summarized from here on") || !strings.Contains(got, "nothing to summarize yet") {
		t.Errorf("%s", got)
	}
	list := w.model.Requests()
	if len(list) != 4 {
		t.Fatalf("%d requests", len(list))
	}
	text := ""
	for _, m := range list[3].Messages {
		for _, p := range m.Parts {
			text += p.Text
		}
	}
	if !strings.Contains(text, "A SUMMARY") || !strings.Contains(text, "First question") || !strings.Contains(text, "Second answer.") || strings.Contains(text, "xyzzy") {
		t.Errorf("%s", text)
	}
}
