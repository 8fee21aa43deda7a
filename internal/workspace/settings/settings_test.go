package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lore/internal/fault"
	"lore/internal/outside/websearch"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// environment is what a test says the environment is.
func environment(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// withConfig makes an app whose settings file has a text.
func withConfig(t *testing.T, text string, vars map[string]string) (Place, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "lore", "config.toml")
	all := map[string]string{"XDG_CONFIG_HOME": dir, "XDG_DATA_HOME": filepath.Join(dir, "data")}
	for k, v := range vars {
		all[k] = v
	}
	if text != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return Place{Env: environment(all), Tools: func() []*tool.Tool { return nil }}, path
}

func TestForce(t *testing.T) {
	file := "log_level = 'info'\n[embed]\nmodel = 'none'\n"
	for _, c := range []struct {
		name, file string
		env        map[string]string
		g          Flags
		key        string
		want, from string
	}{
		{"default", "", nil, Flags{}, "log_level", "warn", "default"},
		{"file", file, nil, Flags{}, "log_level", "info", "file"},
		{"environment", file, map[string]string{"LORE_LOG_LEVEL": "error"}, Flags{}, "log_level", "error", "environment"},
		{"flag", file, map[string]string{"LORE_LOG_LEVEL": "error"}, Flags{LogLevel: "debug"}, "log_level", "debug", "flag"},
		{"no search on the web", "", nil, Flags{}, "web.search", "off", "default"},
		{"search on the web", "[web]\nsearch = 'searxng'\nbase_url = 'http://localhost:8080'\n", nil, Flags{}, "web.base_url", "http://localhost:8080", "file"},
		{"search of the environment", "[web]\nsearch = 'off'\n", map[string]string{"LORE_WEB_SEARCH": "brave"}, Flags{}, "web.search", "brave", "environment"},
		{"key of the environment", "", map[string]string{"LORE_WEB_KEY_ENV": "BRAVE_API_KEY"}, Flags{}, "web.key_env", "BRAVE_API_KEY", "environment"},
		{"engine of the environment", "", map[string]string{"LORE_WEB_ENGINE": "0123"}, Flags{}, "web.engine", "0123", "environment"},
		{"address of the environment", "", map[string]string{"LORE_WEB_BASE_URL": "http://10.0.0.7/searx"}, Flags{}, "web.base_url", "http://10.0.0.7/searx", "environment"},
		{"a number without quotes", "[limits]\ncalls = 250\n", nil, Flags{}, "limits.calls", "250", "file"},
		{"a number in quotes", "[limits]\ncalls = '250'\n", nil, Flags{}, "limits.calls", "250", "file"},
		{"money without quotes", "[chats]\ncost = 0.5\n", nil, Flags{}, "chats.cost", "0.5", "file"},
		{"no flag sets it", file, nil, Flags{LogLevel: "debug"}, "embed.model", "none", "file"},
	} {
		a, _ := withConfig(t, c.file, c.env)
		conf, err := a.Read()
		if err != nil {
			t.Fatal(err)
		}
		val, from, err := a.Force(&conf, c.g, c.key)
		if err != nil || val != c.want || from != c.from {
			t.Errorf("%s: %q from %s, %v", c.name, val, from, err)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for _, c := range []struct {
		name, file string
		env        map[string]string
		g          Flags
		want       string
	}{
		{"unknown key", "colour = 'red'\n", nil, Flags{}, "config.toml:1: unknown setting colour"},
		{"mistyped key", "\n[embed]\nmodle = 'x'\n", nil, Flags{}, "config.toml:3: unknown setting embed.modle; did you mean embed.model?"},
		{"unknown key of a vault", "[vaults.\"/x\"]\nexclde = []\n", nil, Flags{}, "exclde"},
		{"broken", "vault = \n", nil, Flags{}, "config.toml:1: "},
		{"wrong type", "vault = 3\n", nil, Flags{}, "config.toml"},
		{"level in the file", "log_level = 'loud'\n", nil, Flags{}, `"loud" is not a log level (from the settings file); use debug`},
		{"level in the environment", "", map[string]string{"LORE_LOG_LEVEL": "loud"}, Flags{}, "(from $LORE_LOG_LEVEL)"},
		{"level by flag", "", nil, Flags{LogLevel: "loud"}, "(from --log-level)"},
		{"model", "[embed]\nmodel = 'ollama:'\n", nil, Flags{}, `"ollama:" is not an embedding model`},
		{"search engine", "[web]\nsearch = 'bing'\n", nil, Flags{}, `web.search: "bing" is not a supported search engine (from the settings file); use off, searxng, brave, google, tavily`},
		{"address of the search engine", "[web]\nbase_url = 'localhost:8080'\n", nil, Flags{}, `web.base_url: "localhost:8080" is not a server address`},
		{"password in the address", "[web]\nbase_url = 'http://me:sesame@host'\n", nil, Flags{}, `web.base_url: contains a user name or password (from the settings file); put user:password`},
		{"key instead of its name", "", map[string]string{"LORE_WEB_KEY_ENV": "tvly-sesame"}, Flags{}, `web.key_env: is not the name of an environment variable (from $LORE_WEB_KEY_ENV); give the name`},
		{"mistyped setting of the web", "[web]\nkey = 'x'\n", nil, Flags{}, "config.toml:2: unknown setting web.key"},
		{"address", "[embed]\nbase_url = 'ftp://x'\n", nil, Flags{}, `"ftp://x" is not a server address`},
		{"address with a password", "[embed]\nbase_url = 'https://me:sesame@host'\n", nil, Flags{}, "the address contains a user name or password"},
	} {
		a, _ := withConfig(t, c.file, c.env)
		_, err := a.List(c.g)
		if fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestSearchEngines: what can be set is what there is.
func TestSearchEngines(t *testing.T) {
	a, _ := withConfig(t, "", map[string]string{"MY_KEY": "k"})
	for _, kind := range append(websearch.Kinds(), "off") {
		for key, val := range map[string]string{"web.search": kind, "web.base_url": "http://127.0.0.1:8080", "web.key_env": "MY_KEY", "web.engine": "x"} {
			if _, err := a.Set(key, val); err != nil {
				t.Fatal(err)
			}
		}
		c, err := a.Read()
		if err != nil {
			t.Fatal(err)
		}
		s, err := websearch.FromSettings(func(key string) (string, error) { return a.Get(&c, key) }, a.Env)
		if err != nil || (s == nil) != (kind == "off") || s != nil && s.Name() != kind {
			t.Errorf("%s: %v, %v", kind, s, err)
		}
	}
}

func TestSet(t *testing.T) {
	text := "# mine\nlog_level = 'info' # why\n"
	a, path := withConfig(t, text, nil)
	for _, c := range []struct{ key, val string }{
		{"log_levle", "info"}, {"log_level", "loud"}, {"embed.model", "x"}, {"embed.base_url", "x"}, {"web.search", "x"}, {"web.base_url", "x"}, {"web.key_env", "a b"}, {"vault", filepath.Join(path, "x")}, {"vault", path},
	} {
		if _, err := a.Set(c.key, c.val); err == nil {
			t.Errorf("set %s to %q", c.key, c.val)
		}
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != text {
		t.Errorf("a refusal changed the file: %q, %v", b, err)
	}
	s, err := a.Set("log_level", "debug")
	if err != nil || s.Value != "debug" || s.Source != "file" {
		t.Errorf("%+v, %v", s, err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "# mine\nlog_level = 'debug' # why\n" {
		t.Errorf("%q, %v", b, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0o040 && os.PathSeparator == '/' {
		t.Errorf("permissions %v, %v", info.Mode(), err)
	}
}

// TestSetKeepsALink is for people who keep their settings in a folder of
// dotfiles.
func TestSetKeepsALink(t *testing.T) {
	a, path := withConfig(t, "log_level = 'info'\n", nil)
	real := filepath.Join(t.TempDir(), "dotfile.toml")
	if err := os.Rename(path, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, path); err != nil {
		t.Skip("no links here")
	}
	if _, err := a.Set("log_level", "debug"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if b, err := os.ReadFile(real); err != nil || string(b) != "log_level = 'debug'\n" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestExcluded(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"v", "w"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := &File{Vaults: map[string]Vault{
		filepath.Join(dir, "v"): {Exclude: []string{"a"}},
		filepath.Join(dir, "w", "..", "v") + string(os.PathSeparator): {Exclude: []string{"b"}},
		filepath.Join(dir, "missing"):                                 {Exclude: []string{"c"}},
	}}
	t.Chdir(filepath.Join(dir, "v"))
	for _, name := range []string{filepath.Join(dir, "v"), ".", filepath.Join("..", "v")} {
		if got := strings.Join(c.Excluded(name), ""); got != "ab" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := c.Excluded(filepath.Join(dir, "w")); got != nil {
		t.Errorf("another vault: %q", got)
	}
}

// TestSetPaths: the excluded and protected paths is kept for one vault, under the
// name that the file has for it, and the rest of the file stays.
func TestSetPaths(t *testing.T) {
	dir := t.TempDir()
	p, file := withConfig(t, "# mine\n[vaults.\"/other\"]\nexclude = ['x']\n\n[vaults."+strconv.Quote(dir+"/")+"]\nexclude = ['a'] # why\n", nil)
	got, err := p.SetPaths(dir, Paths{Protected: []string{" Private/** ", "", "Private/**"}, Exclude: []string{"b"}})
	if err != nil || !slices.Equal(got.Protected, []string{"Private/**"}) || !slices.Equal(got.Exclude, []string{"b"}) {
		t.Fatalf("%+v, %v", got, err)
	}
	want := "# mine\n[vaults.\"/other\"]\nexclude = ['x']\n\n[vaults." + strconv.Quote(dir+"/") + "]\nexclude = ['b'] # why\nprotected = ['Private/**']\n"
	if b, err := os.ReadFile(file); err != nil || string(b) != want {
		t.Errorf("the file: %q, %v", b, err)
	}
	if _, err := p.SetPaths(dir, Paths{Exclude: []string{"[a"}}); fault.Of(err) != fault.Invalid {
		t.Errorf("a broken pattern: %v", err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != want {
		t.Errorf("a refusal changed the file: %q, %v", b, err)
	}
}

// TestTool: what is said of one tool goes before what is said of its set, but for
// a set that is off.
func TestTool(t *testing.T) {
	put := &tool.Tool{Name: "put", Set: "notes", Aliases: []string{"old_put"}, Effect: access.Changes}
	look := &tool.Tool{Name: "look", Set: "notes", Effect: access.Reads}
	run := &tool.Tool{Name: "run", Set: "notes", Effect: access.Acts, Off: true}
	for _, c := range []struct {
		tools       map[string]string
		of          *tool.Tool
		state, from string
	}{
		{nil, put, "on", "default"},
		{map[string]string{"put": ""}, put, "on", "default"},
		{map[string]string{"notes": "ask"}, put, "ask", "set"},
		{map[string]string{"notes": "ask"}, look, "on", "default"},
		{map[string]string{"notes": "ask", "put": "allow"}, put, "allow", "file"},
		{map[string]string{"notes": "ask", "put": "on"}, put, "on", "file"},
		{map[string]string{"notes": "allow", "old_put": "ask"}, put, "ask", "file"},
		{map[string]string{"notes": "off", "put": "allow"}, put, "off", "set"},
		{map[string]string{"notes": "on", "look": "ask"}, look, "ask", "file"},
		{nil, run, "off", "default"},
		{map[string]string{"notes": "allow"}, run, "off", "default"},
		{map[string]string{"notes": "on"}, run, "off", "default"},
		{map[string]string{"run": "on"}, run, "on", "file"},
		{map[string]string{"run": "ask", "notes": "allow"}, run, "ask", "file"},
		{map[string]string{"run": "on", "notes": "off"}, run, "off", "set"},
	} {
		if state, from := (&File{Tools: c.tools}).Tool(c.of); state != c.state || from != c.from {
			t.Errorf("%v, %s: %s, %s", c.tools, c.of.Name, state, from)
		}
	}
}
