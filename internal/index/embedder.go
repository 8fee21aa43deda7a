package index

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lore/internal/embed"
	"lore/internal/event"
)

// An Embedder gives passages their vectors, those of the newest and most linked
// notes first. It may be stopped at any moment; what is done is never done
// again, because vectors are kept by the hash of their text.
type Embedder struct {
	Store   Store
	Model   embed.Model
	Threads func() int // asked before each round, so that others can be given way
	Bus     *event.Bus
	Log     *slog.Logger
	Now     func() time.Time
}

const (
	roundPassages = 1024 // asked for at once, and then sorted by length
	callPassages  = 16   // given to the model at once
)

// Run embeds until nothing is left.
func (e *Embedder) Run(ctx context.Context) (int, error) {
	st, err := e.Store.Stats(ctx, e.Model.ID())
	if err != nil {
		return 0, err
	}
	total, done, start := st.Passages-st.Embedded, 0, e.Now()
	if total <= 0 {
		return 0, nil
	}
	defer func() { e.Bus.Publish(TopicEmbed, NewProgress(done, max(total, done), e.Now().Sub(start)), true) }()
	for {
		ps, err := e.Store.Passages(ctx, PassageQuery{Model: e.Model.ID(), Limit: roundPassages})
		if err != nil || len(ps) == 0 {
			return done, err
		}
		err = e.round(ctx, ps, func(n int) {
			done += n
			e.Bus.Publish(TopicEmbed, NewProgress(done, max(total, done), e.Now().Sub(start)), false)
		})
		if err != nil {
			return done, err
		}
	}
}

// round embeds some passages. Texts of like length go to the model together,
// because it works on all of them as long as on the longest.
func (e *Embedder) round(ctx context.Context, ps []Passage, step func(int)) error {
	slices.SortStableFunc(ps, func(a, b Passage) int { return cmp.Compare(len(a.Text), len(b.Text)) })
	calls := slices.Collect(slices.Chunk(ps, callPassages))
	threads := max(1, e.Threads())
	for group := range slices.Chunk(calls, threads) {
		made := make([][]Vector, len(group))
		g, gctx := errgroup.WithContext(ctx)
		for i, c := range group {
			g.Go(func() (err error) {
				made[i], err = e.vectors(gctx, c)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		vs := slices.Concat(made...)
		if err := e.Store.Apply(ctx, Batch{Model: e.Model.ID(), Vectors: vs}); err != nil {
			return err
		}
		step(len(vs))
	}
	return nil
}

func (e *Embedder) vectors(ctx context.Context, ps []Passage) ([]Vector, error) {
	texts := make([]string, len(ps))
	for i, p := range ps {
		texts[i] = PassageText(p.Title, p.Heading, p.Text)
	}
	got, err := e.Model.Embed(ctx, embed.Passage, texts)
	if err != nil {
		return nil, fmt.Errorf("embed with %s: %w", e.Model.ID(), err)
	}
	out := make([]Vector, len(ps))
	for i, v := range got {
		out[i] = Vector{Hash: ps[i].Hash, Vector: v}
	}
	return out, nil
}
