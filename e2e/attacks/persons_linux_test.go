package attacks

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/http/serve"
	"lore/internal/surface/http/serve/servetest"
	"lore/internal/workspace/process/ptytest"
)

// TestNoTerminalNoAnswer (J02): a program with a shell cannot answer: it has no
// terminal on which a person types.
func TestNoTerminalNoAnswer(t *testing.T) {
	w := newWorld(t, nil)
	a := w.hands()[2].call("write_note", `{"path":"Mine.md","content":"mine"}`)
	for _, args := range [][]string{
		{"approvals", "approve", a.pending}, {"approvals", "approve", a.pending, "--json"}, {"approvals", "approve"},
		{"approvals", "edit", a.pending, "--yes", "--args", `{"path":"Mine.md","content":"more"}`},
		{"approvals", "deny", a.pending}, {"approvals", "rules", "--forget", "x"}, {"login"},
	} {
		cmd := w.command(args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // the code tells
		if code := cmd.ProcessState.ExitCode(); code != 4 {
			t.Errorf("%q: code %d, want 4: %s", args, code, out.String())
		}
	}
	if w.exists("Mine.md") {
		t.Error("a program approved its own call")
	}
}

// TestTheAskerCannotAnswer (J02): a program that makes itself a terminal and types
// into it is still the program that asked, on every surface on which it asked and
// on every one on which it answers. A person in a terminal of their own answers.
func TestTheAskerCannotAnswer(t *testing.T) {
	w := newWorld(t, nil)
	own := servetest.SignIn(t, func() string { // the program signs itself in
		r := ptytest.RunChild(t, w.command("login"))
		if r.Code != 0 {
			t.Fatal(r)
		}
		return strings.TrimSpace(r.Out)
	}())
	for i, h := range w.hands() {
		name := "Asked" + string(rune('a'+i)) + ".md"
		args := `{"path":"` + name + `","content":"x"}`
		a := h.call("write_note", args)
		id := a.pending
		if id == "" {
			t.Fatalf("%s: %s", h.name, a.text)
		}
		r := ptytest.RunChild(t, w.command("approvals", "approve", id))
		if r.Code != 4 || w.exists(name) || !strings.Contains(r.Err, "cannot answer") {
			t.Errorf("%s: the program answered: %+v", h.name, r)
		}
		if status, text := w.answer(own, id, `{"approve":true,"revision":0}`, ""); status != http.StatusForbidden || w.exists(name) {
			t.Errorf("%s: the program answered on the page: %d %s", h.name, status, text)
		}
		if r := ptytest.Run(t, w.command("approvals", "approve", id)); r.Code != 0 || !w.exists(name) || !strings.Contains(r.Terminal, name) {
			t.Errorf("%s: a person could not answer: %+v", h.name, r)
		}
	}
}

// TestTheDialogIsNamed (J01): a client that was given the right confirms, only its
// own calls and nothing that destroys, and the record says whose dialog it was.
func TestTheDialogIsNamed(t *testing.T) {
	w := newWorld(t, nil)
	if out, code := w.lore("token", "create", "--yes", "--name", "sly", "--scope", "read,write,confirm"); code != 4 {
		t.Errorf("a program gave itself the right: %d %s", code, out)
	}
	r := ptytest.Run(t, w.command("token", "create", "--name", "laptop", "--scope", "read,write,destroy,confirm"))
	if r.Code != 0 || !strings.Contains(r.Terminal, "Anyone who controls the app can approve") {
		t.Fatal(r)
	}
	session := w.answersItself(w.streamable("/mcp", strings.TrimSpace(r.Out)))
	if a := w.overMCP(session, "write_note", `{"path":"New.md","content":"x"}`); !w.exists("New.md") {
		t.Fatal(a.text)
	}
	if a := w.overMCP(session, "delete_note", `{"path":"Tea.md"}`); !w.exists("Tea.md") || a.pending == "" {
		t.Errorf("the dialog deleted: %s", a.text)
	}
	const want = "approved in a dialog shown by Attacker (token laptop)"
	for _, path := range []string{"/api/v1/activity", "/api/v1/approvals?state=done"} {
		_, _, text := w.send(w.person, http.MethodGet, path, "", nil)
		if strings.Contains(text, "a person approved it") || !strings.Contains(text, want) && !strings.Contains(text, `"kind":"dialog"`) {
			t.Errorf("%s: %s", path, text)
		}
	}
	if out, _ := w.lore("activity", "--json"); !strings.Contains(out, want) {
		t.Errorf("the activity does not say whose dialog it was: %s", out)
	}
}

// TestPIN (J02): with a PIN, neither a terminal nor a signed-in browser approves
// without it.
func TestPIN(t *testing.T) {
	w := newWorld(t, nil)
	if r := ptytest.Run(t, w.command("approvals", "pin"), "4711", "4711"); r.Code != 0 {
		t.Fatal(r)
	}
	id := w.asked("all")
	for _, typed := range [][]string{{"y", "0000"}, {"n"}} {
		if r := ptytest.Run(t, w.command("approvals", "approve", id), typed...); r.Code == 0 || !w.exists("Tea.md") {
			t.Errorf("%q: %+v", typed, r)
		}
	}
	status, text := w.answer(w.person, id, `{"approve":true,"revision":0}`, "")
	if status != http.StatusForbidden || !strings.Contains(text, `"field":"pin"`) || !w.exists("Tea.md") {
		t.Errorf("the page: %d %s", status, text)
	}
	js := http.Header{"Content-Type": {"application/json"}}
	for pin, want := range map[string]int{"0000": http.StatusForbidden} {
		if status, _, text := w.send(w.person, http.MethodPost, "/api/v1/unlock", `{"pin":"`+pin+`"}`, js); status != want {
			t.Errorf("%s: %d %s", pin, status, text)
		}
	}
	if r := ptytest.Run(t, w.command("approvals", "pin", "--remove"), "1111"); r.Code == 0 {
		t.Errorf("removed without it: %+v", r)
	}
	if status, _, text := w.send(w.person, http.MethodPost, "/api/v1/unlock", `{"pin":"4711"}`, js); status != http.StatusNoContent {
		t.Fatalf("the right one: %d %s", status, text)
	}
	if status, text := w.answer(w.person, id, `{"approve":true,"revision":0}`, ""); status != http.StatusOK || w.exists("Tea.md") {
		t.Errorf("with the PIN: %d %s", status, text)
	}
}

// TestPINHoldsForOneClick: an undo that deletes is done with one click on the page.
// With a PIN, that click approves nothing until the PIN was given.
func TestPINHoldsForOneClick(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	js := http.Header{"Content-Type": {"application/json"}}
	made := map[string]string{}
	for _, name := range []string{"One", "Two", "Three"} {
		_, _, said := w.post("/api/v1/tools/write_note", `{"path":"`+name+`.md","content":"words of a program"}`, w.tokens["all"])
		_, body := w.answer(w.person, judged(said, false).pending, `{"approve":true}`, "")
		_, id, _ := strings.Cut(body, `"operation_id":"`)
		made[name], _, _ = strings.Cut(id, `"`)
	}
	if r := ptytest.Run(t, w.command("approvals", "pin"), "4711", "4711"); r.Code != 0 {
		t.Fatal(r)
	}
	click := func() map[string][2]string {
		return map[string][2]string{
			"One": {"/api/v1/operations/" + made["One"] + "/undo?meant=1", `{}`},
			"Two": {"/api/v1/tools/undo?meant=1", `{"operation":"` + made["Two"] + `"}`},
		}
	}
	for name, c := range click() {
		if status, _, text := w.send(w.person, http.MethodPost, c[0], c[1], js); status != http.StatusForbidden || !strings.Contains(text, `"field":"pin"`) || !w.exists(name+".md") {
			t.Errorf("%s without the PIN: %d %s", c[0], status, text)
		}
	}
	// What is asked about is not changed without it either.
	for _, c := range [][2]string{
		{"/api/v1/settings", `{"key":"approve.create","value":"allow"}`}, {"/api/v1/settings", `{"key":"tools.write_note","value":"allow"}`},
		{"/api/v1/settings/paths", `{"protected":[],"exclude":[]}`}, {"/api/v1/rules/rule-1/forget", `{}`},
	} {
		if status, _, text := w.send(w.person, http.MethodPost, c[0], c[1], js); status != http.StatusForbidden || !strings.Contains(text, `"field":"pin"`) {
			t.Errorf("%s %s without the PIN: %d %s", c[0], c[1], status, text)
		}
	}
	// What destroys nothing needs none, and what is only looked at neither.
	if status, _, text := w.send(w.person, http.MethodPost, "/api/v1/tools/write_note?meant=1", `{"path":"Mine.md","content":"mine"}`, js); status != http.StatusOK {
		t.Errorf("a new note of the person: %d %s", status, text)
	}
	if status, _, text := w.send(w.person, http.MethodPost, "/api/v1/tools/undo?dry_run=1", `{"operation":"`+made["Three"]+`"}`, js); status != http.StatusOK {
		t.Errorf("a preview: %d %s", status, text)
	}
	if status, _, text := w.send(w.person, http.MethodPost, "/api/v1/unlock", `{"pin":"4711"}`, js); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, text)
	}
	for name, c := range click() {
		if status, _, text := w.send(w.person, http.MethodPost, c[0], c[1], js); status != http.StatusOK || w.exists(name+".md") {
			t.Errorf("%s with the PIN: %d %s", c[0], status, text)
		}
	}
	for _, key := range []string{"log_level", "approve.create"} { // the first needs none, the second has it now
		if status, _, text := w.send(w.person, http.MethodPost, "/api/v1/settings", `{"key":"`+key+`","value":""}`, js); status != http.StatusOK {
			t.Errorf("%s: %d %s", key, status, text)
		}
	}
}

