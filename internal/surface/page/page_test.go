package page_test

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lore/internal/access"
	"lore/internal/event"
	"lore/internal/state"
	"lore/internal/surface/page"
	"lore/internal/surface/rest"
	"lore/internal/surface/serve"
	"lore/internal/token"
	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/notes"
	"lore/internal/tools/work"
)

// A world is a real vault behind a real server, with a browser and a token.
type world struct {
	t       *testing.T
	dir     string
	base    string
	door    *tool.Registry
	browser *http.Client
	secret  string
}

func open(t *testing.T) *world { return openWith(t, nil) }

// openWith serves an application, or without one the small front.
func openWith(t *testing.T, app fs.FS) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(w.dir, "Tea.md"), []byte("# Tea\n\nGreen tea.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := tooltest.Open(t, w.dir, nil)
	w.door = tool.NewRegistry(p.Deps(),
		notes.Tools(notes.Env{Vault: p.Vault, Store: p.Store, Search: p.Search, Fresh: p.Fresh, Now: tooltest.Now}),
		work.Tools(work.Env{History: p.History, Questions: p.Questions, Vault: p.Vault, Now: tooltest.Now}))
	file := state.In(t.TempDir())
	tokens := token.New(file, nil)
	var err error
	if _, w.secret, err = tokens.Create(t.Context(), "all", token.Scopes(), 0); err != nil {
		t.Fatal(err)
	}
	server, err := serve.New(serve.Options{Listen: "127.0.0.1:0", Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	l, err := server.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.base = server.Address(l)
	api := rest.New(rest.Options{Door: w.door, Bus: event.NewBus(), Vault: "vault", Page: func(id string) string { return w.base + page.Path(id) }})
	server.Add(api.Routes()...)
	pages, err := page.New(page.Options{Door: w.door, Vault: "My <b>vault</b>", API: rest.Prefix, App: app})
	if err != nil {
		t.Fatal(err)
	}
	server.Add(pages.Routes()...)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		api.Close()
		_ = file.Close()
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.browser = &http.Client{Jar: jar}
	res, err := w.browser.Get(server.LoginURL(l)) // and follow where it leads
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Request.URL.Path != "/" {
		t.Fatalf("after login: %d at %s", res.StatusCode, res.Request.URL.Path)
	}
	return w
}

// do asks as the browser, as a token, or as nobody.
func (w *world) do(who, method, path, body string) (int, string, http.Header) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.DefaultClient
	switch who {
	case "browser":
		client = w.browser
	case "token":
		req.Header.Set("Authorization", "Bearer "+w.secret)
	}
	res, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

func (w *world) ask(name, args string) string {
	w.t.Helper()
	who := access.Principal{Kind: access.MCP, ID: "evil <script>", Surface: "mcp", Scopes: []access.Scope{access.Read, access.Write, access.Destroy}}
	res, err := w.door.Call(w.t.Context(), who, name, []byte(args))
	if err != nil || res.Question == nil {
		w.t.Fatal(err, res)
	}
	return res.Question.ID
}

func TestApprovalOnThePage(t *testing.T) {
	w := open(t)
	id := w.ask("write_note", `{"path":"New.md","content":"<script>alert(1)</script> a\u200bb\u202ec & done\n"}`)
	status, text, h := w.do("browser", "GET", "/", "")
	if status != 200 || !strings.Contains(text, `href="/approvals/`+id+`"`) || strings.Contains(text, "<b>vault") {
		t.Errorf("first page: %d %s", status, text)
	}
	if csp := h.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || strings.Contains(csp, "nonce") || !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") {
		t.Errorf("policy %q", csp)
	}
	status, text, _ = w.do("browser", "GET", page.Path(id), "")
	if status != 200 {
		t.Fatal(status, text)
	}
	for _, want := range []string{
		`&lt;script&gt;alert(1)&lt;/script&gt; a�b�c &amp; done`, "evil &lt;script&gt;", `class="added"`, `data-revision="0"`,
		`<button type="button" class="approve" disabled>`, "What the caller says",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	for name, bad := range map[string]string{
		"inline script": `<script>|<script [^s]`, "inline style": `<style| style=`, "handlers": ` on[a-z]+=`, "focus": `autofocus`, "another address": `(src|href)="[^/]`,
		"forms": `<form`, "hidden characters": "[\u200b\u202e]",
	} {
		if m := regexp.MustCompile(bad).FindString(text); m != "" {
			t.Errorf("%s: %q", name, m)
		}
	}
	// The script sends exactly this.
	status, body, _ := w.do("browser", "POST", rest.Prefix+"/approvals/"+id+"/answer", `{"approve":true,"revision":0,"word":"fine"}`)
	if status != 200 {
		t.Fatal(status, body)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "New.md")); err != nil {
		t.Error(err)
	}
	_, text, _ = w.do("browser", "GET", page.Path(id), "")
	if strings.Contains(text, "<button") || !strings.Contains(text, "done") || !strings.Contains(text, "lore undo op-") || !strings.Contains(text, "“fine”") {
		t.Errorf("answered: %s", text)
	}
	_, text, _ = w.do("browser", "GET", "/", "")
	if !strings.Contains(text, "Nothing waits.") || !strings.Contains(text, "lore undo op-") {
		t.Errorf("first page afterwards: %s", text)
	}
	// Looking is not an act.
	list, err := w.door.Call(t.Context(), access.Terminal(), "get_activity", []byte(`{"limit":50}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Value.(work.Activity).Activity {
		if c.Tool == "get_activity" {
			t.Error("a look at the page was recorded")
		}
	}
}

func TestOnlyAPersonSeesThePages(t *testing.T) {
	w := open(t)
	id := w.ask("write_note", `{"path":"New.md","content":"secret words\n"}`)
	for _, path := range []string{"/", page.Path(id), page.Path("none"), "/page/page.js", "/page/page.css"} {
		for who, want := range map[string]int{"": http.StatusUnauthorized, "token": http.StatusForbidden} {
			status, text, h := w.do(who, "GET", path, "")
			if status != want || strings.Contains(text, "secret words") || strings.Contains(text, "addEventListener") {
				t.Errorf("%s as %q: %d %s", path, who, status, text)
			}
			if !strings.HasPrefix(h.Get("Content-Type"), "text/html") || who == "" && !strings.Contains(text, "lore serve") {
				t.Errorf("%s as %q: %s %s", path, who, h.Get("Content-Type"), text)
			}
		}
	}
	if status, text, _ := w.do("browser", "GET", page.Path("none"), ""); status != http.StatusNotFound || !strings.Contains(text, "<h1>") {
		t.Errorf("no such question: %d %s", status, text)
	}
	if status, _, _ := w.do("browser", "POST", page.Path(id), `{"approve":true}`); status != http.StatusMethodNotAllowed {
		t.Errorf("POST to the page: %d", status)
	}
	status, script, h := w.do("browser", "GET", "/page/page.js", "")
	if status != 200 || !strings.HasPrefix(h.Get("Content-Type"), "text/javascript") {
		t.Errorf("script: %d %s", status, h.Get("Content-Type"))
	}
	for _, bad := range []string{"innerHTML", "eval(", "document.write", ".focus()", "localStorage", "http://", "https://"} {
		if strings.Contains(script, bad) {
			t.Errorf("the script has %q", bad)
		}
	}
}

func TestRESTTellsTheAddress(t *testing.T) {
	w := open(t)
	status, text, _ := w.do("token", "POST", rest.Prefix+"/tools/write_note", `{"path":"New.md","content":"x\n"}`)
	if status != http.StatusAccepted || !regexp.MustCompile(`"approve_url":"`+regexp.QuoteMeta(w.base)+`/approvals/pending-`).MatchString(text) {
		t.Errorf("%d %s", status, text)
	}
}
