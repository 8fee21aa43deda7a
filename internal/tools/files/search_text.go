package files

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/files/doctext"
	"lore/internal/tools/files/grep"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
	"lore/internal/vault/pattern"
)

// SearchText: Find the lines of files that match a regular expression (RE2).
// To find notes by meaning, use search_notes.
type SearchText struct {
	// Expression.
	Pattern string `json:"pattern" size:"prose"`
	// File or folder.
	Path string `json:"path,omitempty" word:"true"`
	// Only such files: "*.go", "src/**".
	Glob string `json:"glob,omitempty"`
	// Take the pattern as plain text.
	Literal bool `json:"literal,omitempty"`
	// Ignore case.
	IgnoreCase bool `json:"ignore_case,omitempty"`
	// Also search PDF and office files.
	Documents bool `json:"documents,omitempty"`
	// Lines around each match.
	Context int `json:"context,omitempty" min:"0" max:"20"`
	// Skip this many.
	Offset int `json:"offset,omitempty" min:"0"`
	// Max matches.
	Limit int `json:"limit,omitempty" default:"100" min:"1" max:"1000"`
}

// Help is the text for people.
func (SearchText) Help() tool.Help {
	return tool.Help{
		Short: "Find lines that match a regular expression",
		Long: "Searches every text file in the vault, not only notes, and prints matching lines as path:line:text. Hidden and excluded files are skipped. " +
			"Exits with code 1 if no line matches. lore search finds notes by words and meaning.",
		Flags: map[string]string{
			"pattern":     "regular expression (RE2)",
			"path":        "file or folder to search (default: everything)",
			"glob":        `only files that match this pattern, such as "*.md" or "src/**"`,
			"literal":     "treat the pattern as plain text",
			"ignore-case": "ignore case",
			"documents":   "also search the text of PDF, Word, Excel, PowerPoint and OpenDocument files",
			"context":     "lines to show around each match",
			"offset":      "skip this many matches",
			"limit":       "maximum number of matches",
		},
		Examples: []string{`"[0-9]+ ml"`, `oolong Notes --ignore-case --limit 3`, `whisk --glob "*.md" --context 1`},
	}
}

// TextMatches are the lines that match.
type TextMatches struct {
	Matches []TextMatch `json:"matches"`
	// Total lines that match, in this many files.
	Total int `json:"total"`
	Files int `json:"files"`
	// Searched files.
	Searched int `json:"searched"`
	// Skipped files: too large, or not readable.
	Skipped int             `json:"skipped,omitempty"`
	More    string          `json:"more,omitempty"`
	Index   index.Freshness `json:"index"`

	outside bool
}

// ShowsOutside tells that text of a document is among them, as for
// [AttachmentText].
func (t TextMatches) ShowsOutside() bool { return t.outside }