// TestPINHoldsForDialogs (J02): any program of the user can start lore mcp with the
// right to confirm. With a PIN, its dialog approves nothing.
func TestPINHoldsForDialogs(t *testing.T) {
	w := newWorld(t, nil)
	r := ptytest.Run(t, w.command("token", "create", "--name", "laptop", "--scope", "read,write,destroy,confirm"))
	if r.Code != 0 {
		t.Fatal(r)
	}
	if r := ptytest.Run(t, w.command("approvals", "pin"), "4711", "4711"); r.Code != 0 {
		t.Fatal(r)
	}
	for name, transport := range map[string]sdk.Transport{
		"stdio": &sdk.CommandTransport{Command: w.stdio("--confirm", "--trust-client")},
		"http":  w.streamable("/mcp", strings.TrimSpace(r.Out)),
	} {
		session, forms := w.countsForms(transport)
		file := "By " + name + ".md"
		if a := w.overMCP(session, "write_note", `{"path":"`+file+`","content":"mine"}`); w.exists(file) || a.pending == "" {
			t.Errorf("%s: a dialog approved without the PIN: %s", name, a.text)
		}
		if a := w.overMCP(session, "delete_note", `{"path":"Tea.md"}`); !w.exists("Tea.md") || a.pending == "" {
			t.Fatalf("%s: a dialog deleted without the PIN: %s", name, a.text)
		}
		if n := forms.Load(); n > 0 {
			t.Errorf("%s: %d forms were shown that cannot approve", name, n)
		}
	}
}

