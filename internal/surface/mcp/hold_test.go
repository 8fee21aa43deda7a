package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
)

// A clock gives out the time by hand: whoever waits is seen, and waits until
// the test lets the time pass.
type clock struct{ asked chan wish }

type wish struct {
	d    time.Duration
	ring chan time.Time
}

func newClock() *clock { return &clock{asked: make(chan wish, 1000)} }

func (c *clock) after(d time.Duration) <-chan time.Time {
	w := wish{d, make(chan time.Time, 1)}
	c.asked <- w
	return w.ring
}

// next is the next wait of that length; others are left to wait for ever.
func (c *clock) next(d time.Duration) wish {
	for w := range c.asked {
		if w.d == d {
			return w
		}
	}
	panic("unreachable")
}

func (w wish) pass() { w.ring <- time.Time{} }

// calling makes a call that is not waited for.
func calling(ctx context.Context, cs *sdk.ClientSession, token any, name string, args any) <-chan any {
	out := make(chan any, 1)
	p := &sdk.CallToolParams{Name: name, Arguments: args}
	if token != nil {
		p.Meta = sdk.Meta{}
		p.SetProgressToken(token)
	}
	go func() {
		res, err := cs.CallTool(ctx, p)
		if err != nil {
			out <- err
			return
		}
		out <- res
	}()
	return out
}

// whole is all that a client gets to see of an answer.
func whole(t *testing.T, v any) string {
	t.Helper()
	res, ok := v.(*sdk.CallToolResult)
	if !ok {
		t.Fatalf("no answer: %v", v)
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return textOf(res) + "\n" + string(b)
}

// waiting is the one question that waits, once it does.
func waiting(t *testing.T, w *world) tool.Question {
	t.Helper()
	sub := w.bus.Subscribe(tool.TopicAsked)
	defer sub.Close()
	for {
		list, err := w.reg.Questions(t.Context(), tool.Pending)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > 0 {
			return list[len(list)-1]
		}
		if _, ok := sub.Next(t.Context().Done()); !ok {
			t.Fatal("nothing was asked")
		}
	}
}

var newNote = map[string]any{"path": "New.md", "content": "hello\n"}

// TestHeldCall lets a person answer elsewhere while a client without forms
// waits, in every era and over both transports.
func TestHeldCall(t *testing.T) {
	for _, over := range []string{"pipe", "http"} {
		for _, era := range eras[:2] {
			for _, c := range []struct {
				name  string
				say   *tool.Answer // nil: nobody answers
				token any
				made  bool
				want  string
			}{
				{"approved", &tool.Answer{Approve: true}, "t", true, `"operation_id"`},
				{"denied", &tool.Answer{Word: "not now"}, "t", false, `"user_feedback":"not now"`},
				{"nobody answers", nil, "t", false, `"pending_confirmation"`},
				{"nobody answers, no progress wanted", nil, nil, false, `"pending_confirmation"`},
			} {
				t.Run(over+" "+era+" "+c.name, func(t *testing.T) {
					w, clk := open(t), newClock()
					told := make(chan *sdk.ProgressNotificationParams, 100)
					copts := &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { told <- r.Params }}
					o := mcp.Options{Who: client(), Now: tooltest.Now, Hold: mcp.DefaultHold, After: clk.after}
					cs := joined(t, w, over, era, o, copts)
					done := calling(t.Context(), cs, c.token, "write_note", newNote)
					q := waiting(t, w)
					hold := mcp.DefaultHold
					if c.token == nil {
						hold = 20 * time.Second
					}
					end := clk.next(hold)
					if c.token != nil {
						first := <-told
						clk.next(5 * time.Second).pass()
						second := <-told
						if first.ProgressToken != c.token || second.Progress <= first.Progress || !strings.Contains(second.Message, q.Preview.Summary) || strings.Contains(second.Message, "lore ") {
							t.Errorf("told %+v, %+v", first, second)
						}
					}
					if c.say != nil {
						if _, err := w.reg.Answer(t.Context(), access.Terminal(), q.ID, *c.say); err != nil {
							t.Fatal(err)
						}
					} else {
						end.pass()
					}
					if got := whole(t, <-done); !strings.Contains(got, c.want) {
						t.Errorf("answered %s", got)
					}
					if made := read(t, w.dir, "New.md") != ""; made != c.made {
						t.Errorf("made: %v", made)
					}
				})
			}
		}
	}
}

// joined connects a client over pipes or over HTTP.
func joined(t *testing.T, w *world, over, era string, o mcp.Options, c *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	if over == "pipe" {
		return connect(t, mcp.New(w.door, o), era, c)
	}
	cs, err := dial(t, serve(t, w, o).url+"/mcp", "test", era, c)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// TestCancelledHold: a client that stops waiting takes nothing back.
func TestCancelledHold(t *testing.T) {
	for _, era := range eras {
		w, clk := open(t), newClock()
		cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now, Hold: mcp.DefaultHold, After: clk.after}), era, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := calling(ctx, cs, nil, "write_note", newNote)
		q := waiting(t, w)
		cancel()
		if _, ok := (<-done).(error); !ok {
			t.Error("a cancelled call answered")
		}
		if _, err := w.reg.Answer(t.Context(), access.Terminal(), q.ID, tool.Answer{Approve: true}); err != nil || read(t, w.dir, "New.md") == "" {
			t.Errorf("%s: the question went with the call: %v", era, err)
		}
	}
}

