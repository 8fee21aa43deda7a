package e2e

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lore/internal/vault/sample"
)

// notRun are the commands of README.md that no test can run, by their first
// words, each with the reason. They are in ```bash blocks. Everything in a
// ```console block is run.
var notRun = map[string]string{
	"make demo":             "builds the program; the script demo.txtar runs lore demo",
	"make test":             "runs this test",
	"make install":          "writes outside the test's folders",
	"go install ./cmd/lore": "writes outside the test's folders",
	"lore serve":            "runs until it is stopped, for a browser; serve.txtar covers it",
	"lore install claude":   "is for a computer with that app; install.txtar covers it",
	"lore key set":          "needs a key that a person types",
	"lore config set":       "asks on the terminal; config.txtar covers it",
	"lore chat":             "needs a terminal and a model",
}

// A block is a fenced block of a Markdown file.
type block struct {
	lang  string
	lines []string
}

func blocks(text string) (out []block) {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch tag, isFence := strings.CutPrefix(line, "```"); {
		case isFence && !inside:
			out, inside = append(out, block{lang: tag}), true
		case isFence:
			inside = false
		case inside:
			last := &out[len(out)-1]
			last.lines = append(last.lines, line)
		}
	}
	return out
}

// A step is a command of a transcript with the lines that are shown below it.
type step struct {
	command string
	shown   []string
}

func steps(t *testing.T, b block) (out []step) {
	for _, line := range b.lines {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isCommand:
			out = append(out, step{command: command})
		case len(out) == 0:
			t.Fatalf("a console block begins with %q, not with a command", line)
		default:
			out[len(out)-1].shown = append(out[len(out)-1].shown, line)
		}
	}
	return out
}

func readme(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return blocks(string(text))
}

// TestReadmeCommands types every console block of the README in the vault
// that lore demo makes, in order, and compares what is shown with what is printed.
func TestReadmeCommands(t *testing.T) {
	if raced {
		t.Skip("runs one command after the other")
	}
	home, env := t.TempDir(), ownHome(t)
	vault := filepath.Join(home, "lore-demo")
	if code, out := typeCommand(t, home, env, []string{"demo"}); code != 0 {
		t.Fatalf("lore demo: exit code %d\n%s", code, out)
	}
	count := 0
	for _, b := range readme(t) {
		switch b.lang {
		case "console", "bash":
		default:
			t.Errorf("README.md: a block is marked %q; use console for commands that are run, bash for others", b.lang)
		}
		if b.lang != "console" {
			continue
		}
		for _, s := range steps(t, b) {
			count++
			args := words(t, s.command)
			if args[0] != "lore" {
				t.Errorf("%s: only lore is run here; put it into a bash block", s.command)
				continue
			}
			code, out := typeCommand(t, vault, env, args[1:])
			if code != 0 {
				t.Errorf("%s: exit code %d\n%s", s.command, code, out)
			}
			if problem := compare(s.shown, strings.Split(strings.TrimRight(out, "\n"), "\n")); problem != "" {
				t.Errorf("%s: %s\nprinted:\n%s", s.command, problem, out)
			}
		}
	}
	if count < 8 {
		t.Errorf("README.md has %d commands that are run", count)
	}
}

// TestReadmeOtherCommands wants a reason for every command that is not run, a
// target of the Makefile behind each make, and help with all flags behind each
// lore.
func TestReadmeOtherCommands(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	env, unused := ownHome(t), maps.Clone(notRun)
	for _, b := range readme(t) {
		if b.lang != "bash" {
			continue
		}
		for _, line := range b.lines {
			command, _, _ := strings.Cut(line, " #")
			command = strings.TrimSpace(command)
			isKnown := false
			for known := range notRun {
				if strings.HasPrefix(command+" ", known+" ") {
					isKnown = true
					delete(unused, known)
				}
			}
			if !isKnown {
				t.Errorf("README.md: %q is not run and has no reason in notRun", command)
			}
			args := words(t, command)
			switch args[0] {
			case "make":
				if !strings.Contains(string(makefile), "\n"+args[1]+":") {
					t.Errorf("%s: the Makefile has no such target", command)
				}
			case "lore":
				checkFlags(t, "README.md", env, args)
			}
		}
	}
	for known := range unused {
		t.Errorf("notRun has %q, which is not in README.md", known)
	}
}

// checkFlags looks in the help of a command for every flag that is given to it.
func checkFlags(t *testing.T, place string, env, args []string) {
	t.Helper()
	code, help := typeCommand(t, t.TempDir(), env, append(commandWords(args[1:]), "--help"))
	if code != 0 {
		t.Errorf("%s: %v: --help: exit code %d\n%s", place, args, code, help)
	}
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); strings.HasPrefix(arg, "--") && !strings.Contains(help, name) {
			t.Errorf("%s: %v: the help does not know %s", place, args, name)
		}
	}
}

