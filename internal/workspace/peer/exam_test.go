package peer_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/notes"
	"lore/internal/workspace/peer"
)

// A world is a vault that one registry holds, with a socket to it.
type world struct {
	dir  string // of the vault
	data string
	reg  *tool.Registry
	bus  *event.Bus
	door *peer.Deferred
	host *peer.Server
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), data: short(t), bus: event.NewBus()}
	for name, text := range map[string]string{"Tea.md": "# Tea\n\nGreen tea. See [[Milk]].\n", "Milk.md": "# Milk\n\nWith tea.\n"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := tooltest.Open(t, w.dir, nil)
	deps := p.Deps()
	deps.Bus = w.bus
	w.reg = tool.NewRegistry(deps, notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}))
	w.door = peer.NewDeferred(nil)
	w.door.Open(w.reg, nil)
	w.listen(t)
	return w
}

// short is a folder whose path is short enough for a socket on every system.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (w *world) listen(t *testing.T) {
	t.Helper()
	var err error
	if w.host, err = peer.Listen(peer.Options{Dir: w.data, Door: w.door, Bus: w.bus, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	host := w.host
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
}

func (w *world) visit(t *testing.T) *peer.Client {
	t.Helper()
	c := peer.Visit(t.Context(), w.data)
	if c == nil {
		t.Fatal("nobody answers")
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

var client = access.Principal{Kind: access.MCP, ID: "c", Surface: "mcp", Scopes: []access.Scope{access.Read, access.Write, access.Destroy}}

// TestDoors is the exam that every door to a vault passes: whatever stands
// between a caller and the registry, nothing is lost, added or allowed on the
// way.
func TestDoors(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, w *world) tool.Door{
		"registry": func(_ *testing.T, w *world) tool.Door { return w.reg },
		"client":   func(t *testing.T, w *world) tool.Door { return w.visit(t) },
		"later": func(t *testing.T, w *world) tool.Door {
			l := peer.NewDeferred(w.reg)
			l.Open(w.visit(t), nil)
			return l
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			e := exam{T: t, w: w, door: make(t, w)}
			e.describes()
			e.reads()
			e.refuses()
			e.asks()
			e.denies()
			e.remembers()
			e.waits()
		})
	}
}

type exam struct {
	*testing.T
	w    *world
	door tool.Door
}

func (e exam) describes() {
	e.Helper()
	list := e.door.On()
	if len(list) != len(e.w.reg.On()) {
		e.Fatalf("%d tools, the registry has %d", len(list), len(e.w.reg.On()))
	}
	if err := e.w.reg.Instruct("read_note", "Only when asked."); err != nil {
		e.Fatal(err)
	}
	for i, want := range e.w.reg.On() {
		got := list[i]
		a, b := tool.Describe(got), tool.Describe(want)
		a.Instructions, b.Instructions = "", ""
		if text(e.T, a) != text(e.T, b) {
			e.Errorf("%s is described as\n%s\nand is\n%s", want.Name, text(e.T, a), text(e.T, b))
		}
		if found, err := e.door.Find(want.Name); err != nil || found.Name != want.Name {
			e.Errorf("%s is not found: %v", want.Name, err)
		}
		for _, alias := range want.Aliases {
			if found, err := e.door.Find(alias); err != nil || found.Name != want.Name {
				e.Errorf("%s is not found: %v", alias, err)
			}
		}
	}
	_, mine := e.door.Find("reed_note")
	_, theirs := e.w.reg.Find("reed_note")
	e.same("an unknown tool", mine, theirs)
}

func (e exam) same(what string, got, want error) {
	e.Helper()
	if got == nil || got.Error() != want.Error() || fault.Of(got) != fault.Of(want) || text(e.T, tool.NewFailure(got)) != text(e.T, tool.NewFailure(want)) {
		e.Errorf("%s: %v (%s), the registry says %v (%s)", what, got, fault.Of(got), want, fault.Of(want))
	}
}

func (e exam) reads() {
	e.Helper()
	for name, args := range map[string]string{
		"read_note": `{"path":"Tea"}`, "list_backlinks": `{"path":"Milk.md"}`, "search_notes": `{"query":"tea","mode":"lexical","explain":true}`,
		"get_note_metadata": `"{\"path\":\"Tea.md\"}"`,
	} {
		got, err := e.door.Call(e.Context(), client, name, json.RawMessage(args))
		want, err2 := e.w.reg.Call(e.Context(), client, name, json.RawMessage(args))
		if err != nil || err2 != nil {
			e.Fatal(name, err, err2)
		}
		if text(e.T, got) != text(e.T, want) {
			e.Errorf("%s answers\n%s\nand should\n%s", name, text(e.T, got), text(e.T, want))
		}
		if !reflect.DeepEqual(got.View(), want.View()) {
			e.Errorf("%s is drawn as\n%+v\nand should be\n%+v", name, got.View(), want.View())
		}
		if got.Tool.Name != name || got.Tool.Shape != want.Tool.Shape {
			e.Errorf("the answer of %s is one of %s", name, got.Tool.Name)
		}
	}
}

func (e exam) refuses() {
	e.Helper()
	for _, c := range []struct {
		who        access.Principal
		name, args string
	}{
		{client, "read_note", `{"path":"Coffee.md"}`},
		{client, "read_note", `{"path":"../x.md"}`},
		{client, "read_note", `{"pfad":"Tea.md"}`},
		{client, "read_note", `{"path":"Tea.md","path":"Milk.md"}`},
		{client, "nothing", `{}`},
		{access.Principal{Kind: access.MCP, ID: "r", Scopes: []access.Scope{access.Read}}, "delete_note", `{"path":"Tea.md"}`},
		{access.Principal{}, "read_note", `{"path":"Tea.md"}`},
	} {
		_, got := e.door.Call(e.Context(), c.who, c.name, json.RawMessage(c.args))
		_, want := e.w.reg.Call(e.Context(), c.who, c.name, json.RawMessage(c.args))
		e.same(c.name+" "+c.args, got, want)
	}
	if _, err := e.door.Call(e.Context(), client, "read_note", json.RawMessage(`{"path":`)); fault.Of(err) != fault.Invalid {
		e.Errorf("half an object: %v", err)
	}
}

// ask makes a question of client's.
func (e exam) ask(path, body string) tool.Question {
	e.Helper()
	args, _ := json.Marshal(map[string]string{"path": path, "content": body})
	res, err := e.door.Call(e.Context(), client, "write_note", args)
	if err != nil || res.Question == nil || res.Success {
		e.Fatalf("%+v, %v", res, err)
	}
	return *res.Question
}

func (e exam) asks() {
	e.Helper()
	q := e.ask("Cup.md", "Blue. 12345678901234567890\n")
	stored, err := e.door.Question(e.Context(), q.ID)
	if err != nil || stored.Plan != q.Plan || len(stored.Changes) != 1 || stored.Changes[0].Diff == "" {
		e.Fatalf("%+v, %v", stored, err)
	}
	list, err := e.door.Questions(e.Context(), tool.Pending)
	if err != nil || len(list) != 1 || list[0].ID != q.ID {
		e.Fatalf("%v, %v", list, err)
	}
	if _, err := e.door.Answer(e.Context(), client, q.ID, tool.Answer{Approve: true}); fault.Of(err) != fault.Denied {
		e.Fatalf("a program may answer: %v", err)
	}
	if _, err := e.door.Rehearse(e.Context(), client, q.ID, tool.Answer{Approve: true}); fault.Of(err) != fault.Denied {
		e.Fatalf("a program may rehearse: %v", err)
	}
	other := tool.Answer{Approve: true, Args: json.RawMessage(`{"path":"Cup.md","content":"Red.\n"}`)}
	shown, err := e.door.Rehearse(e.Context(), access.Terminal(), q.ID, other)
	if err != nil {
		e.Fatal(err)
	}
	other.Plan = shown.Plan
	res, err := e.door.Answer(e.Context(), access.Terminal(), q.ID, other)
	if err != nil || !res.Success || res.Operation == "" || len(res.Notices) == 0 {
		e.Fatalf("%+v, %v", res, err)
	}
	e.holds("Cup.md", "Red.\n")
	if _, err := e.door.Answer(e.Context(), access.Terminal(), q.ID, tool.Answer{Approve: true}); err == nil {
		e.Error("answered twice")
	}
}

func (e exam) holds(path, want string) {
	e.Helper()
	b, err := os.ReadFile(filepath.Join(e.w.dir, path))
	if err != nil || string(b) != want {
		e.Errorf("%s holds %q, %v", path, b, err)
	}
}

func (e exam) denies() {
	e.Helper()
	q := e.ask("Pot.md", "Black.\n")
	res, err := e.door.Answer(e.Context(), access.Terminal(), q.ID, tool.Answer{Word: "not now"})
	if err != nil || res.Refused == "" || res.Feedback != "not now" || res.Success {
		e.Errorf("%+v, %v", res, err)
	}
	if _, err := os.Stat(filepath.Join(e.w.dir, "Pot.md")); err == nil {
		e.Error("a no was a yes")
	}
	q = e.ask("Pot.md", "Black.\n")
	if err := e.door.Cancel(e.Context(), access.Principal{Kind: access.MCP, ID: "other"}, q.ID); err == nil {
		e.Error("a stranger withdrew a question")
	}
	if err := e.door.Cancel(e.Context(), client, q.ID); err != nil {
		e.Error(err)
	}
	if now, err := e.door.Question(e.Context(), q.ID); err != nil || now.State != tool.Cancelled {
		e.Errorf("%s, %v", now.State, err)
	}
}

func (e exam) remembers() {
	e.Helper()
	q := e.ask("Box.md", "Square.\n")
	if _, err := e.door.Answer(e.Context(), access.Terminal(), q.ID, tool.Answer{Approve: true, Always: &policy.Rule{Paths: "Box*"}}); err != nil {
		e.Fatal(err)
	}
	rules, err := e.door.Rules(e.Context())
	if err != nil || len(rules) != 1 {
		e.Fatalf("%v, %v", rules, err)
	}
	if err := e.door.Forget(e.Context(), client, rules[0].ID); err == nil {
		e.Error("a program made the owner forget")
	}
	if err := e.door.Forget(e.Context(), access.Terminal(), rules[0].ID); err != nil {
		e.Error(err)
	}
	if rules, err = e.door.Rules(e.Context()); err != nil || len(rules) != 0 {
		e.Errorf("%v, %v", rules, err)
	}
}

func (e exam) waits() {
	e.Helper()
	q := e.ask("Tin.md", "Round.\n")
	ctx, cancel := context.WithCancel(e.Context())
	gave := make(chan error, 1)
	go func() {
		_, err := e.door.Await(ctx, q.ID, q.Revision)
		gave <- err
	}()
	cancel()
	if err := <-gave; fault.Of(err) != fault.Cancelled {
		e.Errorf("who gave up was told %v", err)
	}
	type awaited struct {
		res tool.Result
		err error
	}
	done := make(chan awaited, 1)
	go func() {
		res, err := e.door.Await(e.Context(), q.ID, q.Revision)
		done <- awaited{res, err}
	}()
	if _, err := e.w.reg.Answer(e.Context(), access.Terminal(), q.ID, tool.Answer{Approve: true}); err != nil {
		e.Fatal(err)
	}
	a := <-done
	if a.err != nil || !a.res.Success || a.res.Operation == "" {
		e.Errorf("%+v, %v", a.res, a.err)
	}
	e.holds("Tin.md", "Round.\n")
}

// text is a value as JSON whose objects are in one order.
func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var any any
	if err := json.Unmarshal(b, &any); err != nil {
		t.Fatal(err)
	}
	b, err = json.Marshal(any)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
