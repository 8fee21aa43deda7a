package mcp_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
)

// says is a client whose user answers every form the same way.
func says(action string, content map[string]any, shown *string) *sdk.ClientOptions {
	return &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		*shown = req.Params.Message
		return &sdk.ElicitResult{Action: action, Content: content}, nil
	}}
}

func TestElicitedChange(t *testing.T) {
	for _, era := range eras {
		for _, c := range []struct {
			name, action string
			content      map[string]any
			made         bool
			want         string
		}{
			{"accepted", "accept", map[string]any{"confirm": true}, true, `"operation_id"`},
			{"ticked no", "accept", map[string]any{"confirm": false}, false, `"isError":false`},
			{"declined", "decline", nil, false, `"isError":false`},
			{"closed", "cancel", nil, false, `"status":"pending_confirmation"`},
		} {
			t.Run(era+" "+c.name, func(t *testing.T) {
				w, shown := open(t), ""
				cs := connect(t, mcp.New(w.door, mcp.Options{Who: confirming(), Now: tooltest.Now}), era, says(c.action, c.content, &shown))
				res := call(t, cs, "write_note", map[string]any{"path": "New.md", "content": "hello\n"})
				if res.IsError || !strings.Contains(textOf(res), c.want) {
					t.Errorf("%s", textOf(res))
				}
				if made := read(t, w.dir, "New.md") == "hello\n"; made != c.made {
					t.Errorf("made: %v", made)
				}
				if !strings.Contains(shown, "New.md") || !strings.Contains(shown, "+hello") {
					t.Errorf("shown: %q", shown)
				}
			})
		}
	}
}

// TestEmptyFormIsNoAnswer: the box is required, so a client that checks what its
// user sends refuses an empty form. Whoever sends one all the same has said nothing.
func TestEmptyFormIsNoAnswer(t *testing.T) {
	for _, era := range eras {
		w, shown := open(t), ""
		cs := connect(t, mcp.New(w.door, mcp.Options{Who: confirming(), Now: tooltest.Now}), era, says("accept", map[string]any{}, &shown))
		res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "write_note", Arguments: map[string]any{"path": "New.md", "content": "hello\n"}})
		if err == nil || !strings.Contains(err.Error(), "confirm") || shown == "" {
			t.Errorf("%s: %v, %+v, shown %q", era, err, res, shown)
		}
		if read(t, w.dir, "New.md") != "" {
			t.Errorf("%s: an empty form was taken for a yes", era)
		}
	}
}

func TestWhatDestroysIsNotElicited(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		w, shown := open(t), ""
		o := mcp.Options{Who: confirming(), Now: tooltest.Now, Trusted: func(access.Principal) bool { return trusted }}
		cs := connect(t, mcp.New(w.door, o), eras[0], says("accept", map[string]any{"confirm": true}, &shown))
		res := call(t, cs, "delete_note", map[string]any{"path": "Matcha"})
		gone := read(t, w.dir, "Notes/Matcha.md") == ""
		if gone != trusted || res.IsError || (shown != "") != trusted {
			t.Errorf("trusted %v: gone %v, shown %q, %s", trusted, gone, shown, textOf(res))
		}
		if !trusted && (!strings.Contains(textOf(res), "A person must approve this in Lore.") || strings.Contains(textOf(res), "lore approvals")) {
			t.Error(textOf(res))
		}
	}
}

func TestWithoutForms(t *testing.T) {
	w := open(t)
	cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now}), eras[0], nil)
	res := call(t, cs, "write_note", map[string]any{"path": "New.md", "content": "hello\n"})
	var waits struct {
		Status, Next string
		ID           string `json:"pending_operation_id"`
	}
	if err := json.Unmarshal([]byte(textOf(res)), &waits); err != nil || res.IsError {
		t.Fatal(err, textOf(res))
	}
	if waits.Status != "pending_confirmation" || waits.Next != "A person must approve this in Lore." {
		t.Errorf("%+v", waits)
	}
	if read(t, w.dir, "New.md") != "" {
		t.Error("written without a person")
	}
	if _, err := w.reg.Answer(t.Context(), access.Terminal(), waits.ID, tool.Answer{Approve: true}); err != nil || read(t, w.dir, "New.md") == "" {
		t.Error("the stored question could not be answered", err)
	}
}

// A wire sends requests of the modern protocol by hand, as a client that means
// ill would.
type wire struct {
	t    *testing.T
	url  string
	who  string
	path string
	can  string // what the client says it can do
}

type keyed struct{}

