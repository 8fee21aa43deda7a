package choose_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/agent/choose"
	"lore/internal/llm"
	"lore/internal/machine/keys"
	"lore/internal/workspace/settings"
)

// place is a person's settings.
func place(t *testing.T, config string) *choose.Models {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "lore"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lore", "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(k string) string { return map[string]string{"XDG_CONFIG_HOME": dir, "HOME": dir}[k] }
	return &choose.Models{Settings: settings.Place{Env: env}, Env: env, Keys: keys.Store{Dir: filepath.Join(dir, "lore")}, Now: time.Now}
}

// serving is an Ollama with some models, by name with what they can.
func serving(t *testing.T, models ...[2]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/tags":
			var list []string
			for _, m := range models {
				list = append(list, fmt.Sprintf(`{"name":%q,"model":%q}`, m[0], m[0]))
			}
			fmt.Fprintf(w, `{"models":[%s]}`, strings.Join(list, ","))
		case "/api/show":
			b := make([]byte, 1000)
			n, _ := r.Body.Read(b)
			for _, m := range models {
				if strings.Contains(string(b[:n]), `"`+m[0]+`"`) {
					fmt.Fprintf(w, `{"capabilities":[%s],"model_info":{"x.context_length":4096}}`, m[1])
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestWhoAnswers: what a person set, or what runs on this machine, or nobody.
func TestWhoAnswers(t *testing.T) {
	at := func(url string) string { return fmt.Sprintf("[providers.ollama]\nbase_url = %q\n", url) }
	chat, tools, vectors := `"completion"`, `"completion","tools"`, `"embedding"`
	for name, c := range map[string]struct{ config, want string }{
		"nothing runs":        {at("http://127.0.0.1:1"), "quote"},
		"no model":            {at(serving(t)), "quote"},
		"one that can call":   {at(serving(t, [2]string{"e", vectors}, [2]string{"a", chat}, [2]string{"b", tools}, [2]string{"c", tools})), "ollama/b"},
		"one that cannot":     {at(serving(t, [2]string{"e", vectors}, [2]string{"a", chat})), "ollama/a"},
		"one that passes on":  {at(serving(t, [2]string{"big-cloud", tools}, [2]string{"a", chat})), "ollama/a"},
		"set":                 {"model = \"openai/x\"\n", "openai/x"},
		"set to none":         {"model = \"quote\"\n" + at(serving(t, [2]string{"b", tools})), "quote"},
		"not on this machine": {"[providers.ollama]\nlocal = \"no\"\n" + strings.TrimPrefix(at(serving(t, [2]string{"b", tools})), "[providers.ollama]\n"), "quote"},
	} {
		m := place(t, c.config)
		if got, err := m.Usual(t.Context()); err != nil || got != c.want {
			t.Errorf("%s: %q %v, want %q", name, got, err, c.want)
		}
		model, _, err := m.Finder()(t.Context(), "")
		if err != nil || model.ID() != c.want {
			t.Errorf("%s: found %v %v", name, model, err)
		}
		if late := m.Late(); (late != nil) != (name == "set") {
			t.Errorf("%s: %v judges", name, late)
		}
	}
}

// TestOwnPricesAndKeys: what a person said of a model counts, and a key that was
// kept is found.
func TestOwnPricesAndKeys(t *testing.T) {
	var key string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key = r.Header.Get("Authorization"); r.Method == http.MethodGet {
			fmt.Fprint(w, `{"data":[]}`)
			return
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1000000,\"completion_tokens\":500000}}\n\ndata: [DONE]\n\n")
	}))
	defer s.Close()
	m := place(t, fmt.Sprintf("[providers.box]\nkind = \"openai\"\nbase_url = %q\n[prices]\n\"box/x\" = \"2 / 10\"\n", s.URL))
	if _, err := m.Keys.Set("box", "sk-1"); err != nil {
		t.Fatal(err)
	}
	model, _, err := m.Finder()(t.Context(), "box/x")
	if err != nil {
		t.Fatal(err)
	}
	a, err := llm.Ask(context.Background(), model, llm.Request{Messages: []llm.Message{llm.Say(llm.User, "Hello")}})
	if err != nil || a.Usage.CostUSD == nil || *a.Usage.CostUSD != 7 || key != "Bearer sk-1" {
		t.Errorf("%v %+v %q", err, a.Usage, key)
	}
	for _, bad := range []string{"2", "x/1", "-1/2", "1/"} {
		if _, err := place(t, "[prices]\n\"box/x\" = \""+bad+"\"\n").Catalog(); err == nil || !strings.Contains(err.Error(), "not a valid price") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestAProviderThatWasTakenBack: a section of which every value is empty names
// no provider.
func TestAProviderThatWasTakenBack(t *testing.T) {
	c, err := place(t, "[providers.gone]\nkind = ''\nbase_url = ''\n[providers.box]\nbase_url = 'http://127.0.0.1:1'\n").Catalog()
	if err != nil {
		t.Fatal(err)
	}
	if names := c.Names(); slices.Contains(names, "gone") || !slices.Contains(names, "box") {
		t.Error(names)
	}
}
