package history

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/machine/db"
	"lore/internal/tool/history/pack"
)

type sum = [sha256.Size]byte

// A side is one content of a file on its way into the table of images.
type side struct {
	hash sum
	text string
	base *side // what it may be kept as the difference to
	// Looked says that it was looked for, and known that it was there.
	looked, known bool

	whole, diff *pack.Packed // nil until someone needs it
	id          int64        // of its row, once it has one
	depth       int
}

// many is how many contents are worth a second core, and worth keeping the
// database free while they are packed.
const many = 64

// sides lists the contents of a set in the order of its edits, two for each;
// nil where there is no file or it moves as it is.
func (s *Store) sides(ctx context.Context, d *db.DB, set change.Set) ([]*side, error) {
	out := make([]*side, 2*len(set))
	hash := func(i int) error {
		text := set[i/2].Before
		if i%2 == 1 {
			text = set[i/2].After
		}
		if text != nil {
			out[i] = &side{hash: sha256.Sum256([]byte(*text)), text: *text}
		}
		return nil
	}
	if err := each(ctx, len(out), hash); err != nil {
		return nil, err
	}
	for i := 1; i < len(out); i += 2 {
		if out[i] != nil && out[i-1] != nil && out[i].hash != out[i-1].hash {
			out[i].base = out[i-1]
		}
	}
	if len(out) < many {
		return out, nil
	}
	if err := markKnown(ctx, d, out); err != nil {
		return nil, err
	}
	return out, each(ctx, len(out), func(i int) error {
		if out[i] == nil || out[i].known {
			return nil
		}
		_, err := best(&s.packs, out[i], true)
		return err
	})
}

// maxDepth is how many differences lie between a content and one that is kept
// whole, at the most: each is one more row to read.
const maxDepth = 8

// best packs a content in the shorter way: as the difference to its base, when
// that may be and most of it is the same, or else whole.
func best(p *pack.Packer, c *side, diff bool) (_ *pack.Packed, err error) {
	if diff && c.base != nil && c.diff == nil {
		if c.diff, err = p.Diff(c.base.text, c.text); err != nil {
			return nil, err
		}
	}
	if diff && c.diff != nil {
		return c.diff, nil
	}
	if c.whole == nil {
		c.whole, err = p.Whole(c.text)
	}
	return c.whole, err
}