// serve mounts a handler behind something that knows the caller by a header.
func serve(t *testing.T, w *world, o mcp.Options) wire {
	t.Helper()
	srv, _ := served(t, w, o)
	return srv
}

func served(t *testing.T, w *world, o mcp.Options) (wire, *mcp.Endpoint) {
	t.Helper()
	o.From = func(ctx context.Context) (access.Principal, bool) {
		p, ok := ctx.Value(keyed{}).(access.Principal)
		return p, ok
	}
	h := mcp.Handler(w.door, o)
	t.Cleanup(h.Close)
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if id := r.Header.Get("Who"); id != "" {
			p := confirming()
			p.ID = id
			r = r.WithContext(context.WithValue(r.Context(), keyed{}, p))
		}
		h.ServeHTTP(rw, r)
	}))
	t.Cleanup(srv.Close)
	return wire{t: t, url: srv.URL, who: "anna", path: "/mcp", can: `{"elicitation":{"form":{}}}`}, h
}

func (w wire) call(args, more string) (status int, body string) {
	w.t.Helper()
	return w.send("tools/call", "edit_note", `"name":"edit_note","arguments":`+args+more)
}

// send sends one request, with the headers that belong to it.
func (w wire) send(method, name, params string) (status int, body string) {
	w.t.Helper()
	msg := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":%s}}}`, method, params, w.can)
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+w.path, bytes.NewReader([]byte(msg)))
	if err != nil {
		w.t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28",
		"Mcp-Method": method, "Who": w.who,
	} {
		req.Header.Set(k, v)
	}
	if name != "" {
		req.Header.Set("Mcp-Name", name)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	for l := range strings.Lines(string(b)) {
		if d, ok := strings.CutPrefix(l, "data: "); ok {
			return res.StatusCode, strings.TrimSpace(d)
		}
	}
	return res.StatusCode, string(b)
}

