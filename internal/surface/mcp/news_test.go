package mcp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
)

// An ear is a client that hears of everything.
type ear struct {
	updated   chan string
	resources chan struct{}
	prompts   chan struct{}
	tools     chan struct{}
	agreed    chan struct{} // a stream of news was opened
}

func newEar() *ear {
	many := func() chan struct{} { return make(chan struct{}, 100) }
	return &ear{make(chan string, 100), many(), many(), many(), many()}
}

func (e *ear) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{
		ResourceUpdatedHandler:     func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { e.updated <- r.Params.URI },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) { e.resources <- struct{}{} },
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) { e.tools <- struct{}{} },
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) { e.prompts <- struct{}{} },
	}
}

// hook lets the ear hear what the library keeps to itself.
func (e *ear) hook(c *sdk.Client) {
	c.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				e.agreed <- struct{}{}
			}
			return next(ctx, method, req)
		}
	})
}

// followed connects a client over a transport to a server that hears the news.
func followed(t *testing.T, w *world, over, era string, o mcp.Options, e *ear) *sdk.ClientSession {
	t.Helper()
	o.Bus = w.bus
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	if over == "pipe" {
		s := mcp.New(w.door, o)
		wg.Go(func() { s.Follow(ctx, w.bus) })
		return connect(t, s, era, e.options(), e.hook)
	}
	srv, h := served(t, w, o)
	wg.Go(func() { h.Follow(ctx) })
	cs, err := dial(t, srv.url+"/mcp", "test", era, e.options(), e.hook)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// listen subscribes to a note, in the way of the era. Lists are listened to
// since the client was connected.
func (e *ear) listen(t *testing.T, cs *sdk.ClientSession, uri string) {
	t.Helper()
	recent := cs.InitializeResult().ProtocolVersion >= "2026-07-28"
	if recent {
		<-e.agreed // to the lists
	}
	if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	if recent {
		<-e.agreed
	}
}

func TestNewsOfNotes(t *testing.T) {
	for _, over := range []string{"pipe", "http"} {
		for _, era := range eras[:2] {
			t.Run(over+" "+era, func(t *testing.T) {
				w, clk, e := open(t), newClock(), newEar()
				cs := followed(t, w, over, era, mcp.Options{Who: client(), Now: tooltest.Now, After: clk.after}, e)
				const uri = "note:///Notes/Matcha.md"
				e.listen(t, cs, uri)
				settle := func(paths ...string) {
					t.Helper()
					if err := w.settle(t.Context(), paths); err != nil {
						t.Fatal(err)
					}
				}
				// Two saves in a moment are one piece of news, and other notes are none.
				write(t, w.dir, "Notes/Matcha.md", "one\n")
				settle("Notes/Matcha.md")
				soon := clk.next(200 * time.Millisecond)
				write(t, w.dir, "Notes/Matcha.md", "one, two\n")
				write(t, w.dir, "Notes/Oolong.md", "other\n")
				settle("Notes/Matcha.md", "Notes/Oolong.md")
				// News is told in its order: when this is heard, so was all before it.
				if err := w.reg.Switch("rename_note", false); err != nil {
					t.Fatal(err)
				}
				<-e.tools
				soon.pass()
				if got := <-e.updated; got != uri {
					t.Errorf("heard of %s", got)
				}
				// A new note changes the list, a moment later; its removal is news of both.
				write(t, w.dir, "Brand new.md", "x\n")
				settle("Brand new.md")
				clk.next(200 * time.Millisecond).pass()
				clk.next(time.Second).pass()
				<-e.resources
				if err := os.Remove(filepath.Join(w.dir, "Notes", "Matcha.md")); err != nil {
					t.Fatal(err)
				}
				settle("Notes/Matcha.md")
				clk.next(200 * time.Millisecond).pass()
				clk.next(time.Second).pass()
				<-e.resources
				if got := <-e.updated; got != uri {
					t.Errorf("heard of %s", got)
				}
				// What nobody heard may have changed the list.
				w.bus.Publish(tool.TopicMissed, struct{}{}, true)
				clk.next(200 * time.Millisecond).pass()
				clk.next(time.Second).pass()
				<-e.resources
				if n := len(e.updated) + len(e.resources); n > 0 {
					t.Errorf("%d more pieces of news", n)
				}
			})
		}
	}
}

// TestNoNewsOfWhatIsNoLongerShared: a client hears nothing more of a note that it
// subscribed to when the note is not shared with it any more.
func TestNoNewsOfWhatIsNoLongerShared(t *testing.T) {
	w, clk, e := open(t), newClock(), newEar()
	var taken atomic.Bool
	cs := followed(t, w, "pipe", eras[1], mcp.Options{Who: client(), Now: tooltest.Now, After: clk.after, Knows: func(_ context.Context, who access.Principal, paths []string) []string {
		if who.ID != client().ID {
			t.Errorf("asked for %+v", who)
		}
		return slices.DeleteFunc(paths, func(p string) bool { return taken.Load() && p == "Notes/Matcha.md" })
	}}, e)
	e.listen(t, cs, "note:///Notes/Matcha.md")
	e.listen(t, cs, "note:///Notes/Oolong.md")
	for _, want := range []string{"note:///Notes/Matcha.md", "note:///Notes/Oolong.md"} {
		write(t, w.dir, "Notes/Matcha.md", want)
		changed := []string{"Notes/Matcha.md"}
		if taken.Load() {
			write(t, w.dir, "Notes/Oolong.md", want)
			changed = append(changed, "Notes/Oolong.md")
		}
		if err := w.settle(t.Context(), changed); err != nil {
			t.Fatal(err)
		}
		clk.next(200 * time.Millisecond).pass()
		if got := <-e.updated; got != want {
			t.Errorf("heard of %s", got)
		}
		taken.Store(true)
	}
	select {
	case got := <-e.updated:
		t.Errorf("heard of %s too", got)
	default:
	}
}

// TestNoNewsOfAListThatStaysTheSame: that a note came or went which is not shared with
// a client is no news for it.
func TestNoNewsOfAListThatStaysTheSame(t *testing.T) {
	w, clk, e := open(t), newClock(), newEar()
	cs := followed(t, w, "pipe", eras[1], mcp.Options{Who: client(), Now: tooltest.Now, After: clk.after, Knows: func(_ context.Context, _ access.Principal, paths []string) []string {
		return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return strings.HasPrefix(p, "Private/") })
	}}, e)
	e.listen(t, cs, "note:///Notes/Matcha.md")
	put := func(name string) {
		t.Helper()
		write(t, w.dir, name, "x\n")
		if err := w.settle(t.Context(), []string{name}); err != nil {
			t.Fatal(err)
		}
		clk.next(200 * time.Millisecond).pass()
		clk.next(time.Second).pass()
	}
	put("Private/New.md")
	// News is told in its order: when this is heard, so was all before it.
	if err := w.reg.Switch("rename_note", false); err != nil {
		t.Fatal(err)
	}
	<-e.tools
	if n := len(e.resources); n > 0 {
		t.Errorf("%d pieces of news of a note that is not shared", n)
	}
	put("Seen.md")
	<-e.resources
}