// each calls f with all numbers below n, on two cores when there are many.
func each(ctx context.Context, n int, f func(i int) error) error {
	some := func(from, to int) error {
		for i := from; i < to; i++ {
			if err := f(i); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	if n < many {
		return some(0, n)
	}
	var g errgroup.Group
	g.SetLimit(2)
	for from := 0; from < n; from += many {
		g.Go(func() error { return some(from, min(from+many, n)) })
	}
	return g.Wait()
}

// batch is how many contents are looked for in one query.
const batch = 200

// markKnown finds contents that need not be packed.
func markKnown(ctx context.Context, d *db.DB, sides []*side) error {
	byHash := make(map[sum][]*side, len(sides))
	var args []any
	flush := func() error {
		rows, err := d.Read.QueryContext(ctx, `SELECT hash FROM image WHERE hash IN (?`+strings.Repeat(`, ?`, len(args)-1)+`)`, args...)
		if err != nil {
			return err
		}
		args = args[:0]
		defer rows.Close()
		for rows.Next() {
			var h []byte
			if err := rows.Scan(&h); err != nil {
				return err
			}
			for _, c := range byHash[sum(h)] {
				c.known = true
			}
		}
		return rows.Err()
	}
	for _, c := range sides {
		if c == nil {
			continue
		}
		c.looked = true
		if byHash[c.hash] = append(byHash[c.hash], c); len(byHash[c.hash]) == 1 {
			args = append(args, c.hash[:])
		}
		if len(args) == batch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if len(args) == 0 {
		return nil
	}
	return flush()
}

const (
	useImage  = `UPDATE image SET uses = uses + 1 WHERE hash = ? RETURNING id, depth`
	addImage  = `INSERT INTO image (hash, uses, size, raw, data, base, depth) VALUES (?, 1, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING`
	leanImage = `UPDATE image SET uses = uses + 1 WHERE id = ?`
)

// A shelf puts images into their table.
type shelf struct {
	packs          *pack.Packer
	use, add, lean *sql.Stmt
	bytes          int64
}

// putImages stores the contents that are not there yet and counts the others
// once more.
func (s *Store) putImages(ctx context.Context, tx *sql.Tx, sides []*side) error {
	sh := shelf{packs: &s.packs}
	for query, st := range map[string]**sql.Stmt{useImage: &sh.use, addImage: &sh.add, leanImage: &sh.lean} {
		var err error
		if *st, err = tx.PrepareContext(ctx, query); err != nil {
			return err
		}
		defer (*st).Close()
	}
	for _, c := range sides {
		if c == nil {
			continue
		}
		if err := sh.put(ctx, c); err != nil {
			return err
		}
	}
	return addBytes(ctx, tx, sh.bytes)
}

func (sh *shelf) put(ctx context.Context, c *side) error {
	if c.known || !c.looked {
		err := sh.use.QueryRowContext(ctx, c.hash[:]).Scan(&c.id, &c.depth)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	p, err := best(sh.packs, c, c.base != nil && c.base.depth < maxDepth)
	if err != nil {
		return err
	}
	base, depth := int64(0), 0
	if p.Diff {
		base, depth = c.base.id, c.base.depth+1
	}
	res, err := sh.add.ExecContext(ctx, c.hash[:], len(c.text), p.Raw, p.Data, base, depth)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		// It came in between, or stands twice in the set.
		return errors.Join(err, sh.use.QueryRowContext(ctx, c.hash[:]).Scan(&c.id, &c.depth))
	}
	if c.id, err = res.LastInsertId(); err != nil {
		return err
	}
	c.depth = depth
	sh.bytes += int64(len(p.Data))
	if p.Diff {
		_, err = sh.lean.ExecContext(ctx, base)
	}
	return err
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
			var id int64
			if err := tx.QueryRowContext(ctx, `SELECT id FROM image WHERE hash = ?`, h).Scan(&id); err != nil {
				return fmt.Errorf("image %x: %w", h[:4], err)
			}
			n, err := freeImage(ctx, tx, id)
			if err != nil {
				return fmt.Errorf("image %x: %w", h[:4], err)
			}
			freed += n
		}
	}
	return addBytes(ctx, tx, -freed)
}

// freeImage gives up one use of an image. The last one removes it, and gives up
// the image that it is the difference to.
func freeImage(ctx context.Context, tx *sql.Tx, id int64) (freed int64, err error) {
	for id != 0 {
		var uses, size, base int64
		err := tx.QueryRowContext(ctx, `UPDATE image SET uses = uses - 1 WHERE id = ? RETURNING uses, length(data), base`, id).Scan(&uses, &size, &base)
		if err != nil || uses > 0 {
			return freed, err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM image WHERE id = ?`, id); err != nil {
			return freed, err
		}
		freed += size
		id = base
	}
	return freed, nil
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readImage returns the content of that hash, and proves that it is.
func readImage(ctx context.Context, q queryer, hash []byte) (*string, error) {
	var id int64
	if err := q.QueryRowContext(ctx, `SELECT id FROM image WHERE hash = ?`, hash).Scan(&id); err != nil {
		return nil, err
	}
	var steps []pack.Stored
	for id != 0 && len(steps) <= maxDepth {
		var st pack.Stored
		err := q.QueryRowContext(ctx, `SELECT size, raw, data, base FROM image WHERE id = ?`, id).Scan(&st.Size, &st.Raw, &st.Data, &id)
		if err != nil {
			return nil, err
		}
		steps = append(steps, st)
	}
	text, err := pack.Unpack(steps)
	if err != nil || sha256.Sum256([]byte(text)) != sum(hash) {
		return nil, fault.New(fault.Unavailable, "the stored content %x is damaged", hash[:6])
	}
	return &text, nil
}

// Image returns the content of that hash, in hexadecimal digits, when history
// still has it. It is the base for a merge with what was read before.
func (s *Store) Image(ctx context.Context, hash string) (text string, ok bool) {
	raw, ok := parseSum(hash)
	if !ok {
		return "", false
	}
	// One transaction: what a content is the difference to must not go between.
	err := s.view(ctx, func(tx *sql.Tx) error {
		p, err := readImage(ctx, tx, raw)
		if err == nil {
			text = *p
		}
		return err
	})
	return text, err == nil
}
