package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"lore/internal/tool"
)

// A listener reads the stream.
type listener struct {
	t    *testing.T
	in   *bufio.Reader
	body io.ReadCloser
}

type piece struct{ id, topic, data string }

func (w *world) listen(who, last string) *listener {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.t.Context()), patience)
	w.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+"/api/v1/events", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	client := http.DefaultClient
	if who == "person" {
		client = w.person
	} else {
		req.Header.Set("Authorization", "Bearer "+w.secret[who])
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		w.t.Fatalf("events: %s", res.Status)
	}
	w.t.Cleanup(func() { _ = res.Body.Close() })
	return &listener{w.t, bufio.NewReader(res.Body), res.Body}
}

// next reads one event; ok is false at the end. Comments are passed over.
func (l *listener) next() (p piece, ok bool) {
	for {
		line, err := l.in.ReadString('\n')
		if err != nil {
			return p, false
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" && p.topic != "" {
			return p, true
		}
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "id":
			p.id = value
		case "event":
			p.topic = value
		case "data":
			p.data = value
		}
	}
}

func (l *listener) expect(topic string) piece {
	l.t.Helper()
	p, ok := l.next()
	if !ok || p.topic != topic {
		l.t.Fatalf("got %+v (%v), want %s", p, ok, topic)
	}
	return p
}

// until passes over other topics.
func (l *listener) until(topic string) piece {
	l.t.Helper()
	for {
		p, ok := l.next()
		if !ok {
			l.t.Fatalf("the stream ended before %s", topic)
		}
		if p.topic == topic {
			return p
		}
	}
}

func TestEventsResume(t *testing.T) {
	w := open(t)
	l := w.listen("person", "")
	ready := l.expect("ready")
	w.bus.Publish("a", 1, true)
	first := l.expect("a")
	_ = l.body.Close()
	witness := w.listen("person", "")
	witness.expect("ready")
	for i := range 3 {
		w.bus.Publish("b", i, true)
		w.bus.Publish("p", i, false)
	}
	w.bus.Publish("end", 0, true)
	witness.until("end") // the server has seen all of it
	// From the place of the first: nothing twice, nothing left out, and of the
	// progress the latest.
	l = w.listen("person", first.id)
	l.expect("ready")
	for i := range 3 {
		if p := l.expect("b"); p.data != fmt.Sprint(i) {
			t.Errorf("%d: %+v", i, p)
		}
	}
	if p := l.expect("p"); p.data != "2" {
		t.Errorf("progress %+v", p)
	}
	_ = l.body.Close()
	l = w.listen("person", ready.id)
	l.expect("ready")
	l.expect("a")
	for _, strange := range []string{"other-1", "x", strings.Split(ready.id, "-")[0] + "-999999"} {
		w.listen("person", strange).expect("reset")
	}
}

// TestEventsTooFarBehind: what the server no longer has is not passed over in
// silence.
func TestEventsTooFarBehind(t *testing.T) {
	w := open(t)
	l := w.listen("person", "")
	ready := l.expect("ready")
	w.bus.Publish("a", 0, true)
	l.expect("a")
	_ = l.body.Close()
	other := w.listen("read", "")
	other.expect("ready")
	for range 11 { // the other one keeps up: it is not told that it is behind
		for i := range 100 {
			w.bus.Publish("b", i, true)
		}
		w.bus.Publish(tool.TopicTools, 0, true)
		other.until(tool.TopicTools)
	}
	l = w.listen("person", ready.id)
	l.expect("ready")
	l.expect("reset")
	w.bus.Publish("c", 0, true)
	l.expect("c")
}

// TestEventsOfAnotherHolder: what happened between two processes that held the
// vault was heard by nobody, and the reader is told.
func TestEventsOfAnotherHolder(t *testing.T) {
	w := open(t)
	l := w.listen("person", "")
	ready := l.expect("ready")
	w.bus.Publish("a", 0, true)
	l.expect("a")
	w.bus.Publish(tool.TopicMissed, struct{}{}, true)
	l.expect("reset")
	w.bus.Publish("b", 0, true)
	l.expect("b")
	l = w.listen("person", ready.id) // from before
	l.expect("ready")
	l.expect("reset")
}

