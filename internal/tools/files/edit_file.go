package files

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// EditFile: Find and replace text in a file. The text must occur once, unless
// all is set.
type EditFile struct {
	// Path.
	Path string `json:"path"`
	// Text to find, copied from the file.
	Find string `json:"find" size:"prose"`
	// Its replacement; with regex, $1 is a group.
	Replace string `json:"replace,omitempty" size:"text"`
	// Replace every occurrence.
	All bool `json:"all,omitempty"`
	// Find is an RE2 expression.
	Regex bool `json:"regex,omitempty"`
	// Expected hash, from a read.
	IfHash string `json:"if_hash,omitempty"`
}

// Help is the text for people.
func (EditFile) Help() tool.Help {
	return tool.Help{
		Short: "Find and replace text in a file",
		Long:  "The text must occur exactly once, unless you use --all. lore edit is for notes.",
		Flags: map[string]string{
			"path":    "path of the file",
			"find":    "text to find",
			"replace": "text to put in its place; with --regex, $1 is the first group",
			"all":     "replace every occurrence",
			"regex":   "the text to find is a regular expression (RE2)",
		},
		Examples: []string{`Notes/Matcha.md "70 ml of water" --replace "80 ml of water"`},
	}
}

// EditedFile is a file that was changed in part.
type EditedFile struct {
	Path string `json:"path"`
	Hash string `json:"hash"`
	// Lines where the changes start, in the old text.
	Lines []int `json:"lines"`
	// Replaced is the number of places that changed.
	Replaced int `json:"replaced"`
	// Bytes of the file after the change.
	Bytes int `json:"bytes"`
}

// Plan finds the places and patches them.
func (in EditFile) Plan(ctx context.Context, env Env) (EditedFile, change.Set, error) {
	if in.Find == "" {
		return EditedFile{}, nil, fault.Field("find", "give the text to replace", "is empty")
	}
	f, err := env.editable(ctx, in.Path, in.IfHash)
	if err != nil {
		return EditedFile{}, nil, err
	}
	patches, err := in.patches(f)
	if err != nil {
		return EditedFile{}, nil, err
	}
	return f.edited(patches)
}

// editable reads a file that the caller may change.
func (env Env) editable(ctx context.Context, p, ifHash string) (textFile, error) {
	if err := refuseRunnable(ctx, p); err != nil {
		return textFile{}, err
	}
	f, err := env.existing(ctx, p, ifHash)
	if err != nil {
		return textFile{}, err
	}
	return f, refuseRunnable(ctx, f.Path)
}

func (in EditFile) patches(f textFile) ([]change.Patch, error) {
	if !in.Regex && !in.All {
		p, err := toolkit.ReplaceOne(f.Path, f.text, in.Find, in.Replace)
		return []change.Patch{p}, fault.Rename(err, "search", "find")
	}
	var out []change.Patch
	if in.Regex {
		re, err := regexp.Compile(in.Find)
		if err != nil {
			return nil, fault.Field("find", "write an RE2 expression, or leave out regex", "%v", err)
		}
		for _, at := range re.FindAllStringSubmatchIndex(f.text, -1) {
			text := re.ExpandString(nil, in.Replace, f.text, at)
			out = append(out, change.Patch{Start: at[0], End: at[1], Text: string(text)})
		}
	} else {
		eol := toolkit.LineEnd(f.text)
		find, replace := toolkit.LineEnds(in.Find, eol), toolkit.LineEnds(in.Replace, eol)
		for _, at := range toolkit.Occurrences(f.text, find) {
			out = append(out, change.Patch{Start: at, End: at + len(find), Text: replace})
		}
	}
	return out, in.counted(f, out)
}

// counted refuses no place, and several where one was meant.
func (in EditFile) counted(f textFile, patches []change.Patch) error {
	shown := toolkit.Truncate(toolkit.OneLine(in.Find), 60)
	switch {
	case len(patches) == 0:
		return &fault.Report{Kind: fault.NotFound, Field: "find", Message: fmt.Sprintf("find: %q was not found in %s", shown, f.Path), Fix: "read it again and copy the text exactly"}
	case len(patches) == 1 || in.All:
		return nil
	}
	var lines []string
	for _, p := range patches[:min(len(patches), 10)] {
		lines = append(lines, fmt.Sprintf("line %d", toolkit.LineAt(f.text, p.Start)))
	}
	return &fault.Report{
		Kind: fault.Ambiguous, Field: "find", Message: fmt.Sprintf("find: %q occurs %d times in %s: %s", shown, len(patches), f.Path, strings.Join(lines, ", ")),
		Fix: "include more of the lines around it, or set all",
	}
}

// edited puts patches of a file into a set: nothing when they change nothing.
func (f textFile) edited(patches []change.Patch) (EditedFile, change.Set, error) {
	after, err := change.Splice(f.text, patches...)
	if err != nil {
		return EditedFile{}, nil, fault.New(fault.Conflict, "two edits to %s overlap: %v", f.Path, err)
	}
	out := EditedFile{Path: f.Path, Hash: vault.Sum([]byte(after)).String(), Bytes: len(after), Lines: []int{}, Replaced: len(patches)}
	line, at := 1, 0
	for _, p := range patches[:min(len(patches), maxLines)] {
		if p.Start < at { // blocks come in any order
			line, at = 1, 0
		}
		line += strings.Count(f.text[at:p.Start], "\n")
		at = p.Start
		out.Lines = append(out.Lines, line)
	}
	if after == f.text {
		return out, nil, nil
	}
	return out, change.Set{change.Replace(f.Path, f.text, after)}, nil
}

// maxLines is how many places an answer names.
const maxLines = 100

// Preview tells how many places change.
func (e EditedFile) Preview() tool.Preview {
	return tool.Preview{
		Summary:  fmt.Sprintf("Edit %s in %s", e.Path, toolkit.Count(e.Replaced, "place")),
		Details:  map[string]any{"path": e.Path, "lines": e.Lines},
		Warnings: warnRunnable(e.Path),
	}
}

// View says where the file changed.
func (e EditedFile) View() tool.View {
	var lines []string
	for _, l := range e.Lines[:min(len(e.Lines), 10)] {
		lines = append(lines, fmt.Sprint(l))
	}
	return tool.View{Text: fmt.Sprintf("Edited %s in %s (line %s)\n", e.Path, toolkit.Count(e.Replaced, "place"), strings.Join(lines, ", "))}
}
