package app

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault/sample"
)

// TestExamplesOfCommandsWork types every example of every command in a copy of the
// sample vault. Changes are planned and not made, so that each example finds the
// vault as it is.
func TestExamplesOfCommandsWork(t *testing.T) {
	dir := t.TempDir()
	for name, sub := range map[string]string{"HOME": "home", "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache", "APPDATA": "config", "LOCALAPPDATA": "data"} {
		t.Setenv(name, filepath.Join(dir, sub))
	}
	vault, err := sample.Place(filepath.Join(dir, "vault"))
	if err != nil {
		t.Fatal(err)
	}
	lore := func(line string, more ...string) (int, string) {
		var out bytes.Buffer
		args := slices.Concat([]string{"--vault", vault}, wordsOf(line), more)
		code := Run(t.Context(), args, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	// Something to undo, to redo and to show.
	for _, line := range []string{`index`, `set Matcha --updates rating=4 --yes`, `set Oolong --updates rating=4 --yes`, `undo --yes`} {
		if code, out := lore(line); code != 0 {
			t.Fatalf("lore %s: %d\n%s", line, code, out)
		}
	}
	for _, c := range catalogue() {
		_, help := lore(commandOf(c) + " --help")
		if c.Help.Short == "" {
			t.Errorf("%s has no text for people", c.Name)
		}
		for _, name := range toolNamesIn(help) {
			t.Errorf("lore %s --help names the tool %s: %s", commandOf(c), name, help)
		}
		var more []string
		switch c.Effect {
		case access.Changes:
			more = []string{"--dry-run"}
		case access.Acts:
			continue // it reaches the web
		}
		for _, e := range c.Help.Examples {
			line := commandOf(c) + " " + e
			if !strings.Contains(help, strings.TrimSpace("lore "+line)) {
				t.Errorf("lore %s --help does not show %q:\n%s", commandOf(c), line, help)
			}
			if code, out := lore(line, more...); code != 0 {
				t.Errorf("lore %s: %d\n%s", line, code, out)
			}
		}
	}
}

// commandOf is what a person types for a tool.
func commandOf(t *tool.Tool) string {
	if t.Short != "" {
		return t.Short
	}
	return strings.ReplaceAll(t.Name, "_", "-")
}

// toolNamesIn lists the tools that a help text names, except where it lists other
// names of the command.
func toolNamesIn(help string) []string {
	if before, after, ok := strings.Cut(help, "Aliases:\n"); ok {
		_, rest, _ := strings.Cut(after, "\n")
		help = before + rest
	}
	var out []string
	for _, w := range regexp.MustCompile(`[a-z]+(_[a-z]+)+`).FindAllString(help, -1) {
		if slices.ContainsFunc(catalogue(), func(t *tool.Tool) bool { return t.Name == w }) {
			out = append(out, w)
		}
	}
	return out
}

// wordsOf splits a line as a shell does, with single and double quotes.
func wordsOf(line string) []string {
	var out []string
	word, quote, begun := "", rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				out = append(out, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	if begun {
		out = append(out, word)
	}
	return out
}