// TestVaultState: the first look tells the state of the vault, the news every
// change of it.
func TestVaultState(t *testing.T) {
	w := open(t)
	l := w.listen("person", "")
	l.expect("ready")
	if got, ok := w.do("person", "GET", "/api/v1/status", "").json["state"]; ok {
		t.Errorf("nobody knows the state yet: %v", got)
	}
	for _, st := range []tool.VaultState{{Mode: "offline", Reason: "the folder is empty", Missing: 3}, {Mode: "online"}} {
		w.bus.Announce(tool.TopicVault, st)
		want, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		if p := l.expect(tool.TopicVault); strings.TrimSpace(p.data) != string(want) {
			t.Errorf("news: %q", p.data)
		}
		less, err := json.Marshal(tool.VaultState{Mode: st.Mode})
		if err != nil {
			t.Fatal(err)
		}
		for who, want := range map[string][]byte{"person": want, "read": less} { // a program that may read nothing is told no number
			got, err := json.Marshal(w.do(who, "GET", "/api/v1/status", "").json["state"])
			if err != nil || !sameJSON(got, want) {
				t.Errorf("status for %s: %s, %v", who, got, err)
			}
		}
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// TestEventsOfOthers: a program hears of its own questions alone.
func TestEventsOfOthers(t *testing.T) {
	w := open(t)
	person, own, other := w.listen("person", ""), w.listen("write", ""), w.listen("other", "")
	for _, l := range []*listener{person, own, other} {
		l.expect("ready")
	}
	id := w.do("write", "POST", "/api/v1/tools/write_note", create).str("pending_operation_id")
	w.bus.Publish("end", 0, true)
	for _, l := range []*listener{person, own} {
		if p := l.until(tool.TopicAsked); !strings.Contains(p.data, id) || !strings.Contains(p.data, `"call_state":"approval-requested"`) {
			t.Errorf("%+v", p)
		}
	}
	for {
		p, ok := other.next()
		if !ok || p.topic == "end" {
			break
		}
		if p.topic == tool.TopicAsked {
			t.Errorf("another token heard of it: %+v", p)
		}
	}
}

// TestEventsEnd: a stream ends when its token is revoked, and when the server
// stops.
func TestEventsEnd(t *testing.T) {
	w := open(t)
	l, stays := w.listen("read", ""), w.listen("person", "")
	l.expect("ready")
	stays.expect("ready")
	if _, err := w.tokens.Revoke(t.Context(), "read"); err != nil {
		t.Fatal(err)
	}
	if p, ok := l.next(); ok {
		t.Errorf("heard %+v after it was revoked", p)
	}
	w.stop()
	if p, ok := stays.next(); ok {
		t.Errorf("heard %+v after the end", p)
	}
	if err := <-w.done; err != nil {
		t.Error(err)
	}
	w.done <- nil // for the cleanup
}

// TestStreamsOfOthers: a program that opens as many streams as it can does not
// take the news from the person.
func TestStreamsOfOthers(t *testing.T) {
	w := open(t)
	for range 256 {
		w.listen("read", "").expect("ready")
	}
	if got := w.do("read", "GET", "/api/v1/events", ""); got.status != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", got.status)
	}
	w.listen("person", "").expect("ready")
}

// TestEventsOfCallsOfOthers: a token hears that another called a tool, and neither
// what it asked for nor what came of it, while the call and when it resumes.
func TestEventsOfCallsOfOthers(t *testing.T) {
	w := open(t)
	person, own, other := w.listen("person", ""), w.listen("write", ""), w.listen("other", "")
	begin := ""
	for _, l := range []*listener{person, own, other} {
		begin = l.expect("ready").id
	}
	const secret = "xyzzyplugh"
	for _, call := range [][2]string{
		{"read_note", `{"path":"` + secret + `.md"}`},
		{"write_note?dry_run=1", `{"path":"` + secret + `.md","content":"` + secret + `\n"}`},
		{"write_note", `{"path":"` + secret + `.md","content":"` + secret + `\n"}`},
	} {
		w.do("write", "POST", "/api/v1/tools/"+call[0], call[1])
	}
	w.bus.Publish(tool.TopicTools, 0, true)
	heard := func(l *listener) (all string, calls int) {
		for {
			p, ok := l.next()
			if !ok || p.topic == tool.TopicTools {
				return all, calls
			}
			if p.topic == tool.TopicCall {
				calls++
			}
			all += p.topic + " " + p.data + "\n"
		}
	}
	for name, l := range map[string]*listener{"person": person, "own": own} {
		if all, _ := heard(l); !strings.Contains(all, secret) {
			t.Errorf("%s does not hear of the call: %s", name, all)
		}
	}
	for name, l := range map[string]*listener{"while": other, "resumed": w.listen("other", begin)} {
		all, calls := heard(l)
		if calls == 0 || strings.Contains(all, secret) {
			t.Errorf("%s, another token hears %d calls: %s", name, calls, all)
		}
	}
}
