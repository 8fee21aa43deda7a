package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/event"
	"lore/internal/index"
	"lore/internal/surface/mcp"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/explore"
	"lore/internal/tools/notes"
	"lore/internal/tools/organize"
	"lore/internal/vault/sample"
)

// eras are the versions of the protocol that are spoken.
var eras = []string{"2026-07-28", "2025-11-25", "2025-06-18"}

// A Hang waits until it is told to stop.
type Hang struct{}

type hung struct{}

func (Hang) Run(ctx context.Context, began chan<- context.Context) (hung, error) {
	began <- ctx
	<-ctx.Done()
	return hung{}, ctx.Err()
}

// A world is a real vault with a real registry.
type world struct {
	later atomic.Int64 // how much time has passed
	dir   string
	reg   *tool.Registry
	bus   *event.Bus
	began chan context.Context
	// settle lets the index see files that someone else changed.
	settle func(ctx context.Context, paths []string) error
}

func open(t *testing.T, fill ...func(dir string)) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), began: make(chan context.Context, 1)}
	if err := sample.Copy(w.dir); err != nil {
		t.Fatal(err)
	}
	write(t, w.dir, "Ünï code/50% & [x] #1.md", "# Odd name\n\nIt has a body.\n")
	for _, f := range fill {
		f(w.dir)
	}
	p := tooltest.Open(t, w.dir, nil)
	d := p.Deps()
	d.Bus, w.bus, w.settle = p.Bus, p.Bus, d.Reindex
	d.Now = func() time.Time { return tooltest.Now().Add(time.Duration(w.later.Load())) }
	d.Untrusted = index.Untrusted(p.Store)
	w.reg = tool.NewRegistry(d,
		notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}),
		explore.Tools(explore.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh}),
		organize.Tools(organize.Env{Vault: p.Vault, Store: p.Store}),
		tool.Toolset("test", map[string]tool.Comment{"Hang": {Text: "Hang waits."}}, tool.Read[Hang](chan<- context.Context(w.began))),
	)
	return w
}

func (w *world) door() tool.Door { return w.reg }

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func client(scopes ...access.Scope) access.Principal {
	if len(scopes) == 0 {
		scopes = []access.Scope{access.Read, access.Write, access.Destroy}
	}
	return access.Principal{Kind: access.MCP, ID: "test", Surface: "mcp", Scopes: scopes}
}

// connect runs a server for one client, over two pipes as a child would have.
func connect(t *testing.T, s *mcp.Server, era string, o *sdk.ClientOptions, hooks ...func(*sdk.Client)) *sdk.ClientSession {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Run(t.Context(), inR, outW); err != nil {
			t.Error(err)
		}
	})
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	for _, h := range hooks {
		h(c)
	}
	cs, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: outR, Writer: inW}, &sdk.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cs.Close()
		_ = inW.Close()
		_ = outW.Close()
		wg.Wait()
	})
	if got := cs.InitializeResult().ProtocolVersion; got != era {
		t.Fatalf("speaks %s, want %s", got, era)
	}
	return cs
}

func call(t *testing.T, cs *sdk.ClientSession, name string, args any) *sdk.CallToolResult {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func textOf(res *sdk.CallToolResult) string {
	var out []string
	for _, c := range res.Content {
		out = append(out, c.(*sdk.TextContent).Text)
	}
	return strings.Join(out, "\n---\n")
}

func toolsOf(t *testing.T, cs *sdk.ClientSession) (names []string) {
	t.Helper()
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range list.Tools {
		names = append(names, tl.Name)
	}
	return names
}

func TestToolsInEveryEra(t *testing.T) {
	w := open(t)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now}), era, nil)
			c := cs.InitializeResult().Capabilities
			//lint:ignore SA1019 that it is not offered is the point
			if c.Logging != nil || c.Tools == nil || !c.Tools.ListChanged || c.Completions == nil {
				t.Errorf("capabilities %+v", c)
			}
			names := toolsOf(t, cs)
			if len(names) != 14 || !slices.IsSorted(names) {
				t.Errorf("default tools: %v", names)
			}
			res := call(t, cs, "read_note", map[string]any{"path": "Matcha", "limit": 5})
			if whole, _ := res.StructuredContent.(map[string]any); len(res.Content) != 2 || whole["text"] != res.Content[0].(*sdk.TextContent).Text || !strings.HasPrefix(textOf(res), "---\naliases:") {
				t.Errorf("read: %+v %s", res, textOf(res))
			}
			var facts map[string]any
			if err := json.Unmarshal([]byte(res.Content[1].(*sdk.TextContent).Text), &facts); err != nil || facts["path"] != "Notes/Matcha.md" || facts["text"] != nil {
				t.Errorf("facts %v %v", facts, err)
			}
			res = call(t, cs, "search_notes", map[string]any{"query": "bitter", "top_k": 2})
			found, ok := res.StructuredContent.(map[string]any)
			if !ok || len(found["results"].([]any)) != 2 || !strings.Contains(textOf(res), ".md") {
				t.Errorf("search: %+v", res)
			}
			res = call(t, cs, "read_note", map[string]any{"path": "no such note", "colour": "red"})
			if !res.IsError || !strings.Contains(textOf(res), `"kind":"invalid"`) {
				t.Errorf("a mistake: %s", textOf(res))
			}
			for name, want := range map[string]string{
				"find_orphans": "the tool find_orphans is in the toolset explore, which is not offered to this client; add it with --toolsets default,explore, or at /mcp/x/default,explore",
				"serach_notes": "did you mean search_notes",
			} {
				if _, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: name}); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