// ask makes the call and returns the state that came back.
func (w wire) ask(args string) string {
	w.t.Helper()
	_, body := w.call(args, "")
	var m struct {
		Result struct {
			RequestState string
			ResultType   string
		}
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil || m.Result.RequestState == "" || m.Result.ResultType != "input_required" {
		w.t.Fatal("no question: ", err, body)
	}
	return m.Result.RequestState
}

func yes(state string) string {
	s := `,"inputResponses":{"confirm":{"action":"accept","content":{"confirm":true}}}`
	if state != "" {
		s += `,"requestState":"` + state + `"`
	}
	return s
}

func TestForgedConsent(t *testing.T) {
	now := tooltest.Now()
	w := open(t, func(dir string) { write(t, dir, "A.md", "one\n"); write(t, dir, "B.md", "one\n") })
	anna := serve(t, w, mcp.Options{Now: func() time.Time { return now }})
	const argsA, argsB = `{"path":"A.md","search":"one","replace":"two"}`, `{"path":"B.md","search":"one","replace":"two"}`
	unchanged := func(what, body string) {
		t.Helper()
		if read(t, w.dir, "A.md") != "one\n" || read(t, w.dir, "B.md") != "one\n" {
			t.Fatalf("%s: the note was changed: %s", what, body)
		}
	}
	_, body := anna.call(argsA, yes(""))
	unchanged("consent without a state", body)

	state := anna.ask(argsA)
	raw, code, _ := strings.Cut(state, ".")
	plain, err := base64.RawURLEncoding.DecodeString(raw)
	if err != nil {
		t.Fatal(err)
	}
	longer := bytes.Replace(plain, []byte(`"e":`), []byte(`"e":1`), 1)
	for what, forged := range map[string]string{
		"a letter more": state + "x", "no code": raw, "no code, with dot": raw + ".", "another expiry": base64.RawURLEncoding.EncodeToString(longer) + "." + code,
		"nothing": ".", "half": state[:len(state)/2],
	} {
		_, body := anna.call(argsA, yes(forged))
		unchanged(what, body)
		if !strings.Contains(body, "-32602") {
			t.Errorf("%s: %s", what, body)
		}
	}
	_, body = anna.call(argsB, yes(state))
	unchanged("for another note", body)
	bert := anna
	bert.who = "bert"
	_, body = bert.call(argsA, yes(state))
	unchanged("by another principal", body)

	now = now.Add(11 * time.Minute)
	_, body = anna.call(argsA, yes(state))
	unchanged("too late", body)
	now = now.Add(-11 * time.Minute)

	// Other spaces and another order are the same call.
	_, body = anna.call(`{ "replace":"two", "search":"one", "path":"A.md"}`, yes(state))
	if read(t, w.dir, "A.md") != "two\n" {
		t.Fatalf("true consent did not count: %s", body)
	}
	write(t, w.dir, "A.md", "one\n")
	_, body = anna.call(argsA, yes(state))
	unchanged("replayed", body)
	if !strings.Contains(body, `"isError":true`) {
		t.Errorf("replayed: %s", body)
	}
}

func TestChangedNoteIsAskedAgain(t *testing.T) {
	w := open(t, func(dir string) { write(t, dir, "A.md", "one\n") })
	anna := serve(t, w, mcp.Options{Now: tooltest.Now})
	const args = `{"path":"A.md","search":"one","replace":"two"}`
	state := anna.ask(args)
	write(t, w.dir, "A.md", "one\nand mine\n")
	_, body := anna.call(args, yes(state))
	if read(t, w.dir, "A.md") != "one\nand mine\n" || !strings.Contains(body, "pending_confirmation") {
		t.Fatalf("what was not shown was done: %s", body)
	}
	_, body = anna.call(args, yes(state))
	if read(t, w.dir, "A.md") != "one\nand mine\n" || !strings.Contains(body, `"isError":true`) {
		t.Fatalf("an old state was believed: %s", body)
	}
}

// TestElicitedAct: who confirms a call that leaves the machine sees what leaves.
func TestElicitedAct(t *testing.T) {
	w, shown, sent := open(t), "", ""
	foreign, err := tool.Foreign(tool.ForeignTool{
		Name: "mcp__far__send", Doc: "Sends.", Set: tool.External, Needs: access.Egress, Source: "far", Input: &jsonschema.Schema{Type: "object"},
		Run: func(_ context.Context, args json.RawMessage) (any, error) {
			sent = string(args)
			return map[string]string{"text": "ok"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.reg.Swap("far", []*tool.Tool{foreign}); err != nil {
		t.Fatal(err)
	}
	who := confirming()
	who.Scopes = append(who.Scopes, access.Egress)
	o := mcp.Options{Who: who, Now: tooltest.Now, Toolsets: []string{tool.External}, Trusted: func(access.Principal) bool { return true }}
	cs := connect(t, mcp.New(w.door, o), eras[0], says("accept", map[string]any{"confirm": true}, &shown))
	res := call(t, cs, "mcp__far__send", map[string]any{"text": "my diary", "pad": strings.Repeat("x", 10_000)})
	if res.IsError || sent == "" || !strings.Contains(shown, "my diary") && !strings.Contains(shown, "See all of it in Lore, under Approvals") || !strings.Contains(shown, "With: ") {
		t.Errorf("sent %.40s; shown %q; %s", sent, shown, textOf(res))
	}
}

// confirming is a client that a person gave the right to show dialogs itself.
func confirming() access.Principal {
	return client(access.Read, access.Write, access.Destroy, access.Confirm)
}

// TestFormsNeedTheRight: a client that can show forms and was not given the right
// is shown none, and its answer counts for nothing.
func TestFormsNeedTheRight(t *testing.T) {
	for _, era := range eras {
		w := open(t, func(string) {})
		shown := ""
		cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now}), era, says("accept", map[string]any{"confirm": true}, &shown))
		res := call(t, cs, "write_note", map[string]any{"path": "New.md", "content": "hello\n"})
		if read(t, w.dir, "New.md") != "" || shown != "" || !strings.Contains(textOf(res), "pending_confirmation") {
			t.Errorf("%s: shown %q, %s", era, shown, textOf(res))
		}
	}
}

// TestTheRecordNamesTheDialog: what was approved in a dialog shown by a client is not
// told as a person's approval.
func TestTheRecordNamesTheDialog(t *testing.T) {
	w := open(t, func(string) {})
	shown := ""
	who := confirming()
	who.Name = "laptop"
	cs := connect(t, mcp.New(w.door, mcp.Options{Who: who, Now: tooltest.Now}), eras[0], says("accept", map[string]any{"confirm": true}, &shown))
	call(t, cs, "write_note", map[string]any{"path": "New.md", "content": "hello\n"})
	list, err := w.reg.Questions(t.Context(), tool.Done)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if by := list[0].Answer.By; by.Kind != access.Dialog || by.Name != "laptop" || !strings.HasPrefix(by.Answers("approved"), "approved in a dialog shown by ") || !strings.HasSuffix(by.Answers("approved"), "(token laptop)") {
		t.Errorf("%+v", by)
	}
}