// TestDocCommands wants that every lore in a bash block of docs has help, and
// knows the flags that are given to it.
func TestDocCommands(t *testing.T) {
	if raced {
		t.Skip("runs one command after the other")
	}
	pages, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	env, count := ownHome(t), 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(string(text)) {
			for _, line := range b.lines {
				command, _, _ := strings.Cut(line, " #")
				command, _, _ = strings.Cut(command, " | ")
				if b.lang == "bash" && strings.HasPrefix(command, "lore ") {
					count++
					checkFlags(t, page, env, words(t, command))
				}
			}
		}
	}
	if count < 40 {
		t.Errorf("docs have %d commands", count)
	}
}

// TestReadmeIds looks for every id in the README and docs/use.md among the
// nodes of the sample vault. Ids of operations are different in every vault.
func TestReadmeIds(t *testing.T) {
	vault := filepath.Join(t.TempDir(), "notes")
	if err := sample.Copy(vault); err != nil {
		t.Fatal(err)
	}
	var notes strings.Builder
	err := filepath.WalkDir(vault, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		notes.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`\b(?:clm|obs|hyp|qst|src)-[0-9a-z]+\b`)
	for _, name := range []string{"README.md", "docs/use.md"} {
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range id.FindAllString(string(text), -1) {
			if !strings.Contains(notes.String(), "id: "+found+"\n") {
				t.Errorf("%s: the sample vault has no %s", name, found)
			}
		}
	}
}

// ownHome is an environment in which no setting of the person who runs the
// tests is seen, and no model.
func ownHome(t *testing.T) []string {
	home := t.TempDir()
	return append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"),
		"XDG_DATA_HOME="+filepath.Join(home, "data"), "LORE_LIMITS_WAIT=60", "LORE_VAULT=", "LORE_LOG_LEVEL=", "LORE_EMBED_MODEL=",
		"LORE_MODEL=quote", "LORE_KEYRING=off", "NO_COLOR=1")
}

// typeCommand answers with the exit code and what a person would see: standard
// output and standard error in their order.
func typeCommand(t *testing.T, dir string, env, args []string) (code int, printed string) {
	t.Helper()
	var out strings.Builder
	cmd := exec.Command("lore", args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), out.String()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, out.String()
}

// commandWords are the words before the first flag that can name a command:
// of "key set anthropic" the first two.
func commandWords(args []string) (out []string) {
	for _, arg := range args {
		if len(out) == 2 || !regexp.MustCompile(`^[a-z-]+$`).MatchString(arg) || strings.HasPrefix(arg, "-") {
			break
		}
		out = append(out, arg)
	}
	return out
}

// words splits a command line: blanks separate, single quotes hold together.
func words(t *testing.T, line string) (out []string) {
	t.Helper()
	word, quoted, begun := "", false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, begun = !quoted, true
		case r == ' ' && !quoted:
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
	if quoted || len(out) == 0 {
		t.Fatalf("%q is no command line", line)
	}
	return out
}

// changing is what differs from run to run: ids of operations, times, scores.
var changing = regexp.MustCompile(`\bop-[0-9a-z]+\b|\b\d{4}-\d\d-\d\d \d\d:\d\d\b|\b[01]\.\d\d$`)

// compare says what is wrong with the shown lines. A line "..." stands for any
// number of printed lines.
func compare(shown, printed []string) string {
	if len(shown) == 0 {
		return "no output is shown; show it, or write ..."
	}
	at, skip := 0, false
	for _, line := range shown {
		if line == "..." {
			skip = true
			continue
		}
		same := func(p string) bool { return changing.ReplaceAllString(p, "#") == changing.ReplaceAllString(line, "#") }
		end := min(at+1, len(printed))
		if skip {
			end = len(printed)
		}
		found := slices.IndexFunc(printed[at:end], same)
		if found < 0 {
			return "not printed there: " + line
		}
		at, skip = at+found+1, false
	}
	if !skip && at < len(printed) {
		return "more is printed than is shown; end with ..."
	}
	return ""
}

func TestCompareTranscripts(t *testing.T) {
	printed := []string{"a", "undo op-abc", "b  0.93", "c"}
	for _, c := range []struct {
		shown string
		ok    bool
	}{
		{"...", true},
		{"a\n...", true},
		{"a\nundo op-xyz\nb  1.00\nc", true},
		{"...\nc", true},
		{"a\n...\nc", true},
		{"a", false},
		{"", false},
		{"b  0.93\n...", false},
		{"...\nc\na\n...", false},
		{"...\nd\n...", false},
		{"a\nundo\n...", false},
	} {
		var shown []string
		if c.shown != "" {
			shown = strings.Split(c.shown, "\n")
		}
		if problem := compare(shown, printed); (problem == "") != c.ok {
			t.Errorf("%q: %q", c.shown, problem)
		}
	}
}
