package notes

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
)

// expect refuses a change of a note that is not the one the caller read.
func (env Env) expect(ctx context.Context, n noteFile, ifHash string) error {
	have := n.Hash.String()
	if ifHash == "" || strings.EqualFold(ifHash, have) {
		return nil
	}
	text := fmt.Sprintf("%s changed since you read it: its hash is now %s", n.File.Path, have)
	if env.Version != nil {
		if old, ok := env.Version(ctx, strings.ToLower(ifHash)); ok {
			text += "\n" + change.Unified(n.File.Path, n.File.Path, change.Diff(old, n.Text(), change.DiffOptions{NoMarks: true}))
		}
	}
	return &fault.Report{Kind: fault.Conflict, Field: "if_hash", Message: text, Fix: "read it again"}
}

// edited puts patches of a note into a set: nothing when they change nothing.
func (n noteFile) edited(patches []change.Patch) (string, change.Set, error) {
	before := n.Text()
	after, err := change.Splice(before, patches...)
	if err != nil {
		return "", nil, fault.New(fault.Conflict, "two edits to %s overlap: %v", n.File.Path, err)
	}
	if after == before {
		return after, nil, nil
	}
	if before != string(n.Data) {
		return "", nil, fault.Fix(fault.ReadOnly, "save it as UTF-8 first", "%s is not UTF-8", n.File.Path)
	}
	return after, change.Set{change.Replace(n.File.Path, before, after)}, nil
}

// kept gives new text the line ends and the byte order mark of the old one.
func kept(before, after string) string {
	const bom = "\ufeff"
	if strings.HasPrefix(before, bom) && !strings.HasPrefix(after, bom) {
		after = bom + after
	}
	if strings.Contains(before, "\r\n") && !strings.Contains(after, "\r") {
		after = strings.ReplaceAll(after, "\n", "\r\n")
	}
	return after
}

func parse(p, text string) *note.Note { return note.Parse(p, []byte(text)) }
