package page_test

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lore/internal/event"
	"lore/internal/machine/state"
	"lore/internal/surface/http/page"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/surface/http/serve/servetest"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
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

// openWith serves an application, or none.
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
	pages, err := page.New(page.Options{App: app})
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
	link, err := server.LoginURL(t.Context(), l, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.browser = servetest.SignIn(t, link)
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

// TestWithoutTheApplication: a program without the page says so, to everybody, and
// tells nothing of the vault.
func TestWithoutTheApplication(t *testing.T) {
	w := open(t)
	id := w.ask("write_note", `{"path":"New.md","content":"secret words\n"}`)
	for _, path := range []string{"/", page.Path(id), page.Path("none"), "/login?code=x"} {
		for _, who := range []string{"", "token", "browser"} {
			status, text, h := w.do(who, "GET", path, "")
			if status != 200 || strings.Contains(text, "New.md") || strings.Contains(text, "secret") || !strings.Contains(text, "lore approvals") {
				t.Errorf("%s as %q: %d %s", path, who, status, text)
			}
			if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "script") || !strings.HasPrefix(h.Get("Content-Type"), "text/html") {
				t.Errorf("%s as %q: %v", path, who, h)
			}
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
