// Package userfacing finds every text that a person meets, with its place: in
// the page, in help texts, in error messages and in the docs. A person reads
// the list in one sitting (scripts/strings); a test compares it with the
// glossary.
package userfacing

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A String is one text with its place.
type String struct {
	Kind  string // "page", "help", "error", "docs"
	Place string // file:line, or the command whose help it is
	Text  string
}

// files calls visit with every file below root/dir that has one of the
// endings, by its path from root.
func files(root, dir string, endings []string, visit func(name, text string) error) error {
	return filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == "dist"):
			return filepath.SkipDir
		case d.IsDir() || !hasEnding(d.Name(), endings):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(name), string(text))
	})
}

func hasEnding(name string, endings []string) bool {
	for _, e := range endings {
		if strings.HasSuffix(name, e) {
			return true
		}
	}
	return false
}

func place(name, text string, offset int) string {
	return fmt.Sprintf("%s:%d", name, 1+strings.Count(text[:offset], "\n"))
}

var (
	inlineCode = regexp.MustCompile("`[^`]*`")
	linkTarget = regexp.MustCompile(`\]\([^)]*\)`)
)

// Docs are the lines of the Markdown files for people: those at the root and
// in docs. Code, and targets of links, are left out; comments in blocks of
// commands are not.
func Docs(root string) (out []String, err error) {
	add := func(name, text string) error {
		isCode := false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "```") {
				isCode = !isCode
				continue
			}
			if isCode {
				_, line, _ = strings.Cut(line, " # ")
			}
			line = linkTarget.ReplaceAllString(inlineCode.ReplaceAllString(line, "`…`"), "]")
			if hasWord.MatchString(line) {
				out = append(out, String{"docs", fmt.Sprintf("%s:%d", name, i+1), strings.TrimSpace(line)})
			}
		}
		return nil
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "GOALS.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		if err := add(name, string(text)); err != nil {
			return nil, err
		}
	}
	err = files(root, "docs", []string{".md"}, add)
	return out, err
}

var hasWord = regexp.MustCompile(`\pL{2}`)

// Help are the lines of the help of every command. run answers with what the
// program prints for these arguments.
func Help(run func(args ...string) (string, error)) (out []String, err error) {
	var walk func(command []string) error
	walk = func(command []string) error {
		text, err := run(append(append([]string{}, command...), "--help")...)
		if err != nil {
			return err
		}
		name := strings.Join(append([]string{"lore"}, command...), " ")
		isList := len(command) == 0
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			if hasWord.MatchString(line) {
				out = append(out, String{"help", name + " --help", strings.TrimSpace(line)})
			}
			if strings.HasSuffix(line, ":") && !strings.HasPrefix(line, " ") {
				isList = len(command) == 0 && !strings.HasPrefix(line, "Flags") && !strings.HasPrefix(line, "Begin") || line == "Commands:"
				continue
			}
			if m := commandLine.FindStringSubmatch(line); isList && m != nil {
				if err := walk(append(append([]string{}, command...), m[1])); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err = walk(nil)
	return out, err
}

var commandLine = regexp.MustCompile(`^  ([a-z][a-z-]*)  +\S`)
