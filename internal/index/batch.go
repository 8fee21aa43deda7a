package index

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"

	"lore/internal/change"
)

// maxParts is how many links, tags, headings and tasks of one note are indexed,
// each. A note that has more says so.
const maxParts = 20_000

// A batch is written when it has this many documents or this much text.
const (
	batchDocuments = 1000
	batchBytes     = 8 << 20
)

// The first batch of a new index is this small, and each is twice as large as the
// one before: questions that do not wait for the last one find something early.
const firstBatch = batchDocuments / 10

// largeFile is the size from which on files are read one by one, each written
// before the next: what a parser needs for some megabytes is many times their
// size, and must not be there once for each core.
const largeFile = 2 << 20

// work reads and parses on several cores and writes on one.
func (ix *Indexer) work(ctx context.Context, w work) (Summary, error) {
	total := len(w.read) + len(w.drop)
	if total == 0 {
		return Summary{}, nil
	}
	var before Freshness
	w.known = map[string]bool{}
	for _, j := range w.read {
		if j.had {
			w.known[j.entry.Path] = true
		}
	}
	ix.setFreshness(func(f *Freshness) {
		before = *f
		f.Fresh, f.Pending, f.Files, f.Reason = false, total, w.files, "being built"
	})
	g, gctx := errgroup.WithContext(ctx)
	jobs := make(chan job)
	done := make(chan outcome, ix.workers)
	large := make(chan struct{}, 1)
	g.Go(func() error {
		defer close(jobs)
		for _, j := range w.read {
			select {
			case jobs <- j:
			case <-gctx.Done():
				return gctx.Err()
			}
		}
		return nil
	})
	var readers sync.WaitGroup
	for range min(ix.workers, max(1, len(w.read))) {
		readers.Add(1)
		g.Go(func() error {
			defer readers.Done()
			return ix.readAll(gctx, jobs, done, large)
		})
	}
	go func() { readers.Wait(); close(done) }() // ends with the readers, which g waits for
	var sum Summary
	g.Go(func() error { return ix.write(gctx, w, done, &sum) })
	err := g.Wait()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	ix.setFreshness(func(f *Freshness) {
		// A few files more or less make an index that is offline or was left
		// half done no fresher than it was.
		f.Pending, f.Fresh, f.Reason = 0, before.Fresh, before.Reason
		if err != nil {
			f.Fresh, f.Reason = false, "the last changes could not be indexed"
		}
	})
	return sum, err
}

func (ix *Indexer) readAll(ctx context.Context, jobs <-chan job, done chan<- outcome, large chan struct{}) error {
	for j := range jobs {
		var written func()
		if j.entry.Size >= largeFile && isRead(j.entry.Kind) {
			select {
			case large <- struct{}{}:
				written = func() { <-large }
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		o, err := ix.read(ctx, j)
		if err != nil {
			return err
		}
		o.written = written
		select {
		case done <- o:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// write collects outcomes into batches and applies them.
func (ix *Indexer) write(ctx context.Context, w work, done <-chan outcome, sum *Summary) error {
	total := len(w.read) + len(w.drop)
	p := progress{ix: ix, total: total, start: ix.now()}
	defer func() { p.publish(true) }()
	b := Batch{Drop: w.drop}
	size, limit := 0, batchDocuments
	if w.first {
		limit = firstBatch
	}
	var news change.Files
	defer func() { ix.tell(news) }()
	flush := func() error {
		if err := ix.store.Apply(ctx, b); err != nil {
			return fmt.Errorf("write the index: %w", err)
		}
		written(&news, b, w)
		p.done += len(b.Put) + len(b.Drop) + len(b.Touch)
		sum.Dropped += len(b.Drop)
		p.publish(false)
		b, size, limit = Batch{}, 0, min(2*limit, batchDocuments)
		return nil
	}
	for o := range done {
		sum.count(&o)
		switch o.what {
		case touched:
			b.Touch = append(b.Touch, o.doc.File)
		case added, changed, failed:
			b.Put = append(b.Put, o.doc)
			size += len(o.doc.Body)
		}
		if len(b.Put)+len(b.Touch) >= limit || size >= batchBytes || o.written != nil {
			if err := flush(); err != nil {
				return err
			}
		}
		if o.written != nil {
			written := o.written
			o = outcome{}
			debug.FreeOSMemory() // the next large one begins without what this one left
			written()
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	// Merging costs about as much as a fifth of the load it follows.
	if w.first || sum.Wrote() > 1000 {
		return ix.store.Optimize(ctx)
	}
	return nil
}
