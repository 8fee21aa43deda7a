package prefs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lore/internal/settings"
	"lore/internal/state"
	"lore/internal/surface/prefs"
	"lore/internal/surface/rest"
	"lore/internal/surface/serve"
	"lore/internal/token"
	"lore/internal/tool"
)

// A world is a file of settings behind a real server, a person's browser, and a
// token that may do everything a token may.
type world struct {
	*testing.T
	base, token, file string
	person            *http.Client
}

func open(t *testing.T, text string, vars map[string]string) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{T: t, file: filepath.Join(dir, "lore", "config.toml")}
	if err := os.MkdirAll(filepath.Dir(w.file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"XDG_CONFIG_HOME": dir, "XDG_DATA_HOME": filepath.Join(dir, "data")}
	for k, v := range vars {
		env[k] = v
	}
	place := settings.Place{Env: func(k string) string { return env[k] }, Tools: func() []*tool.Tool { return nil }}
	db := state.In(t.TempDir())
	tokens := token.New(db, nil)
	var err error
	if _, w.token, err = tokens.Create(t.Context(), "all", token.Scopes(), 0); err != nil {
		t.Fatal(err)
	}
	server, err := serve.New(serve.Options{Listen: "127.0.0.1:0", Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	own := prefs.New(prefs.Options{Place: place, Vault: filepath.Join(dir, "vault"), Tools: func() ([]*tool.Tool, error) { return place.Tools(), nil }})
	api := rest.New(rest.Options{Door: tool.NewRegistry(tool.Deps{}, nil), More: own.Routes(), Types: prefs.Types(nil)})
	server.Add(api.Routes()...)
	l, err := server.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		api.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	w.base = server.Address(l)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.person = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := w.person.Get(server.LoginURL(l))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return w
}

// do makes a request as the person, or with the token.
func (w *world) do(method, bearer string, in, out any) int {
	w.Helper()
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			w.Fatal(err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(w.Context(), method, w.base+"/api/v1/settings", body)
	if err != nil {
		w.Fatal(err)
	}
	client := w.person
	if bearer != "" {
		client = &http.Client{}
		req.Header.Set("Authorization", "Bearer "+bearer)
	} else {
		req.Header.Set("Origin", w.base)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(b, out); err != nil {
			w.Fatalf("%s: %s", res.Status, b)
		}
	}
	return res.StatusCode
}

func (w *world) text() string {
	w.Helper()
	b, err := os.ReadFile(w.file)
	if err != nil {
		w.Fatal(err)
	}
	return string(b)
}

func find(list []settings.Setting, key string) (settings.Setting, bool) {
	i := slices.IndexFunc(list, func(s settings.Setting) bool { return s.Key == key })
	if i < 0 {
		return settings.Setting{}, false
	}
	return list[i], true
}

func TestWhatIsInForceAndFromWhere(t *testing.T) {
	w := open(t, "model = 'ollama/qwen3:8b'\n[vaults.\"/x\"]\nexclude = ['a']\n", map[string]string{"LORE_LOG_LEVEL": "error"})
	var all prefs.Settings
	if s := w.do(http.MethodGet, "", nil, &all); s != http.StatusOK {
		t.Fatal(s)
	}
	for key, want := range map[string][2]string{"model": {"ollama/qwen3:8b", "file"}, "log_level": {"error", "environment"}, "approve.create": {"ask", "default"}} {
		got, ok := find(all.Settings, key)
		if !ok || got.Value != want[0] || got.Source != want[1] || got.Doc == "" {
			t.Errorf("%s: %+v", key, got)
		}
	}
	for _, key := range []string{"(settings file)", `vaults."/x".exclude`} {
		if _, ok := find(all.Settings, key); ok {
			t.Errorf("%s is offered to be set", key)
		}
		if _, ok := find(all.Facts, key); !ok {
			t.Errorf("%s is not told", key)
		}
	}
}

func TestOneIsChangedAndTheRestStays(t *testing.T) {
	w := open(t, "# mine\nmodel = 'quote' # why\n", nil)
	var now settings.Setting
	if s := w.do(http.MethodPost, "", prefs.Decision{Key: "model", Value: "ollama/x"}, &now); s != http.StatusOK || now.Value != "ollama/x" || now.Source != "file" {
		t.Errorf("%d %+v", s, now)
	}
	if got := w.text(); got != "# mine\nmodel = 'ollama/x' # why\n" {
		t.Errorf("%q", got)
	}
	if s := w.do(http.MethodPost, "", prefs.Decision{Key: "model"}, &now); s != http.StatusOK || now.Value != "auto" || now.Source != "default" {
		t.Errorf("back to the default: %d %+v", s, now)
	}
}

// TestWhatTheEnvironmentSaysStays: the answer is what is in force, not what was
// asked for.
func TestWhatTheEnvironmentSaysStays(t *testing.T) {
	w := open(t, "", map[string]string{"LORE_MODEL": "ollama/env"})
	var now settings.Setting
	if s := w.do(http.MethodPost, "", prefs.Decision{Key: "model", Value: "ollama/file"}, &now); s != http.StatusOK || now.Value != "ollama/env" || now.Source != "environment" {
		t.Errorf("%d %+v", s, now)
	}
}

func TestWhatIsRefused(t *testing.T) {
	const text = "model = 'quote'\n"
	w := open(t, text, nil)
	for _, c := range []struct {
		d     prefs.Decision
		want  int
		field string
	}{
		{prefs.Decision{Key: "model", Value: "nonsense"}, http.StatusBadRequest, "model"},
		{prefs.Decision{Key: "modle", Value: "quote"}, http.StatusNotFound, ""},
		{prefs.Decision{Value: "quote"}, http.StatusBadRequest, "key"},
		{prefs.Decision{Key: "web.engine", Value: "x\"\n[approve]\ncreate = \"allow"}, http.StatusBadRequest, "value"},
		{prefs.Decision{Key: "(settings file)", Value: "/x"}, http.StatusNotFound, ""},
		{prefs.Decision{Key: "providers.openai.key", Value: "sk-secret"}, http.StatusNotFound, ""},
	} {
		var p struct {
			Field, Detail string
		}
		if s := w.do(http.MethodPost, "", c.d, &p); s != c.want || p.Field != c.field {
			t.Errorf("%+v: %d %+v", c.d, s, p)
		}
	}
	if got := w.text(); got != text {
		t.Errorf("a refusal changed the file: %q", got)
	}
}

func TestNoTokenReachesIt(t *testing.T) {
	const text = "model = 'quote'\n"
	w := open(t, text, nil)
	if s := w.do(http.MethodGet, w.token, nil, nil); s != http.StatusForbidden {
		t.Error(s)
	}
	if s := w.do(http.MethodPost, w.token, prefs.Decision{Key: "approve.create", Value: "allow"}, nil); s != http.StatusForbidden {
		t.Error(s)
	}
	if got := w.text(); got != text {
		t.Errorf("%q", got)
	}
}
