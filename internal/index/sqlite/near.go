package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"lore/internal/index"
	"lore/internal/index/vectors"
)

// Nearest compares the query with every vector, then asks which passages have
// the best ones. A vector whose text is gone has no passage and is passed over.
func (s *Store) Nearest(ctx context.Context, n index.Near) (_ []index.NearPassage, err error) {
	defer s.notice(&err)
	f, err := s.vectors.Get(n.Model)
	if err != nil {
		return nil, err
	}
	if n.Vector == nil {
		if n.Vector = f.Middle(n.Of); n.Vector == nil {
			return nil, nil
		}
	}
	return s.nearest(ctx, n, f)
}

func (s *Store) nearest(ctx context.Context, n index.Near, f *vectors.File) ([]index.NearPassage, error) {
	if n.Limit <= 0 || f.Len() == 0 {
		return nil, nil
	}
	var keep func(index.Hash) bool
	if n.Among != nil {
		among := make(map[index.Hash]bool, len(n.Among))
		for _, h := range n.Among {
			among[h] = true
		}
		keep = func(h index.Hash) bool { return among[h] }
	}
	w := &where{}
	if narrow(&n.Filter) {
		w = condition(&n.Filter)
		allowed, err := s.hashesWhere(ctx, w)
		if err != nil {
			return nil, err
		}
		before := keep
		keep = func(h index.Hash) bool { return allowed[h] && (before == nil || before(h)) }
	}
	// Some of the best rows may be waste, so more are taken until enough are
	// passages and the cut does not fall among equals, which go by path.
	for k := n.Limit + n.Limit/4 + 16; ; k *= 4 {
		top, err := best(f, n.Vector, k, keep)
		if err != nil {
			return nil, err
		}
		out, err := s.passagesOf(ctx, top, w)
		if err != nil {
			return nil, err
		}
		if len(top) < k || len(out) >= n.Limit && out[n.Limit-1].Cosine > top[k-1].score {
			return out[:min(len(out), n.Limit)], nil
		}
	}
}

// A scored is the hash of a text and how near its vector is.
type scored struct {
	hash  index.Hash
	score float32
}

// best finds the nearest vectors. Nothing is asked of the database meanwhile:
// who holds a connection may wait for the vectors, and would wait for ever.
func best(f *vectors.File, query []float32, k int, keep func(index.Hash) bool) (out []scored, err error) {
	err = f.Read(func(v vectors.View) error {
		if v.Matrix == nil {
			return nil
		}
		if len(query) != v.Dim {
			return fmt.Errorf("a query of %d numbers for vectors of %d", len(query), v.Dim)
		}
		var row func(int) bool
		if keep != nil {
			row = func(i int) bool { return keep(v.Hashes[i]) }
		}
		for _, t := range v.Matrix.Top(query, k, row) {
			out = append(out, scored{v.Hashes[t.Row], t.Score})
		}
		return nil
	})
	return out, err
}

// hashOf reads a hash; of a damaged row it may be of any length.
func hashOf(b []byte) (h index.Hash) {
	copy(h[:], b)
	return h
}

func (s *Store) hashesWhere(ctx context.Context, w *where) (map[index.Hash]bool, error) {
	rows, err := s.db.Query(ctx, `SELECT c.hash FROM notes n JOIN chunks c ON c.note = n.id WHERE `+w.sql(), w.args...)
	if err != nil {
		return nil, fmt.Errorf("filter passages: %w", err)
	}
	defer rows.Close()
	out := map[index.Hash]bool{}
	var hash sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&hash); err != nil {
			return nil, err
		}
		out[hashOf(hash)] = true
	}
	return out, rows.Err()
}

// passagesOf finds the passages that vectors stand for. Notes that share a text
// share its vector, so the condition is asked about each of them again.
func (s *Store) passagesOf(ctx context.Context, top []scored, w *where) ([]index.NearPassage, error) {
	score := make(map[index.Hash]float32, len(top))
	hashes := make([][]byte, len(top))
	for i, t := range top {
		score[t.hash] = t.score
		hashes[i] = t.hash[:]
	}
	out, err := grouped(hashes, func(g [][]byte) ([]index.NearPassage, error) {
		rows, err := s.db.Query(ctx, `SELECT c.hash, c.note, n.path, c.seq FROM chunks c JOIN notes n ON n.id = c.note
		  WHERE c.hash IN `+marks(len(g))+` AND `+w.sql(), append(anys(g), w.args...)...)
		if err != nil {
			return nil, fmt.Errorf("find passages of vectors: %w", err)
		}
		defer rows.Close()
		var out []index.NearPassage
		var hash sql.RawBytes
		for rows.Next() {
			var p index.NearPassage
			if err := rows.Scan(&hash, &p.ID, &p.Path, &p.Seq); err != nil {
				return nil, err
			}
			p.Cosine = score[hashOf(hash)]
			out = append(out, p)
		}
		return out, rows.Err()
	})
	slices.SortFunc(out, func(a, b index.NearPassage) int {
		return cmp.Or(-cmp.Compare(a.Cosine, b.Cosine), strings.Compare(a.Path, b.Path), cmp.Compare(a.Seq, b.Seq))
	})
	return out, err
}