// TestNoNewsOfWhatIsNotThere subscribes to what is missing, hidden, or not for
// the eyes of the caller.
func TestNoNewsOfWhatIsNotThere(t *testing.T) {
	w := open(t)
	srv := serve(t, w, mcp.Options{Now: tooltest.Now})
	cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now}), eras[1], nil)
	for _, uri := range []string{
		"note:///no.md", "note:///Notes/Matcha", "note:///.obsidian/app.md", "note:///../x.md", "note:///Notes/Oolong.md?heading=x",
		"note:///Notes/M%61tcha.md", "note://host/Notes/Matcha.md", "file:///etc/passwd",
	} {
		var rpc *jsonrpc.Error
		if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: %v", uri, err)
		}
		if _, body := srv.send("subscriptions/listen", "", `"notifications":{"resourceSubscriptions":["`+uri+`"]}`); !strings.Contains(body, "-32602") {
			t.Errorf("%s: %s", uri, body)
		}
	}
	blind := connect(t, mcp.New(w.door, mcp.Options{Who: client(access.Write), Now: tooltest.Now}), eras[1], nil)
	var rpc *jsonrpc.Error
	if err := blind.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "note:///Notes/Matcha.md"}); !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("without the right to read: %v", err)
	}
	for _, uri := range []string{"note:///%C3%9Cn%C3%AF%20code/50%25%20&%20%5Bx%5D%20%231.md", "note:///Notes/Matcha.md"} {
		if err := cs.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func promptsOf(t *testing.T, cs *sdk.ClientSession) map[string]*sdk.Prompt {
	t.Helper()
	list, err := cs.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*sdk.Prompt{}
	for _, p := range list.Prompts {
		if p.Description == "" {
			t.Errorf("%s has no description", p.Name)
		}
		out[p.Name] = p
	}
	return out
}

func TestPromptsAreNotes(t *testing.T) {
	for _, over := range []string{"pipe", "http"} {
		for _, era := range eras[:2] {
			t.Run(over+" "+era, func(t *testing.T) {
				w := open(t, func(dir string) {
					write(t, dir, "Prompts/Sub/Ask me.md", "---\ndescription: Ask about a thing.\narguments:\n  topic: What about\n---\nAsk about {{topic}} for {{who?}}.\n")
					write(t, dir, "Prompts/daily_review.md", "Mine.\n") // as one of ours is called
					write(t, dir, "Elsewhere/Other.md", "no prompt {{x}}\n")
				})
				clk, e := newClock(), newEar()
				cs := followed(t, w, over, era, mcp.Options{Who: client(), Now: tooltest.Now, After: clk.after}, e)
				list := promptsOf(t, cs)
				p := list["sub-ask_me"]
				if p == nil || p.Description != "Ask about a thing." || len(p.Arguments) != 2 || !p.Arguments[0].Required || p.Arguments[1].Required || p.Arguments[0].Description != "What about" {
					t.Fatalf("listed: %+v in %v", p, list)
				}
				if len(list) != 7 || list["weekly_summary"] == nil || list["weekly_review"] == nil {
					t.Errorf("listed: %v", list)
				}
				got, err := cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "sub-ask_me", Arguments: map[string]string{"topic": "{{who}}", "who": "me"}})
				if err != nil || got.Description == "" || got.Messages[0].Content.(*sdk.TextContent).Text != "Ask about {{who}} for me." {
					t.Errorf("filled: %+v %v", got, err)
				}
				var rpc *jsonrpc.Error
				if _, err := cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "sub-ask_me"}); !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
					t.Errorf("without what is needed: %v", err)
				}
				// More often than what was registered at the start is told.
				for i := range 5 {
					write(t, w.dir, "Prompts/Fresh.md", strings.Repeat("A fresh one. ", i+1))
					if err := w.settle(t.Context(), []string{"Prompts/Fresh.md"}); err != nil {
						t.Fatal(err)
					}
					clk.next(200 * time.Millisecond).pass()
					<-e.prompts
				}
				if p := promptsOf(t, cs)["fresh"]; p == nil || !strings.HasPrefix(p.Description, "A fresh one.") {
					t.Errorf("fresh: %+v", p)
				}
				if err := os.Remove(filepath.Join(w.dir, "Prompts", "Fresh.md")); err != nil {
					t.Fatal(err)
				}
				if err := w.settle(t.Context(), []string{"Prompts/Fresh.md"}); err != nil {
					t.Fatal(err)
				}
				if promptsOf(t, cs)["fresh"] != nil {
					t.Error("a prompt without a note") // nobody has told, it was looked at
				}
			})
		}
	}
}

