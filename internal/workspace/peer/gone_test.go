package peer_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/workspace/peer"
)

func TestNobodyAnswers(t *testing.T) {
	for name, card := range map[string]string{
		"no card": "", "no JSON": "{", "another language": `{"protocol":999,"socket":"/nowhere"}`, "no socket": fmt.Sprintf(`{"protocol":%d}`, peer.Protocol),
		"dead": fmt.Sprintf(`{"protocol":%d,"socket":"/nowhere/lore.sock"}`, peer.Protocol),
	} {
		dir := short(t)
		if card != "" {
			if err := os.WriteFile(filepath.Join(dir, "holder.json"), []byte(card), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if c := peer.Visit(t.Context(), dir); c != nil {
			t.Errorf("%s: someone answers", name)
		}
	}
	w := open(t)
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	if c := peer.Visit(t.Context(), w.data); c != nil {
		t.Error("a closed one answers")
	}
	left, err := os.ReadDir(w.data)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestOnlyTheUserComesIn(t *testing.T) {
	w := open(t)
	for _, name := range []string{"lore.sock", "holder.json"} {
		info, err := os.Stat(filepath.Join(w.data, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestASocketTooDeepGoesElsewhere(t *testing.T) {
	deep := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	o := peer.Options{Dir: deep, Door: peer.NewDeferred(nil), Bus: event.NewBus(), Log: slog.New(slog.DiscardHandler)}
	if _, err := peer.Listen(o); err == nil {
		t.Fatal("the path is too long for a socket")
	}
	spare := short(t)
	o.Spare = func() (string, error) { return spare, nil }
	s, err := peer.Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	if peer.Visit(t.Context(), deep) == nil {
		t.Error("nobody answers")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestWhoWaitsFindsTheNext lets the holder go while one caller waits for a
// person and another for the door; both end with the holder that follows.
func TestWhoWaitsFindsTheNext(t *testing.T) {
	w := open(t)
	later := peer.NewDeferred(w.reg)
	first := w.visit(t)
	later.Open(first, nil)
	q := exam{T: t, w: w, door: later}.ask("Cup.md", "Blue.\n")

	done := make(chan error, 1)
	go func() {
		res, err := later.Await(t.Context(), q.ID, q.Revision)
		if err == nil && !res.Success {
			err = fmt.Errorf("%+v", res)
		}
		done <- err
	}()
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := later.Call(t.Context(), client, "read_note", json.RawMessage(`{"path":"Tea.md"}`))
		read <- err
	}()
	w.listen(t)
	later.Open(w.visit(t), nil)
	if err := <-read; err != nil {
		t.Error(err)
	}
	if _, err := later.Answer(t.Context(), access.Terminal(), q.ID, tool.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestACallThatRunsEndsBeforeTheHolderGoes lets a call wait inside a tool while
// the holder closes.
func TestACallThatRunsEndsBeforeTheHolderGoes(t *testing.T) {
	w := open(t)
	inside, let := make(chan struct{}), make(chan struct{})
	w.door.Open(slow{w.reg, inside, let}, nil)
	c := w.visit(t)
	done := make(chan error, 1)
	go func() {
		_, err := c.Call(t.Context(), client, "read_note", json.RawMessage(`{"path":"Tea.md"}`))
		done <- err
	}()
	<-inside
	closed := make(chan error, 1)
	go func() { closed <- w.host.Close() }()
	for peer.Visit(t.Context(), w.data) != nil { // it is closing when nobody new is let in
	}
	select {
	case err := <-done:
		t.Fatalf("cut off: %v", err)
	default:
	}
	close(let)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// slow is a door whose calls wait until they are let.
type slow struct {
	tool.Door
	inside, let chan struct{}
}

func (s slow) Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (tool.Result, error) {
	close(s.inside)
	<-s.let
	return s.Door.Call(ctx, who, name, args)
}

// TestNobodyKnowsWhatCameOfIt meets a holder that dies in the middle: what may
// be repeated is, and of a change the caller is told that nobody knows.
func TestNobodyKnowsWhatCameOfIt(t *testing.T) {
	w := open(t)
	real := w.visit(t)
	dir := short(t)
	var calls atomic.Int32
	c := dying(t, dir, describe(real.On()), true, &calls)
	_, err := c.Call(t.Context(), client, "write_note", json.RawMessage(`{"path":"x.md","content":"x"}`))
	if fault.Of(err) != fault.Unavailable || !strings.Contains(err.Error(), "check the activity") || peer.IsGone(err) {
		t.Errorf("a change: %v", err)
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	later := peer.NewDeferred(w.reg)
	later.Open(c, nil)
	done := make(chan error, 1)
	go func() {
		_, err := later.Call(t.Context(), client, "read_note", json.RawMessage(`{"path":"Tea.md"}`))
		done <- err
	}()
	for calls.Load() < 2 {
		runtime.Gosched()
	}
	later.Open(real, nil)
	if err := <-done; err != nil {
		t.Errorf("a read: %v", err)
	}
}

func describe(tools []*tool.Tool) []tool.Description {
	var out []tool.Description
	for _, t := range tools {
		out = append(out, tool.Describe(t))
	}
	return out
}

// TestWhatWasNotTakenIsAskedAgain: a holder that lets go just when it is called
// has not heard what to do, so that it can be asked of the next one.
func TestWhatWasNotTakenIsAskedAgain(t *testing.T) {
	w := open(t)
	var calls atomic.Int32
	c := dying(t, short(t), describe(w.visit(t).On()), false, &calls)
	_, err := c.Call(t.Context(), client, "write_note", json.RawMessage(`{"path":"x.md","content":"x"}`))
	if !peer.IsGone(err) || calls.Load() != 1 {
		t.Errorf("asked %d times: %v", calls.Load(), err)
	}
}

// TestWhoIsFoundMayBeGone: of the holders that come one after another, each may go
// before it was asked anything. That is no answer to the call, nor to the next one.
func TestWhoIsFoundMayBeGone(t *testing.T) {
	w := open(t)
	var calls atomic.Int32
	c := dying(t, short(t), describe(w.visit(t).On()), false, &calls)
	found := 0
	door := peer.NewReconnecting(c, func(ctx context.Context) (tool.Door, error) {
		if found++; found < 20 {
			_, err := c.Call(ctx, client, "write_note", json.RawMessage(`{"path":"x.md","content":"x"}`))
			return nil, err
		}
		return w.reg, nil
	})
	for range 2 {
		if _, err := door.Call(t.Context(), client, "read_note", json.RawMessage(`{"path":"Tea.md"}`)); err != nil || found != 20 {
			t.Fatalf("found %d: %v", found, err)
		}
	}
}

// dying is a holder that says hello, tells its tools, and hangs up on every
// call: after it took what to do, or before.
func dying(t *testing.T, dir string, tools []tool.Description, takes bool, calls *atomic.Int32) *peer.Client {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	card, _ := json.Marshal(map[string]any{"protocol": peer.Protocol, "socket": filepath.Join(dir, "s")})
	if err := os.WriteFile(filepath.Join(dir, "holder.json"), card, 0o600); err != nil {
		t.Fatal(err)
	}
	told, err := json.Marshal(map[string]any{"tools": tools})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			die(conn, string(told), takes, calls)
		}
	}()
	c := peer.Visit(t.Context(), dir)
	if c == nil {
		t.Fatal("nobody answers")
	}
	if err := c.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func die(conn net.Conn, tools string, takes bool, calls *atomic.Int32) {
	defer conn.Close()
	for r := bufio.NewReader(conn); ; {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		call := req.URL.Path == "/call"
		if call {
			calls.Add(1)
		}
		if call && !takes {
			return
		}
		if req.Header.Get("Expect") != "" {
			fmt.Fprint(conn, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		if _, err := io.CopyN(io.Discard, r, req.ContentLength); err != nil || call {
			return
		}
		answer := fmt.Sprintf(`{"protocol":%d}`, peer.Protocol)
		if req.URL.Path == "/tools" {
			answer = tools
		}
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
	}
}

// TestNews follows a holder from another process' point of view.
func TestNews(t *testing.T) {
	w := open(t)
	w.bus.Announce(tool.TopicVault, tool.VaultState{Mode: "offline", Missing: 3}) // before anybody follows
	c := w.visit(t)
	bus := event.NewBus()
	sub := bus.Subscribe()
	defer sub.Close()
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- c.Follow(t.Context(), bus, func() error { close(ready); return nil })
	}()
	<-ready
	q := exam{T: t, w: w, door: c}.ask("Cup.md", "Blue.\n")
	next := func(topic string) event.Event {
		t.Helper()
		for {
			e, ok := sub.Next(t.Context().Done())
			if !ok {
				t.Fatal("no news of " + topic)
			}
			if e.Topic == topic {
				return e
			}
		}
	}
	if st, ok := next(tool.TopicVault).Data.(tool.VaultState); !ok || st.Missing != 3 || bus.Last(tool.TopicVault) != st {
		t.Errorf("state: %+v", st)
	}
	asked, ok := next(tool.TopicAsked).Data.(tool.Question)
	if !ok || asked.ID != q.ID || asked.Who.ID != client.ID {
		t.Errorf("%+v", asked)
	}
	w.bus.Publish(change.TopicFiles, change.Files{Changed: []string{"Cup.md"}}, true)
	if f, ok := next(change.TopicFiles).Data.(change.Files); !ok || len(f.Changed) != 1 {
		t.Errorf("files: %+v", f)
	}
	w.bus.Publish(tool.TopicAnswered, "no question", true) // must not be passed on: nobody could tell who may hear it
	before := len(c.On())
	if err := w.reg.Switch("delete_note", false); err != nil {
		t.Fatal(err)
	}
	for e, ok := sub.Next(t.Context().Done()); ok && e.Topic != tool.TopicTools; e, ok = sub.Next(t.Context().Done()) {
		if e.Topic == tool.TopicAnswered {
			t.Errorf("heard %v", e.Data)
		}
	}
	if n := len(c.On()); n != before-1 {
		t.Errorf("%d tools, there were %d", n, before)
	}
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !peer.IsGone(err) {
		t.Errorf("the holder went and %v", err)
	}
}

// TestHowFarACallIs: a caller in another process hears it, too.
func TestHowFarACallIs(t *testing.T) {
	w := open(t)
	w.door.Open(far{w.reg}, nil)
	c := w.visit(t)
	var heard []string
	ctx := tool.WithProgress(t.Context(), func(done, total int, message string) {
		heard = append(heard, fmt.Sprintf("%s %d/%d", message, done, total))
	})
	res, err := c.Call(ctx, client, "read_note", json.RawMessage(`{"path":"Tea.md"}`))
	if err != nil || !res.Success {
		t.Fatal(res, err)
	}
	if len(heard) == 0 || !strings.HasPrefix(heard[0], "walking ") {
		t.Errorf("heard %q", heard)
	}
}

// far is a door whose calls take a while, and say so.
type far struct{ tool.Door }

func (d far) Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (tool.Result, error) {
	for i := range 30 {
		tool.Progress(ctx, i, 30, "walking")
		time.Sleep(10 * time.Millisecond)
	}
	return d.Door.Call(ctx, who, name, args)
}

// TestNothingIsTakenAwayUnderACall: whoever shuts the door waits for the calls
// behind it, and who only waits goes on behind the next.
func TestNothingIsTakenAwayUnderACall(t *testing.T) {
	w := open(t)
	q := exam{T: t, w: w, door: w.reg}.ask("Cup.md", "Blue.\n")
	inside, let := make(chan struct{}), make(chan struct{})
	l := peer.NewDeferred(w.reg)
	l.Open(slow{w.reg, inside, let}, nil)
	called, awaited := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := l.Call(t.Context(), client, "read_note", json.RawMessage(`{"path":"Tea.md"}`))
		called <- err
	}()
	go func() {
		_, err := l.Await(t.Context(), q.ID, q.Revision)
		awaited <- err
	}()
	<-inside
	l.Shut()
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := l.Drain(short); err == nil {
		t.Error("a call runs, and nobody waits for it")
	}
	close(let)
	if err := l.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-called; err != nil {
		t.Error(err)
	}
	l.Open(w.reg, nil)
	if _, err := l.Answer(t.Context(), access.Terminal(), q.ID, tool.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	if err := <-awaited; err != nil {
		t.Error(err)
	}
}