// unembedded lists passages without a vector, those of the newest and most
// linked notes first: a link counts like a day.
func (s *Store) unembedded(ctx context.Context, model string, limit int) ([]index.Passage, error) {
	f, err := s.vectors.Get(model)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Query(ctx, `
	  WITH linked AS (
	    SELECT m.note, count(*) AS times FROM links l JOIN names m ON m.key = l.key AND m.kind = 0 GROUP BY m.note)
	  SELECT c.note, c.seq, c.hash FROM notes n JOIN chunks c ON c.note = n.id LEFT JOIN linked k ON k.note = n.id
	  ORDER BY n.mtime / 86400000000000 + coalesce(k.times, 0) DESC, n.path, c.seq`)
	if err != nil {
		return nil, fmt.Errorf("list passages without vectors: %w", err)
	}
	defer rows.Close()
	has := f.Has()
	type place struct {
		note int64
		seq  int
	}
	var places []place
	var hash sql.RawBytes
	for rows.Next() && (limit <= 0 || len(places) < limit) {
		var p place
		if err := rows.Scan(&p.note, &p.seq, &hash); err != nil {
			return nil, err
		}
		if !has(hashOf(hash)) {
			places = append(places, p)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	var out []index.Passage
	st, err := s.db.Read.PrepareContext(ctx, `SELECT `+passageColumns+` FROM chunks c JOIN notes n ON n.id = c.note WHERE c.note = ? AND c.seq = ?`)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	for _, p := range places {
		rows, err := st.QueryContext(ctx, p.note, p.seq)
		if err != nil {
			return nil, err
		}
		ps, err := scanPassages(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, ps...)
	}
	return out, nil
}

// liveHashes hands the hash of every passage to yield.
func (s *Store) liveHashes(ctx context.Context, yield func(index.Hash)) error {
	rows, err := s.db.Query(ctx, `SELECT hash FROM chunks`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var hash sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&hash); err != nil {
			return err
		}
		yield(hashOf(hash))
	}
	return rows.Err()
}

// embedded counts the passages that have a vector of a model. Counting looks at
// every passage, so the last count is kept for as long as nothing changes: in the
// file by Optimize, and in memory by every count.
func (s *Store) embedded(ctx context.Context, model string, generation int64) (int, error) {
	f, err := s.vectors.Get(model)
	if err != nil {
		return 0, err
	}
	have := f.Len()
	if have == 0 {
		return 0, nil
	}
	if c, err := s.readCoverage(ctx, model); err != nil || c.Generation == generation && c.Vectors == have {
		return c.Embedded, err
	}
	if c, ok := s.counted.Load(model); ok && c.(coverage).Generation == generation && c.(coverage).Vectors == have {
		return c.(coverage).Embedded, nil
	}
	n, has := 0, f.Has()
	err = s.liveHashes(ctx, func(h index.Hash) {
		if has(h) {
			n++
		}
	})
	if err == nil {
		s.counted.Store(model, coverage{Generation: generation, Vectors: have, Embedded: n})
	}
	return n, err
}

// A coverage is a count of embedded passages and what it was true of.
type coverage struct {
	Generation int64
	Vectors    int
	Embedded   int
}

func (s *Store) readCoverage(ctx context.Context, model string) (coverage, error) {
	var c coverage
	var text string
	err := s.db.Read.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, "embedded:"+model).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return coverage{Generation: -1}, nil
	}
	if err != nil {
		return c, err
	}
	return c, decode(text, &c)
}

// keepCoverage counts anew for every model that was used.
func (s *Store) keepCoverage(ctx context.Context) error {
	c, err := readCounts(ctx, s.db.Write)
	if err != nil {
		return err
	}
	for _, f := range s.vectors.Loaded() {
		n, err := s.embedded(ctx, f.Model(), c.Generation)
		if err != nil {
			return err
		}
		value := encode(coverage{Generation: c.Generation, Vectors: f.Len(), Embedded: n})
		if _, err := s.db.Write.ExecContext(ctx, `INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)`, "embedded:"+f.Model(), value); err != nil {
			return err
		}
	}
	return nil
}

// compactVectors rewrites the files in which more than half is waste. Text that
// was changed a moment ago often comes back, so less than that is kept.
func (s *Store) compactVectors(ctx context.Context) error {
	for _, f := range s.vectors.Loaded() {
		total := f.Len()
		if total < 1000 {
			continue
		}
		live := map[index.Hash]bool{}
		if err := s.liveHashes(ctx, func(h index.Hash) { live[h] = true }); err != nil {
			return err
		}
		if len(live)*2 >= total {
			continue
		}
		if err := f.Rewrite(func(h index.Hash) bool { return live[h] }); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("compact vectors: %w", err)
		}
	}
	return nil
}
