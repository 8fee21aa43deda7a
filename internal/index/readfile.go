package index

import (
	"context"

	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/vault"
)

// ProblemHardLink is the kind of the problem of a note that has several names.
const ProblemHardLink = "hard_link"

// A verdict is what looking into one file came to.
type verdict int

const (
	skipped verdict = iota // gone meanwhile, or doubted
	touched
	added
	changed
	failed
	doubted
)

type outcome struct {
	what verdict
	doc  Document
	// written is told when the document is in the store; nil unless the file is
	// a large one.
	written func()
}

func (s *Summary) count(o *outcome) {
	switch o.what {
	case touched:
		s.Touched++
	case added:
		s.Added++
	case changed:
		s.Changed++
	case failed:
		s.Failed++
	case doubted:
		s.Doubted++
	}
	s.Bytes += int64(len(o.doc.Body))
}

// graceNS is how long a note that suddenly is empty keeps its old rows: sync
// tools put an empty file in place before the content comes.
const graceNS = int64(60e9)

// read looks into one file. Only the end of ctx and a vault that went away are
// errors: whatever is wrong with a file becomes a row that says so.
func (ix *Indexer) read(ctx context.Context, j job) (outcome, error) {
	if err := ctx.Err(); err != nil {
		return outcome{}, err
	}
	now := ix.now().UnixNano()
	e := j.entry
	f := File{Path: e.Path, Size: e.Size, ModTime: e.ModTime, ChangeTime: e.ChangeTime, Inode: e.Inode, Seen: now}
	what := added
	if j.had {
		what = changed
	}
	if !isRead(e.Kind) {
		if j.had && j.old.Size == e.Size && j.old.ModTime == e.ModTime {
			return outcome{what: touched, doc: Document{File: f}}, nil
		}
		return outcome{what: what, doc: NewAttachment(f, Kind(e.Kind))}, nil
	}
	// A time far ahead is no sign of a change a moment ago: such a note would be
	// doubted for ever.
	if age := now - e.ModTime; j.had && !j.own && vault.Suspicious(j.old.Size, e.Size) && -graceNS < age && age < graceNS {
		return outcome{what: doubted}, nil
	}
	file, err := ix.vault.Head(ctx, e.Path)
	switch {
	case ctx.Err() != nil:
		return outcome{}, ctx.Err()
	case fault.Of(err) == fault.NotFound:
		return outcome{what: skipped}, nil
	case fault.Of(err) == fault.Busy: // it is being written
		return outcome{what: doubted}, nil
	case fault.Of(err) == fault.Offline:
		// The folder went away under the run: that says nothing about the file.
		return outcome{}, err
	case err != nil:
		return outcome{what: failed, doc: unread(f, e.Kind, err)}, nil
	}
	// The stat of what was read, not of what was listed: they may differ.
	f.Size, f.ModTime, f.ChangeTime, f.Inode = file.Info.Size, file.Info.ModTime.UnixNano(), file.Info.ChangeTime, file.Info.Inode
	copy(f.Hash[:], file.Hash[:])
	// Of a file beyond the limit only the beginning is hashed; its size is told,
	// and so is that it was cut.
	if j.had && j.old.Hash == f.Hash && j.old.Size == f.Size {
		return outcome{what: touched, doc: Document{File: f}}, nil
	}
	var n *note.Note
	if e.Kind == vault.Canvas {
		n = note.ParseCanvas(e.Path, file.Data)
	} else {
		n = ix.parse.Parse(e.Path, file.Data)
	}
	d := NewDocument(f, Kind(e.Kind), n)
	if file.Truncated {
		d.Problems = append(d.Problems, Problem{Kind: "too_large", Detail: "only the beginning is searched"})
	}
	return outcome{what: what, doc: d}, nil
}

// unread is the row of a note that cannot be read: its name, and why.
func unread(f File, k vault.Kind, err error) Document {
	d := NewAttachment(f, Kind(k))
	d.Title = trimNoteExt(d.Title)
	kind := "unreadable"
	if vault.IsLinked(err) {
		kind = ProblemHardLink
	}
	d.Problems = []Problem{{Kind: kind, Detail: err.Error()}}
	return d
}
