package automation_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/outside/egress"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/automation"
)

// own is a vault with tools that a person wrote and allowed.
func own(t *testing.T, allow []string, files map[string]string) (*tool.Registry, string, func()) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := tooltest.Open(t, dir, nil)
	var reg *tool.Registry
	env := automation.Env{
		Vault: p.Vault, Folder: "Workflows", ToolFolder: "Tools", Registry: func() *tool.Registry { return reg },
		Client: func() (*egress.Client, error) { return egress.New(egress.Options{Allow: allow}) },
		Command: func(_ context.Context, argv []string, _ int) (any, change.Set, error) {
			return map[string]any{"argv": argv}, change.Set{change.Create("made.md", "x")}, nil
		},
	}
	reg = tool.NewRegistry(p.Deps(), automation.Tools(env))
	return reg, dir, func() {
		if err := env.RefreshOwn(t.Context(), reg, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// call makes a call as a model, and approves whatever is asked.
func call(t *testing.T, reg *tool.Registry, name, args string) (tool.Result, []tool.Question, error) {
	t.Helper()
	model := access.Principal{Kind: access.Agent, ID: "run", Surface: "test", Scopes: []access.Scope{access.Read, access.Write, access.Destroy, access.Egress, access.Exec}}
	res, err := reg.Call(t.Context(), model, name, json.RawMessage(args))
	var asked []tool.Question
	for err == nil && res.Question != nil && len(asked) < 5 {
		q := *res.Question
		asked = append(asked, q)
		res, err = reg.Answer(t.Context(), access.Terminal(), q.ID, tool.Answer{Approve: true, Revision: q.Revision})
	}
	return res, asked, err
}

// A tool that asks a host is asked about each time, with what leaves; what is filled
// in stays in its place; its answer is text from outside.
func TestOwnRequest(t *testing.T) {
	var got *http.Request
	var body string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
		_, _ = io.WriteString(w, "sunny")
	}))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	file := "description: Tells the weather.\ninputs: {city: {type: text}}\nhttp:\n  method: POST\n  url: " + srv.URL + "/w?q={{ inputs.city }}\n  headers: {X-City: '{{ inputs.city }}'}\n  body: {name: '{{ inputs.city }}'}\n"
	reg, dir, _ := own(t, []string{host}, map[string]string{"Tools/weather.yaml": file})
	if _, _, err := call(t, reg, "own_weather", `{"city":"x"}`); err == nil {
		t.Fatal("a tool that nobody allowed can be called")
	}
	if _, asked, err := call(t, reg, "add_own_tool", `{"tool":"weather"}`); err != nil || len(asked) != 1 || !strings.Contains(strings.Join(asked[0].Preview.Steps, "\n"), "body: {name:") {
		t.Fatal(asked, err)
	}
	res, asked, err := call(t, reg, "own_weather", `{"city":"New York&admin=1/../x"}`)
	if err != nil || len(asked) != 1 || asked[0].Risk != "egress" || !res.Untrusted {
		t.Fatal(res, asked, err)
	}
	if got.URL.Path != "/w" || got.URL.Query().Get("q") != "New York&admin=1/../x" || got.URL.Query().Has("admin") || body != `{"name":"New York\u0026admin=1/../x"}` && !strings.Contains(body, "New York&admin") {
		t.Errorf("%s %s", got.URL, body)
	}
	if raw, _ := json.Marshal(res); !strings.Contains(string(raw), `"text":"sunny"`) {
		t.Errorf("%s", raw)
	}
	if _, _, err := call(t, reg, "own_weather", `{"city":"x","more":1}`); err == nil {
		t.Error("an argument that is not declared is taken")
	}
	// Another text is another tool.
	if err := os.WriteFile(filepath.Join(dir, "Tools/weather.yaml"), []byte(strings.Replace(file, "/w?", "/evil?", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := call(t, reg, "own_weather", `{"city":"x"}`); err == nil || !strings.Contains(err.Error(), "changed since a person allowed it") {
		t.Error(err)
	}
	if strings.Contains(got.URL.Path, "evil") {
		t.Error("the changed address was asked")
	}
}

// Without a setting, a tool reaches no private host.
func TestOwnRequestStaysPublic(t *testing.T) {
	reached := false
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer srv.Close()
	reg, _, _ := own(t, nil, map[string]string{"Tools/evil.yaml": "description: Asks this computer.\nhttp: {url: '" + srv.URL + "/'}\n"})
	if _, _, err := call(t, reg, "add_own_tool", `{"tool":"evil"}`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := call(t, reg, "own_evil", `{}`); err == nil || reached {
		t.Errorf("reached %v, %v", reached, err)
	}
}

// A command is asked about with what it runs, and once more about what it changed. A
// tool whose file is gone is gone.
func TestOwnCommand(t *testing.T) {
	reg, dir, refresh := own(t, nil, map[string]string{"Tools/count.yaml": "description: Counts words.\ninputs: {path: {type: text}, n: {type: number, default: 3}}\ncommand: [wc, '-w', '{{ inputs.path }}', 'n={{ inputs.n }}']\n"})
	if _, _, err := call(t, reg, "add_own_tool", `{"tool":"own_count"}`); err != nil {
		t.Fatal(err)
	}
	res, asked, err := call(t, reg, "own_count", `{"path":"a; rm -rf b"}`)
	if err != nil || len(asked) != 2 || asked[0].Risk != "exec" || asked[0].Preview.Summary != "Run wc -w a; rm -rf b n=3" || len(asked[1].Changes) != 1 {
		t.Fatal(asked, err)
	}
	if raw, _ := json.Marshal(res); !strings.Contains(string(raw), `"argv":["wc","-w","a; rm -rf b","n=3"]`) {
		t.Errorf("%s", raw)
	}
	if err := os.Remove(filepath.Join(dir, "Tools/count.yaml")); err != nil {
		t.Fatal(err)
	}
	refresh()
	if _, err := reg.Find("own_count"); err == nil {
		t.Error("a tool without its file is still offered")
	}
}

// A permission that was taken back ends at once, also where the tool is still listed.
func TestOwnToolIsTakenBack(t *testing.T) {
	reg, _, _ := own(t, nil, map[string]string{"Tools/count.yaml": "description: Counts words.\ncommand: [wc]\n"})
	if _, _, err := call(t, reg, "add_own_tool", `{"tool":"count"}`); err != nil {
		t.Fatal(err)
	}
	rules, err := reg.Rules(t.Context())
	if err != nil || len(rules) != 1 {
		t.Fatal(rules, err)
	}
	if err := reg.Forget(t.Context(), access.Terminal(), rules[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := call(t, reg, "own_count", `{}`); err == nil || !strings.Contains(err.Error(), "allow") {
		t.Error(err)
	}
}
