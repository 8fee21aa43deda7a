//go:build browser

package attacks

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A driver is a Chromium that a person's hands are played on.
type driver struct {
	*testing.T
	session string
}

// element is the name that the protocol has for an element.
const element = "element-6066-11e4-a52e-4f735466cecf"

func newDriver(t *testing.T) *driver {
	t.Helper()
	path, err := exec.LookPath("chromedriver")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--port=0") // one that was looked for before may be another's by then
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	in := bufio.NewScanner(said)
	port := ""
	for port == "" && in.Scan() {
		if _, rest, ok := strings.Cut(in.Text(), "started successfully on port "); ok {
			port = strings.TrimSuffix(rest, ".")
		}
	}
	if port == "" {
		t.Fatal("chromedriver does not start")
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // until it is waited for
	args := []string{"--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir=" + t.TempDir(), "--window-size=900,1000"}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	d := &driver{T: t, session: "http://127.0.0.1:" + port + "/session"}
	var made struct {
		ID string `json:"sessionId"`
	}
	d.do(http.MethodPost, "", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{"goog:chromeOptions": map[string]any{"args": args}}}}, &made)
	d.session += "/" + made.ID
	t.Cleanup(func() { d.do(http.MethodDelete, "", nil, nil) })
	return d
}

func (d *driver) do(method, path string, body, out any) {
	d.Helper()
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			d.Fatal(err)
		}
	}
	req, err := http.NewRequest(method, d.session+path, bytes.NewReader(b))
	if err != nil {
		d.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	var v struct{ Value json.RawMessage }
	if err != nil || res.StatusCode != http.StatusOK || json.Unmarshal(text, &v) != nil {
		d.Fatalf("%s %s: %s %s, %v", method, path, res.Status, text, err)
	}
	if out != nil {
		if err := json.Unmarshal(v.Value, out); err != nil {
			d.Fatal(err)
		}
	}
}

func (d *driver) open(address string) {
	d.Helper()
	d.do(http.MethodPost, "/url", map[string]string{"url": address}, nil)
}

// run evaluates a script in the page.
func (d *driver) run(script string) string {
	d.Helper()
	var out string
	d.do(http.MethodPost, "/execute/sync", map[string]any{"script": script, "args": []any{}}, &out)
	return out
}

// until waits for a script to say yes.
func (d *driver) until(script string) {
	d.Helper()
	for range 3000 {
		if d.run("return String("+script+")") == "true" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	d.Fatalf("never: %s\n%s", script, d.run("return document.documentElement.outerHTML"))
}

func (d *driver) find(css string) string {
	d.Helper()
	var found map[string]string
	d.do(http.MethodPost, "/element", map[string]string{"using": "css selector", "value": css}, &found)
	return "/element/" + found[element]
}

func (d *driver) click(css string) {
	d.Helper()
	d.do(http.MethodPost, d.find(css)+"/click", map[string]any{}, nil)
}

func (d *driver) keys(css, text string) {
	d.Helper()
	d.do(http.MethodPost, d.find(css)+"/value", map[string]string{"text": text}, nil)
}

// picture keeps what the page looks like, where a person asked for it.
func (d *driver) picture(name string) {
	d.Helper()
	dir := os.Getenv("PICTURES")
	if dir == "" {
		return
	}
	var data string
	d.do(http.MethodGet, "/screenshot", nil, &data)
	b, err := base64.StdEncoding.DecodeString(data)
	if err == nil {
		err = os.WriteFile(dir+"/"+name+".png", b, 0o600)
	}
	if err != nil {
		d.Error(err)
	}
}

// TestAnsweredInABrowser: a program asks, a person reads the diff in a browser
// and says yes or no. C09, C10, C15, F01 on the way: nothing in a note becomes
// part of the page, and no key or early click is a yes.
func TestAnsweredInABrowser(t *testing.T) {
	w := newWorld(t, nil)
	_ = w.server.Process.Kill() // its address was used up by the test itself
	_ = w.server.Wait()
	w.serveFor(func(login string) {
		ask := func(path, content string) string {
			status, _, body := w.post("/api/v1/tools/write_note", fmt.Sprintf(`{"path":%q,"content":%q}`, path, content), w.tokens["all"])
			var a struct {
				URL string `json:"approve_url"`
			}
			if err := json.Unmarshal([]byte(body), &a); err != nil || status != http.StatusAccepted || !strings.HasPrefix(a.URL, w.base+"/approvals/") {
				t.Fatalf("%d %s", status, body)
			}
			return a.URL
		}
		evil := "<script>window.pwned=1</script><img src=x onerror=\"window.pwned=1\"><button class=\"approve\">Approve</button>\n[x](javascript:alert(1))\n"
		one, two := ask("evil.md", evil), ask("two.md", "two\n")
		d := newDriver(t)
		d.open(one)
		if text := d.run("return document.body.innerText"); !strings.Contains(text, "You're signed out") {
			t.Errorf("before login: %s", text)
		}
		d.open(login)
		d.until(`location.pathname == "/" && document.querySelectorAll("a[href^='/approvals/']").length == 2`)
		d.picture("home")
		// What the card is at the very moment when it appears, seen from inside.
		d.open(w.base + "/approvals")
		d.until(`document.querySelectorAll(".card").length == 2`)
		d.run(`window.first = ""; new MutationObserver(() => { const c = document.querySelector("[data-approval='" + location.pathname.slice(11) + "']");
			if (c && location.pathname.length > 11 && !window.first) window.first = String([c.querySelector(".approve").disabled, ["BODY", "MAIN"].includes(document.activeElement.tagName), c.querySelectorAll("button.approve, button.deny").length, window.pwned]); }
		).observe(document.body, {subtree: true, childList: true, attributes: true});
			const a = document.createElement("a"); a.href = "` + strings.TrimPrefix(one, w.base) + `"; document.body.append(a); a.click(); return ""`)
		d.until(`window.first != ""`)
		if got := d.run(`return window.first`); got != "true,true,2," {
			t.Errorf("at first: %s", got)
		}
		d.open(one)
		d.until(`document.querySelector(".card") != null`)
		if got := d.run(`return String([document.activeElement.tagName, document.querySelectorAll(".card").length, document.querySelectorAll(".card .lines button, .card .lines img").length])`); got != "BODY,1,0" {
			t.Errorf("loaded: %s", got)
		}
		d.picture("approval")
		d.until(`!document.querySelector(".card .approve").disabled`)
		d.keys("[name=word]", "well \uE007") // and Enter
		d.run(`const c = document.querySelector(".card"), b = c.querySelector(".approve"); b.click(); b.dispatchEvent(new MouseEvent("click", {bubbles: true}));
			c.focus(); for (const key of ["a", "A", "Enter"]) c.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true})); c.blur(); return ""`)
		if w.exists("evil.md") {
			t.Error("a key or a script said yes")
		}
		d.until(`!document.querySelector(".card .approve").disabled`)
		d.click(".approve")
		d.until(`document.body.innerText.includes("lore undo op-")`)
		d.picture("done")
		if !w.exists("evil.md") || d.run("return String(window.pwned)") != "undefined" {
			t.Error("it was not done, or the note ran")
		}
		d.open(two)
		d.until(`document.querySelector(".card .deny") != null`)
		d.keys("[name=word]", "not now")
		d.click(".deny")
		d.until(`document.body.innerText.includes("not now") && !document.querySelector(".card button")`)
		if w.exists("two.md") {
			t.Error("a no was a yes")
		}
	})
}
