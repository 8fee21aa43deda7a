// Package exports reads what other programs export, ChatGPT, Claude and Notion,
// and turns it into notes. It opens nothing and writes nothing; archives and lists
// are read within limits.
package exports

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode"

	"lore/internal/fault"
)

// Limits of one export.
const (
	maxEntries = 50_000    // files of an archive
	maxFile    = 256 << 20 // bytes of one unpacked file
	maxTotal   = 512 << 20 // bytes of all
	maxNotes   = 5_000
	maxText    = 64 << 20 // bytes of all notes
	maxName    = 100      // characters of a name
)

// The formats.
const (
	ChatGPT = "chatgpt"
	Claude  = "claude"
	Notion  = "notion"
)

// A Note is one note to create.
type Note struct {
	Path string // from the folder that is imported into
	Text string
}

// An Export is what was found.
type Export struct {
	Notes []Note
	// Skipped counts what is not text, such as pictures, and empty chats.
	Skipped int

	taken map[string]bool
	size  int
}

// Called is how people write the name of a format.
func Called(format string) string {
	switch format {
	case ChatGPT:
		return "ChatGPT"
	case Claude:
		return "Claude"
	}
	return "Notion"
}

// Read reads an export: an archive, or for chats the JSON file in it.
func Read(ctx context.Context, format string, data []byte) (*Export, error) {
	e := &Export{taken: map[string]bool{}}
	files := map[string][]byte{}
	if isZip(data) {
		room := int64(maxTotal)
		if err := unpack(ctx, data, wanted(format), files, &room, true, e); err != nil {
			return nil, err
		}
	} else if format != Notion {
		files["the file"] = data
	}
	if len(files) == 0 {
		return nil, fault.Fix(fault.Invalid, "choose the file that "+Called(format)+" sent you", "this is not an export of %s", Called(format))
	}
	switch format {
	case ChatGPT:
		return e, e.chats(ctx, files, e.chatGPT)
	case Claude:
		return e, e.chats(ctx, files, e.claude)
	}
	return e, e.notion(ctx, files)
}

func isZip(data []byte) bool { return bytes.HasPrefix(data, []byte("PK\x03\x04")) }

// wanted tells which files of an archive are read.
func wanted(format string) func(string) bool {
	if format != Notion {
		return func(name string) bool {
			base := path.Base(name)
			return strings.HasPrefix(base, "conversations") && path.Ext(base) == ".json"
		}
	}
	return func(name string) bool {
		ext := strings.ToLower(path.Ext(name))
		return ext == ".md" || ext == ".csv"
	}
}

// unpack reads the wanted files of an archive, and those of the archives in it:
// Notion splits large exports so.
func unpack(ctx context.Context, data []byte, wanted func(string) bool, files map[string][]byte, room *int64, inner bool, e *Export) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(z.File) > maxEntries {
		return fault.New(fault.Invalid, "the archive is damaged or too large")
	}
	for _, f := range z.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Clean(strings.ReplaceAll(f.Name, `\`, "/"))
		nested := inner && strings.EqualFold(path.Ext(name), ".zip")
		switch {
		case strings.HasSuffix(f.Name, "/") || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "/"):
			continue
		case !nested && !wanted(name):
			e.Skipped++
			continue
		}
		r, err := f.Open()
		if err != nil {
			return fault.New(fault.Invalid, "the archive is damaged or encrypted")
		}
		limit := min(int64(maxFile), *room)
		body, err := io.ReadAll(io.LimitReader(r, limit+1))
		_ = r.Close() // it was only read
		if *room -= int64(len(body)); err != nil || int64(len(body)) > limit {
			return fault.New(fault.TooLarge, "the archive is damaged or too large when it is unpacked")
		}
		if !nested {
			files[name] = body
		} else if err := unpack(ctx, body, wanted, files, room, false, e); err != nil {
			return err
		}
	}
	return nil
}

// chats reads lists of chats, one after the other.
func (e *Export) chats(ctx context.Context, files map[string][]byte, one func(*json.Decoder) error) error {
	for _, name := range sortedKeys(files) {
		d := json.NewDecoder(bytes.NewReader(files[name]))
		if t, err := d.Token(); err != nil || t != json.Delim('[') {
			return fault.New(fault.Invalid, "%s is not a list of chats", name)
		}
		for d.More() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := one(d); err != nil {
				return err
			}
		}
	}
	return nil
}

var errChat = fault.New(fault.Invalid, "a chat of the export cannot be read; its format may have changed")

// A turn is one message.
type turn struct{ who, text string }

// addChat adds a chat as a note: each message below a heading.
func (e *Export) addChat(source, id, title string, created time.Time, turns []turn) error {
	if len(turns) == 0 {
		e.Skipped++
		return nil
	}
	var b strings.Builder
	b.WriteString(front(source, id, created))
	fmt.Fprintf(&b, "# %s\n", oneLine(title, "Chat"))
	for _, t := range turns {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", t.who, strings.TrimSpace(t.text))
	}
	name := fileName(title)
	if !created.IsZero() {
		name = created.UTC().Format(time.DateOnly) + " " + name
	}
	return e.add(name+".md", b.String())
}

// front is the front matter of an imported note, with the mark that its text is
// from outside.
func front(source, id string, created time.Time) string {
	s := "---\nsource: " + source + "\n"
	if id != "" {
		s += "source_id: " + quote(id) + "\n"
	}
	if !created.IsZero() {
		s += "created: " + created.UTC().Format("2006-01-02T15:04:05Z") + "\n"
	}
	return s + "untrusted: true\n---\n"
}

func quote(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == '\\' || r > '~' {
			return -1
		}
		return r
	}, s)
	return `"` + s[:min(len(s), 100)] + `"`
}

// add adds a note under a path that no other has.
func (e *Export) add(p, text string) error {
	if len(e.Notes) >= maxNotes || e.size+len(text) > maxText {
		return fault.New(fault.TooLarge, "the export has more than %d notes or %d MB of text", maxNotes, maxText>>20)
	}
	p = e.free(p)
	e.size += len(text)
	e.Notes = append(e.Notes, Note{Path: p, Text: strings.ToValidUTF8(text, "\uFFFD")})
	return nil
}

// free is the path, or with a number after it when it is taken, in any case.
func (e *Export) free(p string) string {
	ext := path.Ext(p)
	base := strings.TrimSuffix(p, ext)
	for n := 2; e.taken[strings.ToLower(p)]; n++ {
		p = fmt.Sprintf("%s %d%s", base, n, ext)
	}
	e.taken[strings.ToLower(p)] = true
	return p
}

// fileName is a name that every file system takes.
func fileName(title string) string {
	s := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune(`\/:*?"<>|#^[]`, r) {
			return ' '
		}
		return r
	}, title)
	if r := []rune(s); len(r) > maxName {
		s = string(r[:maxName])
	}
	s = strings.Trim(strings.Join(strings.Fields(s), " "), ". ")
	if s == "" {
		return "Untitled"
	}
	return s
}

func oneLine(s, without string) string {
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return without
	}
	return s
}
