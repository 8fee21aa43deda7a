package index

import (
	"time"

	"lore/internal/change"
)

// written adds what a batch put into the index to the news of the run.
func written(news *change.Files, b Batch, w work) {
	if w.first {
		news.Many = len(b.Put) > 0 || news.Many // everything is new
		return
	}
	for _, d := range b.Put {
		if w.known[d.File.Path] {
			news.Changed = append(news.Changed, d.File.Path)
		} else {
			news.Added = append(news.Added, d.File.Path)
		}
	}
	news.Removed = append(news.Removed, b.Drop...)
}

// tell publishes what became different.
func (ix *Indexer) tell(news change.Files) {
	if !news.None() {
		ix.bus.Publish(change.TopicFiles, news.Brief(), true)
	}
}

// progress publishes how far a run is, at most once for each batch.
type progress struct {
	ix          *Indexer
	done, total int
	start       time.Time
}

func (p *progress) publish(final bool) {
	p.ix.setFreshness(func(f *Freshness) { f.Pending = p.total - p.done })
	v := NewProgress(p.done, p.total, p.ix.now().Sub(p.start))
	p.ix.bus.Publish(TopicIndex, v, final)
}

// NewProgress estimates the rest of a run from what was done so far.
func NewProgress(done, total int, took time.Duration) Progress {
	v := Progress{Done: done, Total: total}
	if s := took.Seconds(); s > 0 && done > 0 {
		v.Rate = float64(done) / s
		v.Left = time.Duration(float64(total-done) / v.Rate * float64(time.Second))
	}
	return v
}
