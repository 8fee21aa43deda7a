package prefs_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lore/internal/surface"
	"lore/internal/surface/http/prefs"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/surface/http/serve/servetest"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/workspace/settings"
)

// A world is a file of settings behind a real server.
type world struct {
	*servetest.World
	file, vault string
}

func open(t *testing.T, text string, vars map[string]string) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{file: filepath.Join(dir, "lore", "config.toml"), vault: filepath.Join(dir, "vault")}
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
	tools := func() []*tool.Tool {
		return []*tool.Tool{
			{Name: "look", Set: "notes", Effect: access.Reads, Doc: "Looks.\n\nLong words.", Instructions: "Use it first."},
			{Name: "put", Set: "notes", Effect: access.Changes, Doc: "Puts."}, {Name: "other", Set: "more", Effect: access.Changes, Doc: "Is other."},
		}
	}
	place := settings.Place{Env: func(k string) string { return env[k] }, Tools: tools}
	w.World = servetest.Open(t, func(*serve.Server, *servetest.World) []serve.Route {
		own := prefs.New(prefs.Options{Vault: w.vault, Host: surface.Host{Settings: place, Catalog: tools, External: func(string) ([]*tool.Tool, error) { return nil, nil }}})
		api := rest.New(rest.Options{Door: tool.NewRegistry(tool.Deps{}, nil), More: own.Routes(), Types: prefs.Types(nil)})
		t.Cleanup(api.Close)
		return api.Routes()
	})
	return w
}

// do makes a request as the person, or with the token.
func (w *world) do(method, bearer string, in, out any) int {
	w.Helper()
	return w.Do(method, "/api/v1/settings", bearer, in, out)
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
	if s := w.do(http.MethodGet, w.Token, nil, nil); s != http.StatusForbidden {
		t.Error(s)
	}
	if s := w.do(http.MethodPost, w.Token, prefs.Decision{Key: "approve.create", Value: "allow"}, nil); s != http.StatusForbidden {
		t.Error(s)
	}
	if got := w.text(); got != text {
		t.Errorf("%q", got)
	}
}

// TestTools: each tool tells what is in force for it and from where, and is
// changed like any setting.
func TestTools(t *testing.T) {
	w := open(t, "[tools]\nnotes = 'ask'\n[instructions]\nlook = 'Mine.'\n", nil)
	look := func() map[string]prefs.ToolSetting {
		t.Helper()
		var all prefs.ToolSettings
		if s := w.Do(http.MethodGet, "/api/v1/settings/tools", "", nil, &all); s != http.StatusOK {
			t.Fatal(s)
		}
		out := map[string]prefs.ToolSetting{}
		for _, one := range all.Tools {
			out[one.Name] = one
		}
		if len(all.Sets) != 2 || all.Sets[0].Name != "notes" || all.Sets[0].Tools != 2 {
			t.Errorf("the sets: %+v", all.Sets)
		}
		return out
	}
	now := look()
	if got := now["look"]; got.State != "on" || got.From != "default" || got.Told != "Mine." || !got.Own || got.Doc != "Looks." {
		t.Errorf("to ask about a set is to ask about what it changes: %+v", got)
	}
	if got := now["put"]; got.State != "ask" || got.From != "set" {
		t.Errorf("%+v", got)
	}
	for key, value := range map[string]string{"tools.put": "allow", "tools.other": "off", "instructions.look": "", "instructions.put": "One.\nTwo."} {
		if s := w.do(http.MethodPost, "", prefs.Decision{Key: key, Value: value}, nil); s != http.StatusOK {
			t.Errorf("%s: %d", key, s)
		}
	}
	now = look()
	if got := now["put"]; got.State != "allow" || got.From != "file" || got.Told != "One.\nTwo." {
		t.Errorf("what is said of one tool goes before its set: %+v", got)
	}
	if got := now["look"]; got.Told != "Use it first." || got.Own {
		t.Errorf("back to what Lore says: %+v", got)
	}
	if got := now["other"]; got.State != "off" {
		t.Errorf("%+v", got)
	}
	if s := w.do(http.MethodPost, "", prefs.Decision{Key: "instructions.nothing", Value: "x"}, nil); s != http.StatusNotFound {
		t.Error(s)
	}
	if s := w.do(http.MethodPost, "", prefs.Decision{Key: "tools.put"}, nil); s != http.StatusOK || look()["put"].From != "set" {
		t.Errorf("as it comes again: %d %+v", s, look()["put"])
	}
}

// TestPaths: what is hidden and what is protected is kept for the vault that is
// served, and for no other.
func TestPaths(t *testing.T) {
	w := open(t, "[vaults.\"/x\"]\nexclude = ['a']\n", nil)
	const at = "/api/v1/settings/paths"
	var now settings.Paths
	if s := w.Do(http.MethodGet, at, "", nil, &now); s != http.StatusOK || now.Exclude == nil || len(now.Exclude)+len(now.Protected) != 0 {
		t.Errorf("%d %+v", s, now)
	}
	if s := w.Do(http.MethodPost, at, "", settings.Paths{Protected: []string{"Private/**", " "}, Exclude: []string{"*.tmp.md"}}, &now); s != http.StatusOK || !slices.Equal(now.Protected, []string{"Private/**"}) {
		t.Errorf("%d %+v", s, now)
	}
	text := w.text()
	if !strings.Contains(text, "[vaults.\"/x\"]\nexclude = ['a']\n") || !strings.Contains(text, "protected = ['Private/**']") {
		t.Errorf("%q", text)
	}
	var p struct{ Field string }
	if s := w.Do(http.MethodPost, at, "", settings.Paths{Exclude: []string{"[x"}}, &p); s != http.StatusBadRequest || p.Field != "exclude" {
		t.Errorf("%d %+v", s, p)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if s := w.Do(method, at, w.Token, settings.Paths{}, nil); s != http.StatusForbidden {
			t.Errorf("%s with a token: %d", method, s)
		}
	}
	if got := w.text(); got != text {
		t.Errorf("%q", got)
	}
}