// TestHeldQuestionThatIsAskedAgain: the note changes under the question, the
// person approves what is then shown, and the call gets that answer.
func TestHeldQuestionThatIsAskedAgain(t *testing.T) {
	w, clk := open(t, func(dir string) { write(t, dir, "A.md", "one\n") }), newClock()
	cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now, Hold: mcp.DefaultHold, After: clk.after}), eras[0], nil)
	done := calling(t.Context(), cs, nil, "edit_note", map[string]any{"path": "A.md", "search": "one", "replace": "two"})
	q := waiting(t, w)
	write(t, w.dir, "A.md", "one\nand mine\n")
	res, err := w.reg.Answer(t.Context(), access.Terminal(), q.ID, tool.Answer{Approve: true})
	if err != nil || res.Question == nil {
		t.Fatal(err, res)
	}
	if _, err := w.reg.Answer(t.Context(), access.Terminal(), q.ID, tool.Answer{Approve: true, Revision: res.Question.Revision}); err != nil {
		t.Fatal(err)
	}
	if r, ok := (<-done).(*sdk.CallToolResult); !ok || r.IsError || read(t, w.dir, "A.md") != "two\nand mine\n" {
		t.Errorf("%+v", r)
	}
}

// TestSentToThePage: a client that can only open addresses is sent to our page,
// and what it says about that approves nothing.
func TestSentToThePage(t *testing.T) {
	for _, over := range []string{"pipe", "http"} {
		for _, era := range eras[:2] {
			for _, c := range []struct {
				name, action string
				answer       *tool.Answer // of the person at the page
				made         bool
				want         string
			}{
				{"said accept, and nobody approved", "accept", nil, false, `"pending_confirmation"`},
				{"would not open it", "decline", nil, false, `"pending_confirmation"`},
				{"approved at the page", "accept", &tool.Answer{Approve: true}, true, `operation`},
				{"denied at the page", "accept", &tool.Answer{}, false, `"isError":false`},
				{"approved, and the client says cancel", "cancel", &tool.Answer{Approve: true}, true, `operation`},
			} {
				t.Run(over+" "+era+" "+c.name, func(t *testing.T) {
					w := open(t)
					var sent *sdk.ElicitParams
					copts := &sdk.ClientOptions{
						Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
						ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
							sent = r.Params
							if c.answer != nil {
								id := sent.URL[strings.LastIndex(sent.URL, "/")+1:]
								if _, err := w.reg.Answer(t.Context(), access.Terminal(), id, *c.answer); err != nil {
									t.Error(err)
								}
							}
							return &sdk.ElicitResult{Action: c.action}, nil
						},
					}
					o := mcp.Options{Who: client(), Now: tooltest.Now, Where: func(id string) string { return "http://127.0.0.1:7777/approvals/" + id }}
					cs := joined(t, w, over, era, o, copts)
					// What destroys may be answered there, too: a person does.
					res := call(t, cs, "delete_note", map[string]any{"path": "Matcha"})
					if sent == nil || sent.Mode != "url" || !strings.HasPrefix(sent.URL, "http://127.0.0.1:7777/approvals/pending-") {
						t.Fatalf("sent %+v", sent)
					}
					if gone := read(t, w.dir, "Notes/Matcha.md") == ""; gone != c.made || res.IsError || !strings.Contains(textOf(res), c.want) {
						t.Errorf("gone %v: %s", gone, textOf(res))
					}
					if c.answer == nil && !strings.Contains(textOf(res), `"approve_url":"`+sent.URL+`"`) {
						t.Errorf("no address: %s", textOf(res))
					}
				})
			}
		}
	}
}

// TestPageStateIsNoConsent brings the state that was made for the page back
// with the answer to a form.
func TestPageStateIsNoConsent(t *testing.T) {
	w := open(t, func(dir string) { write(t, dir, "A.md", "one\n") })
	anna := serve(t, w, mcp.Options{Now: tooltest.Now, Where: func(id string) string { return "https://notes.test/approvals/" + id }})
	anna.can = `{"elicitation":{"url":{}}}`
	const args = `{"path":"A.md","search":"one","replace":"two"}`
	state := anna.ask(args)
	for _, more := range []string{yes(state), strings.ReplaceAll(yes(state), `"confirm":{"action"`, `"page":{"action"`)} {
		if _, body := anna.call(args, more); read(t, w.dir, "A.md") != "one\n" || !strings.Contains(body, "pending_confirmation") {
			t.Errorf("%s", body)
		}
	}
}
