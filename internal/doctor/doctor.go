// Package doctor looks for problems with a vault and its setup, and says how to
// fix each one. It changes nothing.
package doctor

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"lore/internal/embed"
	"lore/internal/embed/builtin"
	"lore/internal/index"
	"lore/internal/note/invisible"
	"lore/internal/tool/approval"
	"lore/internal/tool/history"
	"lore/internal/vault"
	"lore/internal/vault/writer"
)

// A Finding is one thing that was looked at.
type Finding struct {
	Level string `json:"level"` // "ok", "note", "warning", "error"
	Topic string `json:"topic"`
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"`
	Path  string `json:"path,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// A Report describes an index.
type Report struct {
	Vault       string  `json:"vault"`
	Index       string  `json:"index_folder"`
	Notes       int     `json:"notes"`
	Attachments int     `json:"attachments"`
	Conflicts   int     `json:"conflicts"`
	Links       int     `json:"links"`
	Passages    int     `json:"passages"`
	Embedded    int     `json:"embedded"`
	Model       string  `json:"model,omitempty"`
	Problems    int     `json:"notes_with_problems"`
	Added       int     `json:"added"`
	Changed     int     `json:"changed"`
	Dropped     int     `json:"dropped"`
	Seconds     float64 `json:"seconds"`
	Rebuilt     string  `json:"rebuilt,omitempty"` // why the index was built anew
	Fresh       bool    `json:"fresh"`
	Reason      string  `json:"reason,omitempty"`
}

// An Index is a store that can look at itself.
type Index interface {
	index.Store
	Check(context.Context) error
}

// A Patient is an open vault with all that is looked at.
type Patient struct {
	Vault    *vault.Vault
	Store    Index
	Model    embed.Model // nil where meaning is switched off
	Report   func(context.Context) (Report, error)
	Asked    *approval.Store
	History  *history.Store
	Writer   *writer.Writer
	Writable func(context.Context) error // says why nothing is changed
	Damage   func() []string             // damage to Lore's own files that was found earlier; nil for none
	Apps     func() []Finding            // what apps may do by the way they were installed; nil for none
	// Held says that another process holds the vault; Answers asks whether
	// commands can work through it.
	Held    bool
	Answers func(context.Context) bool
}

// mostFindings is how many of one sort are listed one by one.
const mostFindings = 50

// Look looks at the vault, its notes, the index and the limits of the system.
func (p *Patient) Look(ctx context.Context) ([]Finding, error) {
	if err := p.remember(ctx); err != nil {
		return nil, err
	}
	list, err := p.Vault.Walk(ctx)
	if err != nil {
		return nil, err
	}
	out := p.vault(list)
	notes, err := p.notes(ctx, list)
	if err != nil {
		return nil, err
	}
	out = append(out, notes...)
	works := p.Held && p.Answers(ctx)
	ix, err := p.index(ctx, works)
	if err != nil {
		return nil, err
	}
	out = append(append(out, ix...), watching(list)...)
	hands, err := p.changes(ctx, works)
	return append(out, hands...), err
}

// remember tells the vault which notes are known. Where another process compares
// the index with the vault, this one has not done so.
func (p *Patient) remember(ctx context.Context) error {
	if !p.Held {
		return nil
	}
	var known []string
	err := p.Store.Files(ctx, func(f index.File) error {
		if k := vault.KindOf(f.Path); k == vault.Note || k == vault.Canvas {
			known = append(known, f.Path)
		}
		return nil
	})
	p.Vault.Remember(known)
	return err
}

// problemText says what a problem of a path means and what to do about it.
var problemText = map[vault.ProblemKind][2]string{
	vault.Unreadable:       {"cannot be read", "change its permissions so that you can read it"},
	vault.NameTwin:         {"has the same name as another file, in a different Unicode form", "rename one of them"},
	vault.CaseTwin:         {"has a name that differs from another file only in case", "rename one of them; other systems cannot store both"},
	vault.NotRegular:       {"is not a regular file", ""},
	vault.BrokenLink:       {"is a broken symbolic link", "remove it"},
	vault.EscapingLink:     {"is a symbolic link that points outside the vault", "copy the file into the vault, or make the link relative"},
	vault.FolderLink:       {"is a symbolic link to a folder in the vault", ""},
	vault.BadName:          {"has an invalid name", "rename it"},
	vault.TooDeep:          {"is nested too deeply", ""},
	vault.PossibleConflict: {"may be a conflict copy made by a sync tool", "compare the two and remove one"},
	vault.NotDownloaded:    {"is not downloaded", "download it with your sync tool"},
	vault.MisleadingName:   {"has a name with an invisible character", "rename it"},
	vault.HardLink:         {"is a hard link: its text also exists under another name, so Lore does not read it", "copy it to make it a separate file, or set files.hard_links to allow"},
}

func (p *Patient) vault(list *vault.Listing) []Finding {
	st := list.State
	var out []Finding
	switch st.Mode {
	case vault.Offline:
		out = append(out, Finding{Level: "error", Topic: "vault", Text: "offline: " + st.Reason, Fix: "restore the folder, and nothing is lost; if you deleted the notes, run lore index --accept"})
	case vault.Settling:
		out = append(out, Finding{Level: "note", Topic: "vault", Text: "settling: " + st.Reason, Fix: "run lore doctor again in a few seconds"})
	case vault.ReadOnly:
		out = append(out, Finding{Level: "note", Topic: "vault", Text: "read-only: " + st.Reason})
	default:
		out = append(out, Finding{Level: "ok", Topic: "vault", Text: fmt.Sprintf("%s: files %d, folders %d, hidden %d, excluded %d",
			p.Vault.Dir(), len(list.Entries), list.Folders, list.Hidden, list.Excluded)})
	}
	for i, bad := range list.Problems {
		if i == mostFindings {
			out = append(out, Finding{Level: "note", Topic: "files", Text: fmt.Sprintf("and %d more", len(list.Problems)-i)})
			break
		}
		t := problemText[bad.Kind]
		text := t[0]
		switch {
		case bad.Other != "":
			text += ": " + path.Clean(bad.Other)
		case bad.Kind == vault.MisleadingName:
			if c, ok := invisible.InName(path.Base(bad.Path)); ok {
				text += ": " + c.String()
			}
		}
		out = append(out, Finding{Level: "warning", Topic: "files", Path: bad.Path, Text: text, Fix: t[1]})
	}
	out = append(out, twins(list)...)
	n := 0
	for e := range list.Conflicts() {
		if n++; n <= mostFindings {
			out = append(out, Finding{Level: "warning", Topic: "conflict", Path: e.Path, Text: "is a conflict copy made by a sync tool",
				Fix: "copy missing text into the note, then delete the copy"})
		}
	}
	if n > mostFindings {
		out = append(out, Finding{Level: "note", Topic: "conflict", Text: fmt.Sprintf("and %d more", n-mostFindings)})
	}
	return out
}

// twins tells of names that look alike and are others: one can pass for the
// other in a link, a list or a question.
func twins(list *vault.Listing) []Finding {
	paths := make([]string, 0, len(list.Entries))
	for _, e := range list.Entries {
		paths = append(paths, e.Path)
	}
	var out []Finding
	for i, group := range invisible.NewNames(paths).Twins() {
		if i == mostFindings {
			return append(out, Finding{Level: "note", Topic: "files", Text: "there are more names that look alike"})
		}
		last := group[len(group)-1] // the one that is not plain Latin, where one is
		out = append(out, Finding{
			Level: "warning", Topic: "files", Path: last, Fix: "rename one of them",
			Text: fmt.Sprintf("looks like %s but is spelled with %s", group[0], invisible.Differs(last, group[0])),
		})
	}
	return out
}

func (p *Patient) notes(ctx context.Context, list *vault.Listing) ([]Finding, error) {
	told := map[string]bool{}
	for _, bad := range list.Problems {
		told[bad.Path+" "+string(bad.Kind)] = true
	}
	rows, err := p.Store.Notes(ctx, index.Select{Filter: index.Filter{Problems: true}})
	if err != nil {
		return nil, err
	}
	skip := templateFolders(ctx, p.Vault)
	rows = slices.DeleteFunc(rows, func(r index.Row) bool { return skip.has(r.File.Path) })
	var out []Finding
	for _, r := range rows {
		for _, bad := range r.Problems {
			if len(out) >= mostFindings || told[r.File.Path+" "+bad.Kind] {
				continue
			}
			out = append(out, Finding{Level: "warning", Topic: "note", Path: r.File.Path, Line: bad.Line, Text: strings.ReplaceAll(bad.Kind, "_", " ") + ": " + bad.Detail})
		}
	}
	switch len(rows) {
	case 0:
		out = append(out, Finding{Level: "ok", Topic: "notes", Text: "all notes can be read"})
	case 1:
		out = append(out, Finding{Level: "note", Topic: "notes", Text: "1 note has problems; it can still be searched"})
	default:
		out = append(out, Finding{Level: "note", Topic: "notes", Text: fmt.Sprintf("%d notes have problems; they can still be searched", len(rows))})
	}
	return out, nil
}

// index looks at the index. works says that the process that holds the vault keeps
// it up to date.
func (p *Patient) index(ctx context.Context, works bool) ([]Finding, error) {
	r, err := p.Report(ctx)
	if err != nil {
		return nil, err
	}
	var out []Finding
	if err := p.Store.Check(ctx); err != nil {
		out = append(out, Finding{Level: "error", Topic: "index", Text: err.Error(), Fix: "lore index --rebuild"})
	} else {
		out = append(out, Finding{Level: "ok", Topic: "index", Text: fmt.Sprintf("%d notes, %d links, %d passages in %s", r.Notes, r.Links, r.Passages, r.Index)})
	}
	if r.Rebuilt != "" {
		out = append(out, Finding{Level: "note", Topic: "index", Text: "was rebuilt: " + r.Rebuilt})
	}
	if !r.Fresh && !works {
		out = append(out, Finding{Level: "warning", Topic: "index", Text: "out of date: " + r.Reason})
	}
	switch {
	case p.Model == nil:
		out = append(out, Finding{Level: "note", Topic: "meaning", Text: "semantic search is off: no embedding model is set", Fix: "lore config set embed.model builtin"})
	case r.Embedded < r.Passages:
		out = append(out, Finding{Level: "note", Topic: "meaning", Text: fmt.Sprintf("%d of %d passages are ready for semantic search", r.Embedded, r.Passages), Fix: "lore index"})
	default:
		text := fmt.Sprintf("all %d passages are ready for semantic search, with %s", r.Passages, r.Model)
		if m, ok := p.Model.(*builtin.Model); ok {
			if k, err := m.Kernel(); err == nil {
				text += " on " + k
			}
		}
		out = append(out, Finding{Level: "ok", Topic: "meaning", Text: text})
	}
	return out, nil
}

// watching compares the folders of the vault with what the system lets one
// user watch.
func watching(list *vault.Listing) []Finding {
	b, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return nil
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return nil
	}
	text := fmt.Sprintf("folders to watch: %d; system limit: %d", list.Folders, limit)
	if list.Folders*2 > limit {
		return []Finding{{Level: "warning", Topic: "watch", Text: text, Fix: "raise fs.inotify.max_user_watches; until then, Lore checks for changes every few minutes"}}
	}
	return []Finding{{Level: "ok", Topic: "watch", Text: text}}
}