func TestCompletionOfPathsAndTags(t *testing.T) {
	w := open(t, func(dir string) {
		for i := range 130 {
			write(t, dir, "Tags/"+string(rune('a'+i%26))+string(rune('a'+i/26))+".md", "#many/t"+string(rune('a'+i%26))+string(rune('a'+i/26))+"\n")
		}
		write(t, dir, "Tags/special.md", "#project/alpha #alphabet\n")
	})
	cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now}), eras[0], nil)
	for _, c := range []struct {
		name, typed string
		first       string // "" when nothing fits
		more        bool
	}{
		{"path", "Notes/Mat", "Notes/Matcha.md", false},
		{"path", "Notes/mtch", "Notes/Matcha.md", false}, // letters in their order
		{"path", "Tags/", "Tags/aa.md", true},
		{"tag", "#alph", "alphabet", false},
		{"tags", "proj", "project", false},
		{"tag", "many/", "many/taa", true},
		{"tag", "prjalp", "project/alpha", false},
		{"tag", "xyz-none", "", false},
		{"colour", "r", "", false},
	} {
		res, err := cs.Complete(t.Context(), &sdk.CompleteParams{
			Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "weekly_summary"}, Argument: sdk.CompleteParamsArgument{Name: c.name, Value: c.typed},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := res.Completion
		if c.first == "" && len(got.Values) > 0 || c.first != "" && (len(got.Values) == 0 || got.Values[0] != c.first) || got.HasMore != c.more || len(got.Values) > 100 {
			t.Errorf("%s %q: %+v", c.name, c.typed, got)
		}
	}
}

func TestPartsOfNotes(t *testing.T) {
	w := open(t, func(dir string) {
		write(t, dir, "A b.md", "# One\n\nfirst ^x1\n\n## Deep & wide\n\ndeep\n\n# Two\n\nsecond\n")
	})
	for _, era := range eras[:2] {
		cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now}), era, nil)
		templates, err := cs.ListResourceTemplates(t.Context(), nil)
		if err != nil || !slices.ContainsFunc(templates.ResourceTemplates, func(r *sdk.ResourceTemplate) bool { return r.URITemplate == "note:///{+path}{?heading,block}" }) {
			t.Errorf("templates: %+v %v", templates, err)
		}
		for uri, want := range map[string]string{
			"note:///A%20b.md?heading=Two":                   "# Two\n\nsecond\n",
			"note:///A%20b.md?heading=One+%3E+Deep+%26+wide": "## Deep & wide\n\ndeep\n\n",
			"note:///A%20b.md?block=x1":                      "first ^x1",
			"note:///A%20b.md?block=%5Ex1":                   "first ^x1",
			"note:///A%20b.md?heading=None":                  "",
			"note:///A%20b.md?heading=One&block=x1":          "",
			"note:///A%20b.md?heading=":                      "",
			"note:///A%20b.md?limit=1":                       "",
		} {
			res, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			var rpc *jsonrpc.Error
			switch {
			case want == "" && (!errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams):
				t.Errorf("%s: %v", uri, err)
			case want != "" && (err != nil || res.Contents[0].Text != want):
				t.Errorf("%s: %q %v", uri, res.Contents[0].Text, err)
			}
		}
	}
}
