// Package overlay lets files be read as planned edits will leave them, before the
// edits are made. It opens no file.
package overlay

import (
	"context"

	"golang.org/x/text/unicode/norm"

	"lore/internal/change"
	"lore/internal/fault"
)

type key struct{}

// A File is what a file will be.
type File struct {
	Data []byte
	Size int64
	// From is the file that holds the content now: it moves as it is.
	From string

	gone bool
	text string
}

// With is ctx in which files are read as if the edits were made already: the next
// call of a batch is planned on what the earlier ones leave. The listing of folders
// and the index do not know of them.
func With(ctx context.Context, set change.Set) context.Context {
	if len(set) == 0 {
		return ctx
	}
	over := map[string]File{}
	for _, e := range set {
		f := File{gone: e.After == nil}
		if e.After != nil {
			f.text = *e.After
		}
		if e.From != "" {
			over[norm.NFC.String(e.From)] = File{gone: true}
			if e.After == nil {
				f = File{From: e.From}
			}
		}
		over[norm.NFC.String(e.Path)] = f
	}
	return context.WithValue(ctx, key{}, over)
}

// Without is ctx in which files are read as they are.
func Without(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, nil) }

// Read is what a file will be, at most limit bytes of it where cut says so; ok is
// false where the edits leave it alone.
func Read(ctx context.Context, path string, limit int64, cut bool) (f File, ok bool, err error) {
	over, _ := ctx.Value(key{}).(map[string]File)
	f, ok = over[path]
	f.Size = int64(len(f.text))
	switch {
	case !ok || f.From != "":
		return f, ok, nil
	case f.gone:
		return File{}, true, fault.New(fault.NotFound, "%q does not exist", path)
	case f.Size > limit && !cut:
		return File{}, true, fault.New(fault.TooLarge, "%q has %d bytes; the limit is %d", path, f.Size, limit)
	}
	f.Data = []byte(f.text[:min(f.Size, limit)])
	return f, true, nil
}