func TestHintsAreExplicitAndCheap(t *testing.T) {
	w := open(t)
	cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now}), eras[0], nil)
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if list.CacheScope != "private" {
		t.Errorf("cache scope %q", list.CacheScope)
	}
	total := 0
	for _, tl := range list.Tools {
		b, err := json.Marshal(map[string]any{"name": tl.Name, "description": tl.Description, "inputSchema": tl.InputSchema})
		if err != nil {
			t.Fatal(err)
		}
		total += (len(b) + 3) / 4
		known, err := w.reg.Find(tl.Name)
		if err != nil {
			t.Fatal(err)
		}
		a, reads := tl.Annotations, known.Effect == access.Reads
		if a == nil || a.ReadOnlyHint != reads || a.DestructiveHint == nil || *a.DestructiveHint == reads || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: hints %+v", tl.Name, a)
		}
	}
	t.Logf("%d tools, %d tokens; instructions %d", len(list.Tools), total, (len(cs.InitializeResult().Instructions)+3)/4)
	if total > 2100 {
		t.Errorf("the default toolset costs %d tokens, 2100 is the limit", total)
	}
	if n := (len(cs.InitializeResult().Instructions) + 3) / 4; n > 60 {
		t.Errorf("the instructions cost %d tokens", n)
	}
}

func TestChoiceOfTools(t *testing.T) {
	w := open(t)
	reader := client(access.Read)
	for _, c := range []struct {
		name string
		o    mcp.Options
		has  []string
		not  []string
	}{
		{"read only", mcp.Options{Who: client(), ReadOnly: true, Tools: []string{"merge_notes"}}, []string{"read_note"}, []string{"write_note", "merge_notes"}},
		{"no right to write", mcp.Options{Who: reader, Toolsets: []string{"all"}}, []string{"read_note", "list_notes"}, []string{"write_note", "move_folder"}},
		{"one more", mcp.Options{Who: client(), Tools: []string{"find_orphans"}}, []string{"find_orphans", "read_note"}, []string{"find_path"}},
		{"one less", mcp.Options{Who: client(), Exclude: []string{"delete_note"}}, []string{"read_note"}, []string{"delete_note"}},
		{"another set", mcp.Options{Who: client(), Toolsets: []string{"explore"}}, []string{"list_notes"}, []string{"read_note", "move_folder"}},
		{"a former name", mcp.Options{Who: client(), Toolsets: []string{"find"}}, []string{"list_notes", "move_folder"}, []string{"read_note"}},
		{"nobody", mcp.Options{Toolsets: []string{"all"}}, nil, []string{"read_note"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			names := toolsOf(t, connect(t, mcp.New(w.door, c.o), eras[0], nil))
			for _, n := range c.has {
				if !slices.Contains(names, n) {
					t.Errorf("%s is missing", n)
				}
			}
			for _, n := range c.not {
				if slices.Contains(names, n) {
					t.Errorf("%s is offered", n)
				}
			}
		})
	}
	if err := (mcp.Options{Toolsets: []string{"nots"}}).Check(w.reg.All()); err == nil || !strings.Contains(err.Error(), "notes") {
		t.Errorf("an unknown toolset: %v", err)
	}
}

func TestListChanged(t *testing.T) {
	w := open(t)
	for _, era := range eras[1:] {
		heard := make(chan struct{}, 8)
		s := mcp.New(w.door, mcp.Options{Who: client()})
		cs := connect(t, s, era, &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { heard <- struct{}{} }})
		if err := w.reg.Switch("rename_note", false); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { s.Follow(ctx, w.bus) })
		<-heard // of what changed before anyone listened
		if slices.Contains(toolsOf(t, cs), "rename_note") {
			t.Error("a tool that is off is offered")
		}
		if err := w.reg.Switch("rename_note", true); err != nil {
			t.Fatal(err)
		}
		<-heard // of news
		cancel()
		wg.Wait()
		// Without anyone who listens, the list is looked at when it is asked for.
		if err := w.reg.Switch("rename_note", false); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(toolsOf(t, cs), "rename_note") {
			t.Error("an old list was sent")
		}
		if err := w.reg.Switch("rename_note", true); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCancelledCall(t *testing.T) {
	w := open(t)
	for _, over := range []string{"pipe", "http"} {
		for _, era := range eras {
			cs := joined(t, w, over, era, mcp.Options{Who: client(), Toolsets: []string{"test", "notes"}}, nil)
			ctx, cancel := context.WithCancel(t.Context())
			done := calling(ctx, cs, nil, "hang", nil)
			inside := <-w.began
			// A call that hangs stops no other.
			if res := call(t, cs, "read_note", map[string]any{"path": "Matcha"}); res.IsError {
				t.Error(textOf(res))
			}
			cancel()
			if _, ok := (<-done).(error); !ok {
				t.Errorf("%s %s: a cancelled call answered", over, era)
			}
			<-inside.Done()
		}
	}
}
