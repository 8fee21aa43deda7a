package app

import (
	"context"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"lore/internal/embed/builtin"
	"lore/internal/index"
	"lore/internal/surface/cli"
	"lore/internal/vault"
)

// mostFindings is how many of one sort are listed one by one.
const mostFindings = 50

// doctor looks at the vault, its notes, the index and the limits of the system.
func (s *session) doctor(ctx context.Context) ([]cli.Finding, error) {
	var out []cli.Finding
	list, err := s.vault.Walk(ctx)
	if err != nil {
		return nil, err
	}
	out = append(out, s.doctorVault(list)...)
	notes, err := s.doctorNotes(ctx)
	if err != nil {
		return nil, err
	}
	out = append(out, notes...)
	ix, err := s.doctorIndex(ctx)
	if err != nil {
		return nil, err
	}
	out = append(append(out, ix...), doctorWatch(list)...)
	hands, err := s.doctorHands(ctx)
	return append(out, hands...), err
}

// problemText says what a problem of a path means and what to do about it.
var problemText = map[vault.ProblemKind][2]string{
	vault.Unreadable:       {"cannot be read", "give yourself permission to read it"},
	vault.NameTwin:         {"has the same name as another file, written in another Unicode form", "rename one of them"},
	vault.CaseTwin:         {"differs from another file only in upper and lower case", "rename one: other systems cannot hold both"},
	vault.NotRegular:       {"is not a regular file", ""},
	vault.BrokenLink:       {"is a link that leads nowhere", "remove it"},
	vault.EscapingLink:     {"is a link that leads out of the vault", "copy the file into the vault, or make the link relative"},
	vault.FolderLink:       {"is a link to a folder of the vault", ""},
	vault.BadName:          {"has a name that cannot be used", "rename it"},
	vault.TooDeep:          {"lies too deep", ""},
	vault.PossibleConflict: {"may be a second copy that a sync tool made", "compare the two and remove one"},
	vault.NotDownloaded:    {"is not downloaded", "let the sync tool fetch it"},
}

func (s *session) doctorVault(list *vault.Listing) []cli.Finding {
	st := list.State
	var out []cli.Finding
	switch st.Mode {
	case vault.Offline:
		out = append(out, cli.Finding{Level: "error", Topic: "vault", Text: "offline: " + st.Reason, Fix: "bring the folder back, and nothing is lost; if you removed the notes yourself: lore index --rebuild"})
	case vault.ReadOnly:
		out = append(out, cli.Finding{Level: "note", Topic: "vault", Text: "read-only: " + st.Reason})
	default:
		out = append(out, cli.Finding{Level: "ok", Topic: "vault", Text: fmt.Sprintf("%s: files %d, folders %d, hidden %d, excluded %d",
			s.vault.Dir(), len(list.Entries), list.Folders, list.Hidden, list.Excluded)})
	}
	for i, p := range list.Problems {
		if i == mostFindings {
			out = append(out, cli.Finding{Level: "note", Topic: "files", Text: fmt.Sprintf("and %d more", len(list.Problems)-i)})
			break
		}
		t := problemText[p.Kind]
		text := t[0]
		if p.Other != "" {
			text += ": " + path.Clean(p.Other)
		}
		out = append(out, cli.Finding{Level: "warning", Topic: "files", Path: p.Path, Text: text, Fix: t[1]})
	}
	n := 0
	for e := range list.Conflicts() {
		if n++; n <= mostFindings {
			out = append(out, cli.Finding{Level: "warning", Topic: "conflict", Path: e.Path, Text: "is a copy that a sync tool set aside",
				Fix: "bring what is missing into the note, then remove it"})
		}
	}
	return out
}

func (s *session) doctorNotes(ctx context.Context) ([]cli.Finding, error) {
	rows, err := s.store.Notes(ctx, index.Select{Filter: index.Filter{Problems: true}})
	if err != nil {
		return nil, err
	}
	var out []cli.Finding
	for _, r := range rows {
		for _, p := range r.Problems {
			if len(out) >= mostFindings {
				continue
			}
			out = append(out, cli.Finding{Level: "warning", Topic: "note", Path: r.File.Path, Line: p.Line, Text: strings.ReplaceAll(p.Kind, "_", " ") + ": " + p.Detail})
		}
	}
	switch len(rows) {
	case 0:
		out = append(out, cli.Finding{Level: "ok", Topic: "notes", Text: "all can be read"})
	case 1:
		out = append(out, cli.Finding{Level: "note", Topic: "notes", Text: "1 note has problems; it is searched all the same"})
	default:
		out = append(out, cli.Finding{Level: "note", Topic: "notes", Text: fmt.Sprintf("%d notes have problems; they are searched all the same", len(rows))})
	}
	return out, nil
}

func (s *session) doctorIndex(ctx context.Context) ([]cli.Finding, error) {
	r, err := s.report(ctx)
	if err != nil {
		return nil, err
	}
	var out []cli.Finding
	if err := s.store.Check(ctx); err != nil {
		out = append(out, cli.Finding{Level: "error", Topic: "index", Text: err.Error(), Fix: "lore index --rebuild"})
	} else {
		out = append(out, cli.Finding{Level: "ok", Topic: "index", Text: fmt.Sprintf("%d notes, %d links, %d passages in %s", r.Notes, r.Links, r.Passages, r.Index)})
	}
	if r.Rebuilt != "" {
		out = append(out, cli.Finding{Level: "note", Topic: "index", Text: "was built anew: " + r.Rebuilt})
	}
	if !r.Fresh {
		out = append(out, cli.Finding{Level: "warning", Topic: "index", Text: "not fresh: " + r.Reason})
	}
	switch {
	case s.model == nil:
		out = append(out, cli.Finding{Level: "note", Topic: "meaning", Text: "switched off: no embedding model is set", Fix: "lore config set embed.model builtin"})
	case r.Embedded < r.Passages:
		out = append(out, cli.Finding{Level: "note", Topic: "meaning", Text: fmt.Sprintf("%d of %d passages can be found by meaning", r.Embedded, r.Passages), Fix: "lore index"})
	default:
		text := fmt.Sprintf("all %d passages can be found by meaning, with %s", r.Passages, r.Model)
		if m, ok := s.model.(*builtin.Model); ok {
			if k, err := m.Kernel(); err == nil {
				text += " on " + k
			}
		}
		out = append(out, cli.Finding{Level: "ok", Topic: "meaning", Text: text})
	}
	return out, nil
}

// doctorWatch compares the folders of the vault with what the system lets one
// user watch.
func doctorWatch(list *vault.Listing) []cli.Finding {
	b, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return nil
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return nil
	}
	text := fmt.Sprintf("folders to watch: %d, the system allows %d", list.Folders, limit)
	if list.Folders*2 > limit {
		return []cli.Finding{{Level: "warning", Topic: "watch", Text: text, Fix: "raise fs.inotify.max_user_watches; until then changes are found by looking every few minutes"}}
	}
	return []cli.Finding{{Level: "ok", Topic: "watch", Text: text}}
}