// TestSessionsLast (J07): a session outlives the server, and ends at once when it
// is signed out, wherever that is done.
func TestSessionsLast(t *testing.T) {
	w := newWorld(t, nil)
	_, port, _ := strings.Cut(strings.TrimPrefix(w.base, "http://"), ":")
	browser := w.person.Transport.(*servetest.Browser)
	_ = w.server.Process.Signal(syscall.SIGTERM)
	_ = w.server.Wait()
	person := w.person
	w.serve("--listen", "127.0.0.1:"+port)
	if status, _, text := w.send(person, http.MethodGet, "/api/v1/status", "", nil); status != http.StatusOK {
		t.Fatalf("after a restart: %d %s", status, text)
	}
	var list struct {
		Sessions []struct{ ID, Browser string }
		Current  string
	}
	_, _, text := w.send(person, http.MethodGet, "/api/v1/sessions", "", nil)
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Sessions) != 2 || list.Current == "" || strings.Contains(text, browser.Session) || strings.Contains(text, browser.Files) {
		t.Fatal(err, text)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := person.Do(req)
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	if r := ptytest.Run(t, w.command("sessions", "end", list.Current)); r.Code != 0 {
		t.Fatal(r)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var b bytes.Buffer
		_, _ = b.ReadFrom(stream.Body)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second): // it takes a second; never is longer
		t.Error("the stream goes on")
	}
	_ = stream.Body.Close()
	if status, _, _ := w.send(person, http.MethodGet, "/api/v1/status", "", nil); status != http.StatusUnauthorized {
		t.Errorf("signed out: %d", status)
	}
	if status, _, _ := w.send(w.person, http.MethodGet, "/api/v1/status", "", nil); status != http.StatusOK {
		t.Errorf("the other one: %d", status)
	}
}

// TestSignedAddresses (J07): the address of a picture opens that picture, for the
// browser that it was made for.
func TestSignedAddresses(t *testing.T) {
	w := newWorld(t, func(w *world) { w.put("vault/a b.png", "picture"); w.put("vault/c.png", "other") })
	key := w.person.Transport.(*servetest.Browser).Files
	cookieOnly := &http.Client{Jar: w.person.Jar}
	signed := serve.SignedPath("/api/v1/files/", "a b.png", key, "4102444800")
	if status, _, text := w.send(cookieOnly, http.MethodGet, signed, "", nil); status != http.StatusOK || !strings.HasPrefix(text, "picture") {
		t.Errorf("%d %s", status, text)
	}
	for name, try := range map[string]struct {
		c    *http.Client
		path string
	}{
		"without the cookie": {http.DefaultClient, signed},
		"another file":       {cookieOnly, strings.Replace(signed, "a%20b.png", "c.png", 1)},
		"another time":       {cookieOnly, strings.Replace(signed, "4102444800", "4102444801", 1)},
		"another route":      {cookieOnly, "/api/v1/status?" + strings.SplitN(signed, "?", 2)[1]},
		"no signature":       {cookieOnly, "/api/v1/files/c.png"},
	} {
		if status, _, text := w.send(try.c, http.MethodGet, try.path, "", nil); status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}
