package userfacing

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write makes a project of these files and answers with its folder.
func write(t *testing.T, content map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "GOALS.md", "docs/x.md", "web/src/x.ts", "internal/x.go"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text := content[name]
		if text == "" && strings.HasSuffix(name, ".go") {
			text = "package x\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range content {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func compare(t *testing.T, found []String, want ...string) {
	t.Helper()
	var got []string
	for _, s := range found {
		got = append(got, s.Place+" "+s.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestPage(t *testing.T) {
	root := write(t, map[string]string{
		"web/src/a.svelte": `<script lang="ts">
  import X from './Some.svelte';
  const title = 'Recent changes'; // 'Not this'
  const pattern = /['"]/.test(title);
</script>
<!-- Not this -->
<p class="small Big">Your vault
  has {count(n, 'note')} and {n ? 'No problems' : ` + "`Found ${n} problems`" + `}.</p>
<input aria-label="Search notes" placeholder="{x} of Tea" id="Ab" />
<style>p { content: 'Not this' }</style>
`,
		"web/src/x.ts":       "export const a = { kind: 'plain', label: \"Don't ask\" };\n/* 'Not this' */\nconst b = 4 / 2; const c = 'Two words';\n",
		"web/src/x.test.ts":  "const a = 'Not this';\n",
		"web/src/api.gen.ts": "const a = 'Not this';\n",
	})
	found, err := Page(root)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, found, "web/src/a.svelte:3 Recent changes", "web/src/a.svelte:7 Your vault has", "web/src/a.svelte:8 and",
		"web/src/a.svelte:8 No problems", "web/src/a.svelte:8 Found … problems", "web/src/a.svelte:9 Search notes", "web/src/a.svelte:9 … of Tea",
		"web/src/x.ts:1 Don't ask", "web/src/x.ts:3 Two words")
}

func TestErrors(t *testing.T) {
	root := write(t, map[string]string{
		"internal/x.go":      "package x\n\nvar a = fault.Fix(fault.Invalid, \"give \"+\n\t\"the path\", `no note %q`, \"x\")\nvar b = errors.New(\"not this\")\n",
		"internal/x_test.go": "package x\n\nvar c = fault.New(fault.Invalid, \"not this\")\n",
	})
	found, err := Errors(root)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, found, "internal/x.go:3 give ", "internal/x.go:3 the path", "internal/x.go:4 no note %q")
}

func TestDocs(t *testing.T) {
	root := write(t, map[string]string{
		"README.md": "# Title\n\n```bash\nlore mind   # a comment\n```\n\nSee `code` in [the page](docs/x.md).\n",
	})
	found, err := Docs(root)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, found, "README.md:1 # Title", "README.md:4 a comment", "README.md:7 See `…` in [the page].")
}

func TestHelp(t *testing.T) {
	pages := map[string]string{
		"--help":          "Lore.\n\nBegin:\n  lore x  try it\n\nAsk the vault:\n  node  Manage nodes\n\nFlags of every command:\n  --json  as JSON\n",
		"node --help":     "Manage nodes.\n\nCommands:\n  get  Show a node\n\nFlags of every command:\n  --json  as JSON\n",
		"node get --help": "Show a node.\n",
	}
	found, err := Help(func(args ...string) (string, error) {
		text, ok := pages[strings.Join(args, " ")]
		if !ok {
			return "", errors.New("no command " + strings.Join(args, " "))
		}
		return text, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if last := found[len(found)-1]; len(found) != 13 || !slices.Contains(found, String{"help", "lore node get --help", "Show a node."}) {
		t.Errorf("%d texts, the last is %v", len(found), last)
	}
}