// TextMatch is one line that matches.
type TextMatch struct {
	Path string `json:"path"`
	// Line of the file, or of the text that read_attachment returns.
	Line int `json:"line"`
	// Page of a document.
	Page string `json:"page,omitempty"`
	Text string `json:"text"`
	// Before and After are the lines around it.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// Run searches the files as they are now.
func (in SearchText) Run(ctx context.Context, env Env) (TextMatches, error) {
	m, err := grep.Compile(in.Pattern, in.Literal, in.IgnoreCase)
	if err != nil {
		return TextMatches{}, err
	}
	var globs pattern.List
	if in.Glob != "" {
		if globs, err = pattern.Compile([]string{in.Glob}); err != nil {
			return TextMatches{}, fault.Rename(err, "exclude", "glob")
		}
	}
	found, err := in.search(ctx, env, m, globs)
	if err != nil {
		return TextMatches{}, err
	}
	var documents map[string]doctext.Text
	if in.Documents {
		if documents, err = in.addDocuments(ctx, env, m, globs, &found); err != nil {
			return TextMatches{}, err
		}
	}
	page, _ := paging.Cut(found.Matches, in.Offset, in.Limit)
	out := TextMatches{
		Matches: []TextMatch{}, Total: found.Total, Files: found.Files, Searched: found.Searched, Skipped: found.Skipped,
		More: paging.More(min(in.Offset, found.Total), len(page), found.Total), Index: env.Fresh(ctx),
	}
	for _, f := range page {
		d, isDocument := documents[f.Path]
		out.outside = out.outside || isDocument
		out.Matches = append(out.Matches, TextMatch{Path: f.Path, Line: f.Line, Page: d.PageAt(f.Line), Text: f.Text, Before: f.Before, After: f.After})
	}
	return out, nil
}

// addDocuments adds the lines of documents that match, and returns the documents.
func (in SearchText) addDocuments(ctx context.Context, env Env, m *grep.Matcher, globs pattern.List, found *grep.Found) (map[string]doctext.Text, error) {
	folder, err := env.folderAt(in.Path)
	if err != nil {
		return nil, err
	}
	if folder != "" && doctext.IsName(folder) { // one document
		globs, err = pattern.Compile([]string{pattern.Literal(folder)})
		if err != nil {
			return nil, err
		}
		if folder = path.Dir(folder); folder == "." {
			folder = ""
		}
	}
	more, documents, err := env.searchDocuments(ctx, folder, m, globs, grep.Options{Context: in.Context, Most: in.Offset + in.Limit})
	found.Matches = append(found.Matches, more.Matches...)
	found.Total, found.Files, found.Searched, found.Skipped = found.Total+more.Total, found.Files+more.Files, found.Searched+more.Searched, found.Skipped+more.Skipped
	slices.SortStableFunc(found.Matches, func(a, b grep.Match) int { return cmp.Or(strings.Compare(a.Path, b.Path), a.Line-b.Line) })
	return documents, err
}

func (in SearchText) search(ctx context.Context, env Env, m *grep.Matcher, globs pattern.List) (grep.Found, error) {
	o := grep.Options{Context: in.Context, Most: in.Offset + in.Limit}
	folder, err := env.folderAt(in.Path)
	if err != nil {
		return grep.Found{}, err
	}
	if in.Documents && doctext.IsName(folder) {
		return grep.Found{}, nil // its text is searched, not its bytes
	}
	if folder != "" {
		f, err := env.Vault.Read(ctx, folder)
		switch kind := fault.Of(err); {
		case err == nil:
			return grep.Text(f.Path, f.Data, m, o), nil
		case kind != fault.Invalid && kind != fault.NotFound && kind != fault.Denied:
			return grep.Found{}, err
		}
		if _, err := env.list(ctx, folder); err != nil { // it is not told of what the caller cannot see
			return grep.Found{}, err
		}
	}
	at, _, err := env.openFolder(folder)
	if err != nil {
		return grep.Found{}, err
	}
	defer at.Close()
	env.only(ctx, folder, globs, &o)
	if may := o.File; in.Documents {
		o.File = func(p string) bool { return !doctext.IsName(p) && may(p) }
	}
	found, err := grep.Search(ctx, at, m, o)
	for i := range found.Matches {
		found.Matches[i].Path = vault.Key(path.Join(folder, found.Matches[i].Path))
	}
	return found, err
}

// View writes the lines as grep does.
func (t TextMatches) View() tool.View {
	var b strings.Builder
	for i, m := range t.Matches {
		if i > 0 && len(m.Before)+len(m.After)+len(t.Matches[i-1].After) > 0 {
			b.WriteString("--\n")
		}
		for j, l := range m.Before {
			fmt.Fprintf(&b, "%s-%d-%s\n", m.Path, m.Line-len(m.Before)+j, l)
		}
		fmt.Fprintf(&b, "%s:%d:%s\n", m.Path, m.Line, m.Text)
		for j, l := range m.After {
			fmt.Fprintf(&b, "%s-%d-%s\n", m.Path, m.Line+j+1, l)
		}
	}
	v := tool.View{Text: b.String(), Foot: toolkit.Foot(t.Index, t.More)}
	if t.Total == 0 {
		v.Exit, v.Foot = 1, toolkit.Foot(t.Index, "No matches found in "+toolkit.Count(t.Searched, "file"))
	}
	return v
}
