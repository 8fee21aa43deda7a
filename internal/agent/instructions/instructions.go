// Package instructions reads what a person tells every model that works with a vault:
// a note at its top. It decides whether the note counts, not who may read it.
package instructions

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"lore/internal/agent/chat"
	"lore/internal/note"
	"lore/internal/note/invisible"
	"lore/internal/note/summarize"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// File is the note. Policy lets nobody but a person change it.
const File = "AGENTS.md"

const (
	mostChars  = 8_000
	windowPart = 8 // at most one part in so many of the window
	mostLines  = 2_000
)

// Most is how many characters of the instructions a model gets that can read so many.
func Most(window int) int { return min(mostChars, window/windowPart) }

// Read reads the instructions for a model, at most so many characters of them. The
// model does not ask for them, but it gets them: they are read through the door with
// the rights of its run, so that a note which is not shared with it is not read, and
// nobody is asked. It returns nil when there are none.
func Read(ctx context.Context, door tool.Door, who access.Principal, most int) (string, *chat.Instructions, error) {
	all := door.On()
	i := slices.IndexFunc(all, func(t *tool.Tool) bool { return slices.Contains(t.Roles, tool.ReadsNote) })
	if i < 0 {
		return "", nil, nil
	}
	args, err := json.Marshal(map[string]any{"path": File, "limit": mostLines})
	if err != nil {
		return "", nil, err
	}
	who.Unasked = true
	res, err := door.Call(ctx, who, all[i].Name, args)
	if err != nil {
		return "", nil, err
	}
	raw, err := json.Marshal(res)
	if err != nil {
		return "", nil, err
	}
	var file struct{ Path, Text, More string }
	// A name finds notes in folders too, and those may be anybody's.
	if err := json.Unmarshal(raw, &file); err != nil || file.Path != File {
		return "", nil, err
	}
	// The mark is read from the text itself: a result counts as untrusted also when it
	// only names such a note. Front matter that goes on after the text cannot be judged.
	n := note.Parse(file.Path, []byte(file.Text))
	if n.IsUntrusted() || file.More != "" && res.Untrusted {
		return "", &chat.Instructions{Path: file.Path, Unused: "it is marked as untrusted"}, nil
	}
	text, _ := invisible.Mark(blanks.ReplaceAllString(n.Text()[n.Front.Span.End:], "\n\n"))
	text = strings.TrimSpace(text)
	if text == "" {
		return "", nil, nil
	}
	return summarize.Cut(text, most), &chat.Instructions{Path: file.Path, Cut: file.More != "" || utf8.RuneCountInString(text) > most}, nil
}

// blanks are empty lines that say nothing.
var blanks = regexp.MustCompile(`\n([ \t\r]*\n){2,}`)
