package settings

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lore/internal/fault"
	"lore/internal/tool"
)

// TestToolsOfOthers: what cannot be the name of a tool is no setting. A name with
// a dot would become a table, and the file could not be read any more.
func TestToolsOfOthers(t *testing.T) {
	p, file := withConfig(t, "# mine\n", nil)
	for _, key := range []string{"tools.mcp__a.b", "instructions.mcp__a.b", "tools.mcp__a b", "tools.mcp__", "instructions.external"} {
		if _, err := p.Set(key, "off"); fault.Of(err) != fault.NotFound {
			t.Errorf("%s: %v", key, err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "# mine\n" {
		t.Errorf("a refusal changed the file: %q, %v", b, err)
	}
	for _, key := range []string{"tools.mcp__a-1__b", "instructions.mcp__a__b", "tools.external"} {
		if _, err := p.Set(key, "off"); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestWhatCannotBeReadIsNotWritten: whoever asks for it, a file stays one that the
// next start understands.
func TestWhatCannotBeReadIsNotWritten(t *testing.T) {
	p, file := withConfig(t, "# mine\n", nil)
	err := p.edit("it", func(*File, []byte) ([]byte, error) { return []byte("[tools.a]\nb = 'off'\n"), nil })
	if fault.Of(err) != fault.Invalid {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "# mine\n" {
		t.Errorf("the file: %q, %v", b, err)
	}
}

// TestTwoAtOnce: a person who changes several settings quickly changes them all.
func TestTwoAtOnce(t *testing.T) {
	p, _ := withConfig(t, "# mine\n", nil)
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if _, err := p.Set(fmt.Sprintf("tools.mcp__a__%d", i), "off"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if c, err := p.Read(); err != nil || len(c.Tools) != n {
		t.Errorf("%d of %d are kept: %v", len(c.Tools), n, err)
	}
}

// TestPathsThatStay: a list that is as it was keeps its comments, and where
// nothing changes the file is not written.
func TestPathsThatStay(t *testing.T) {
	dir := t.TempDir()
	text := fmt.Sprintf("[vaults.%q]\nexclude = [\n  'a', # of the others\n]\n", dir)
	p, file := withConfig(t, text, nil)
	if _, err := p.SetPaths(dir, Paths{Exclude: []string{"a"}, Protected: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != text+"protected = ['b']\n" {
		t.Errorf("%q, %v", b, err)
	}
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.SetPaths(dir, Paths{Exclude: []string{"a"}, Protected: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was written again: %v", err)
	}
	// What is wrong is said of the list that it is in.
	_, err = p.SetPaths(dir, Paths{Protected: []string{"[a"}})
	if err == nil || !strings.HasPrefix(err.Error(), "protected: ") || strings.Contains(err.Error(), "exclude") {
		t.Errorf("%v", err)
	}
}

// TestKeyOfTheEmbedder: a key where the name of a variable belongs is refused, and
// not repeated.
func TestKeyOfTheEmbedder(t *testing.T) {
	p, file := withConfig(t, "# mine\n", nil)
	_, err := p.Set("embed.key_env", "sk-sesame-123")
	if fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), "embed.key_env") || strings.Contains(err.Error(), "sesame") {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "# mine\n" {
		t.Errorf("a key is kept in the settings: %q, %v", b, err)
	}
	if _, err := p.Set("embed.key_env", "my_KEY_1"); err != nil {
		t.Error(err)
	}
}

// TestTwoProcessesAtOnce: the page and a command change a setting each, and both
// are kept.
func TestTwoProcessesAtOnce(t *testing.T) {
	const n, name = 20, "SETTINGS_OF"
	if of := os.Getenv(name); of != "" {
		p := Place{Env: os.Getenv, Tools: func() []*tool.Tool { return nil }}
		for i := range n {
			if _, err := p.Set(fmt.Sprintf("tools.mcp__%s__%d", of, i), "off"); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	p, file := withConfig(t, "# mine\n", nil)
	var wg sync.WaitGroup
	for _, of := range []string{"a", "b", "c"} {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProcessesAtOnce$")
			cmd.Env = append(os.Environ(), name+"="+of, "XDG_CONFIG_HOME="+filepath.Dir(filepath.Dir(file)))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if c, err := p.Read(); err != nil || len(c.Tools) != 3*n {
		t.Errorf("%d of %d are kept: %v", len(c.Tools), 3*n, err)
	}
}
