package choose_test

import (
	"os"
	"path/filepath"
	"testing"

	"lore/internal/agent/choose"
	"lore/internal/workspace/settings"
)

// TestTheSettingsChange: a process that stays uses what a person sets later, keeps
// what it knows of models, and goes on when the settings cannot be read.
func TestTheSettingsChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := func(k string) string {
		return map[string]string{"HOME": dir, "XDG_CONFIG_HOME": dir, "XDG_DATA_HOME": dir}[k]
	}
	place := settings.Place{Env: env}
	folder, err := place.Home().Config()
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const one = "[providers.one]\nkind = \"openai\"\nbase_url = \"http://192.0.2.1/v1\"\n"
	const two = "[providers.two]\nkind = \"openai\"\nbase_url = \"http://192.0.2.2/v1\"\n"
	m := choose.Models{Settings: place, Env: env}
	find := m.Finder()
	write(one)
	first, _, err := find(t.Context(), "one/m")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := find(t.Context(), "two/m"); err == nil {
		t.Fatal("a provider that nobody set")
	}
	if again, _, err := find(t.Context(), "one/m"); err != nil || again != first {
		t.Errorf("%v, or a model is made twice", err)
	}
	write(one + two)
	if _, _, err := find(t.Context(), "two/m"); err != nil {
		t.Errorf("what was set later is not known: %v", err)
	}
	write("this is no TOML")
	if _, _, err := find(t.Context(), "two/m"); err != nil {
		t.Errorf("the former settings are not in force: %v", err)
	}
}
