package workspace

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lore/internal/machine/state"
	"lore/internal/tool"
	"lore/internal/tool/approval"
	"lore/internal/tool/history"
	"lore/internal/workspace/settings"
)

// A Peek offers names and ids in a vault to a shell that completes a word. It
// opens neither the index nor the vault, so it is quick and changes nothing.
type Peek struct {
	dir  string // of the notes
	data string // of what Lore keeps about them; "" when the vault is new
	op   *Opener
}

// Peek looks at the vault that f names.
func (op *Opener) Peek(f settings.Flags) (*Peek, error) {
	_, _, dir, err := op.begin(f)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	data, _ := op.home().KnownData(dir) // a vault that nobody opened has no ids
	return &Peek{dir, data, op}, nil
}

// enoughNames is more than a shell shows, and soon found.
const enoughNames = 500

// mostLooks is how many files of a large vault are looked at while a person waits.
const mostLooks = 50_000

// isHarmless reports whether a shell takes a name for nothing but text. Scripts of
// shells put several names on the command line as they are, and read the line again
// at the next key: a name such as $(command) would be run. Spaces are quoted.
func isHarmless(name string) bool {
	return !strings.ContainsAny(name, "$`\\\"'();&|<>{}[]!*?~#^:=%") && !strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "_activeHelp_") &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || r == utf8.RuneError })
}

// Notes are the folders and notes that begin with what is typed. Without a slash
// in it, that is also the name of every note in a folder: a shell only offers what
// begins with what is typed, and a name that no other note has is enough.
func (p *Peek) Notes(typed string) []string {
	folder, start := path.Split(typed)
	if !filepath.IsLocal(filepath.FromSlash(path.Clean(folder))) {
		return nil
	}
	root, err := os.OpenRoot(p.dir) // a link does not lead out of the vault
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }() // only read
	here, err := fs.ReadDir(root.FS(), path.Clean("./"+folder))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range here {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, ".") || !hasPrefixFold(name, start) || !isHarmless(name):
		case e.IsDir():
			out = append(out, folder+name+"/")
		case isNote(name):
			out = append(out, folder+name)
		}
	}
	if folder == "" && start != "" {
		out = append(out, deeper(root.FS(), start)...)
	}
	return out
}

// deeper are the names of notes in folders that begin with start.
func deeper(vault fs.FS, start string) (out []string) {
	count, looked := map[string]int{}, 0
	// A folder that cannot be read has no names to offer.
	_ = fs.WalkDir(vault, ".", func(name string, e fs.DirEntry, err error) error {
		looked++
		switch {
		case err != nil:
			return fs.SkipDir
		case len(count) >= enoughNames || looked >= mostLooks:
			return fs.SkipAll
		case e.IsDir() && name != "." && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case !e.IsDir() && isNote(name) && hasPrefixFold(e.Name(), start) && isHarmless(e.Name()):
			count[e.Name()]++
			if strings.Contains(name, "/") {
				out = append(out, e.Name())
			}
		}
		return nil
	})
	out = slices.DeleteFunc(out, func(name string) bool { return count[name] > 1 })
	for i, name := range out {
		out[i] = strings.TrimSuffix(name, path.Ext(name))
	}
	return out
}

func isNote(name string) bool { return strings.EqualFold(path.Ext(name), ".md") }

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// An ID is the id of something, and what it is about.
type ID struct{ ID, About string }

// Approvals are the changes that wait for a person.
func (p *Peek) Approvals(ctx context.Context) []ID {
	return p.records(func(f *state.File, _ *history.Store) (out []ID, err error) {
		list, err := approval.New(f, p.op.Now).List(ctx, tool.Pending)
		for _, q := range list {
			out = append(out, ID{q.ID, q.Preview.Summary})
		}
		return out, err
	})
}

// Operations are the latest changes, newest first.
func (p *Peek) Operations(ctx context.Context) []ID {
	return p.records(func(_ *state.File, h *history.Store) (out []ID, err error) {
		list, err := h.Operations(ctx, history.Filter{Limit: 30})
		for _, o := range list {
			out = append(out, ID{o.ID, o.Summary})
		}
		return out, err
	})
}

// records reads state.db, where there is one. A shell gets no error, but nothing.
func (p *Peek) records(read func(*state.File, *history.Store) ([]ID, error)) []ID {
	if p.data == "" {
		return nil
	}
	if _, err := os.Stat(state.In(p.data).Path()); err != nil {
		return nil
	}
	f, h := p.op.OpenRecords(p.data, slog.New(slog.DiscardHandler))
	out, err := read(f, h)
	if err := f.Close(); err != nil {
		return nil
	}
	if err != nil {
		return nil
	}
	return slices.Clip(out)
}
