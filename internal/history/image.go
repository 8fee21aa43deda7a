package history

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"lore/internal/change"
	"lore/internal/fault"
)

type sum = [sha256.Size]byte

// A side is one content of a file on its way into the table of images.
type side struct {
	hash sum
	text string
	raw  bool
	data []byte // packed; nil until someone needs it
}

// packers are writers that deflate, used again: a new one costs more than what
// it does to a note.
type packers struct{ pool sync.Pool }

func (p *packers) pack(s *side) error {
	if s.data != nil {
		return nil
	}
	var b bytes.Buffer
	w, ok := p.pool.Get().(*flate.Writer)
	if ok {
		w.Reset(&b)
	} else {
		var err error
		if w, err = flate.NewWriter(&b, flate.BestSpeed); err != nil {
			return err
		}
	}
	defer p.pool.Put(w)
	if _, err := io.WriteString(w, s.text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if s.data = b.Bytes(); len(s.data) >= len(s.text) {
		s.raw, s.data = true, append(make([]byte, 0, 1+len(s.text)), s.text...)
	}
	return nil
}

func unpack(data []byte, raw bool, size int) (string, error) {
	if raw {
		return string(data), nil
	}
	r := flate.NewReader(bytes.NewReader(data))
	var b strings.Builder
	b.Grow(size)
	if _, err := io.Copy(&b, r); err != nil {
		return "", err
	}
	return b.String(), r.Close()
}

// many is how many contents are worth a second core, and worth keeping the
// database free while they are packed.
const many = 64

// sides lists the contents of a set in the order of its edits, two for each;
// nil where there is no file or it moves as it is.
func (s *Store) sides(ctx context.Context, set change.Set) ([]*side, error) {
	out := make([]*side, 2*len(set))
	work := func(from, to int, pack bool) error {
		for i := from; i < to; i++ {
			text := set[i/2].Before
			if i%2 == 1 {
				text = set[i/2].After
			}
			if text == nil {
				continue
			}
			out[i] = &side{hash: sha256.Sum256([]byte(*text)), text: *text}
			if !pack {
				continue
			}
			if err := s.packs.pack(out[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(out) < many {
		return out, work(0, len(out), false)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(2)
	for from := 0; from < len(out); from += many {
		g.Go(func() error { return errors.Join(ctx.Err(), work(from, min(from+many, len(out)), true)) })
	}
	return out, g.Wait()
}

const (
	useImage = `UPDATE image SET uses = uses + 1 WHERE hash = ?`
	addImage = `INSERT INTO image (hash, uses, size, raw, data) VALUES (?, 1, ?, ?, ?)`
)

// putImages stores the contents that are not there yet and counts the others
// once more.
func (s *Store) putImages(ctx context.Context, tx *sql.Tx, sides []*side) error {
	use, err := tx.PrepareContext(ctx, useImage)
	if err != nil {
		return err
	}
	defer use.Close()
	add, err := tx.PrepareContext(ctx, addImage)
	if err != nil {
		return err
	}
	defer add.Close()
	bytes := int64(0)
	for _, c := range sides {
		if c == nil {
			continue
		}
		res, err := use.ExecContext(ctx, c.hash[:])
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			if err != nil {
				return err
			}
			continue
		}
		if err := s.packs.pack(c); err != nil {
			return err
		}
		if _, err := add.ExecContext(ctx, c.hash[:], len(c.text), c.raw, c.data); err != nil {
			return err
		}
		bytes += int64(len(c.data))
	}
	return addBytes(ctx, tx, bytes)
}

// addBytes keeps the sum of all images, so that nobody has to count them.
func addBytes(ctx context.Context, tx *sql.Tx, n int64) error {
	if n == 0 {
		return nil
	}
	have, err := fact(ctx, tx, "image_bytes")
	if err != nil {
		return err
	}
	return setFact(ctx, tx, "image_bytes", have+n)
}

// freeImages gives up what the edits hold and removes contents that nobody
// holds any more.
func freeImages(ctx context.Context, tx *sql.Tx, list []editRow) error {
	drop, err := tx.PrepareContext(ctx, `UPDATE image SET uses = uses - 1 WHERE hash = ? RETURNING uses, length(data)`)
	if err != nil {
		return err
	}
	defer drop.Close()
	forget, err := tx.PrepareContext(ctx, `UPDATE edit SET kept = 0 WHERE op = ? AND n = ?`)
	if err != nil {
		return err
	}
	defer forget.Close()
	freed := int64(0)
	for _, e := range list {
		if !e.kept {
			continue
		}
		if _, err := forget.ExecContext(ctx, e.op, e.n); err != nil {
			return err
		}
		for _, h := range [][]byte{e.before, e.after} {
			if h == nil {
				continue
			}
			var uses, size int64
			if err := drop.QueryRowContext(ctx, h).Scan(&uses, &size); err != nil {
				return fmt.Errorf("image %x: %w", h[:4], err)
			}
			if uses > 0 {
				continue
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM image WHERE hash = ?`, h); err != nil {
				return err
			}
			freed += size
		}
	}
	return addBytes(ctx, tx, -freed)
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readImage returns the content of that hash, and proves that it is.
func readImage(ctx context.Context, q queryer, hash []byte) (*string, error) {
	var raw bool
	var size int
	var data []byte
	err := q.QueryRowContext(ctx, `SELECT raw, size, data FROM image WHERE hash = ?`, hash).Scan(&raw, &size, &data)
	if err != nil {
		return nil, err
	}
	text, err := unpack(data, raw, size)
	if err != nil || sha256.Sum256([]byte(text)) != sum(hash) {
		return nil, fault.New(fault.Unavailable, "the kept content %x is damaged", hash[:6])
	}
	return &text, nil
}

// Image returns the content of that hash, in hexadecimal digits, when history
// still has it. It is the base for a merge with what was read before.
func (s *Store) Image(ctx context.Context, hash string) (string, bool) {
	raw, ok := parseSum(hash)
	if !ok {
		return "", false
	}
	d, err := s.db(ctx)
	if err != nil {
		return "", false
	}
	text, err := readImage(ctx, d.Read, raw)
	if err != nil {
		return "", false
	}
	return *text, true
}
