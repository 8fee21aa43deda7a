package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lore/scripts/strings/userfacing"
)

var (
	mdLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdCode  = regexp.MustCompile("`[^`]*`")
	notSlug = regexp.MustCompile(`[^\pL\pN _-]`)
)

// TestDocLinks follows every relative link of every Markdown file of the
// project, with its anchor.
func TestDocLinks(t *testing.T) {
	count := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "lore-demo" || d.Name() == "sample"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, target := range links(string(text)) {
			count++
			if problem := follow(path, target); problem != "" {
				t.Errorf("%s: %s: %s", path, target, problem)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 50 {
		t.Errorf("found %d links", count)
	}
}

// links are the targets of a Markdown text, without code and without those on
// the web.
func links(text string) (out []string) {
	isCode := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			isCode = !isCode
		}
		if isCode {
			continue
		}
		for _, m := range mdLink.FindAllStringSubmatch(mdCode.ReplaceAllString(line, ""), -1) {
			if !strings.Contains(m[1], "://") && !strings.HasPrefix(m[1], "mailto:") {
				out = append(out, m[1])
			}
		}
	}
	return out
}

func follow(from, target string) string {
	path, anchor, _ := strings.Cut(target, "#")
	file := from
	if path != "" {
		file = filepath.Join(filepath.Dir(from), filepath.FromSlash(path))
	}
	if _, err := os.Stat(file); err != nil {
		return "no such file"
	}
	if anchor == "" {
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	for line := range strings.Lines(string(text)) {
		if title := strings.TrimLeft(line, "#"); strings.HasPrefix(line, "#") && slug(title) == anchor {
			return ""
		}
	}
	return "no such heading"
}

// slug is the anchor that GitHub gives to a heading.
func slug(title string) string {
	return strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")
}

// allowed are places where a word that the glossary avoids is right, by the
// beginning of the place and the word.
var allowed = map[[2]string]string{
	{"CONTRIBUTING.md:", "minds"}:                             "the folder e2e/minds has this name",
	{"lore activity --help", "cancelled"}:                     "a status has this name in every record",
	{"internal/surface/http/rest/approvals.go:", "cancelled"}: "programs read the state by this name",
	{"web/src/parts/editor/language.ts:", "frontmatter"}:      "the editor's parser names a node so",
	{"web/src/parts/editor/live.ts:", "frontmatter"}:          "the same node",
}

// TestGlossary looks in the docs, the page, the help and the errors for words
// that docs/glossary.md avoids.
func TestGlossary(t *testing.T) {
	avoided := avoidedWords(t)
	if len(avoided) < 10 {
		t.Fatalf("the glossary avoids %d words", len(avoided))
	}
	docs, err := userfacing.Docs("..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := userfacing.Page("..")
	if err != nil {
		t.Fatal(err)
	}
	errs, err := userfacing.Errors("..")
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(docs, page, errs)
	env, dir := ownHome(t), t.TempDir()
	help, err := userfacing.Help(func(args ...string) (string, error) {
		code, text := typeCommand(t, dir, env, args)
		if code != 0 {
			return "", fmt.Errorf("lore %v: exit code %d", args, code)
		}
		return text, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, help...)

	if len(docs) < 500 || len(page) < 500 || len(errs) < 1000 {
		t.Errorf("read %d texts of the docs, %d of the page and %d errors", len(docs), len(page), len(errs))
	}
	for word, better := range avoided {
		found := phrase(word)
		for _, s := range all {
			isGlossary := strings.HasPrefix(s.Place, "docs/glossary.md:")
			if !isGlossary && found.MatchString(s.Text) && !isAllowed(s.Place, word) {
				t.Errorf("%s: the glossary says %q, not %q: %s", s.Place, better, word, s.Text)
			}
		}
	}
}

// avoidedWords are the words after "not:" in the glossary, with the word to use.
func avoidedWords(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if not, ok := strings.CutPrefix(strings.TrimSpace(cells[len(cells)-1]), "not: "); ok {
			for word := range strings.SplitSeq(not, ",") {
				out[strings.TrimSpace(word)] = strings.TrimSpace(cells[0])
			}
		}
	}
	return out
}

// phrase finds words as whole words, in any case.
func phrase(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|[^\pL_-])` + regexp.QuoteMeta(words) + `($|[^\pL_-])`)
}

func isAllowed(place, word string) bool {
	for known := range allowed {
		if strings.HasPrefix(place, known[0]) && known[1] == word {
			return true
		}
	}
	return false
}

func TestPhrase(t *testing.T) {
	for _, c := range []struct {
		text, phrase string
		want         bool
	}{
		{"A mind answers.", "mind", true},
		{"Mind", "mind", true},
		{"remind me", "mind", false},
		{"e2e_mind", "mind", false},
		{"take it back!", "take it back", true},
		{"take it backward", "take it back", false},
	} {
		if got := phrase(c.phrase).MatchString(c.text); got != c.want {
			t.Errorf("%q in %q: %v", c.phrase, c.text, got)
		}
	}
}
