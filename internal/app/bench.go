package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lore/internal/embed"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/surface/cli"
	"lore/internal/workspace"
	"lore/internal/workspace/settings"
)

// bench measures a few things on the open vault. It is for people who wonder
// what their machine does; the project's own measurements are in bench/.
func (a *app) bench(ctx context.Context, open *cli.Session) ([]cli.Measure, error) {
	if err := open.Close(); err != nil {
		return nil, err
	}
	open.Close = func() error { return nil }
	s, err := a.opener().OpenIndex(ctx, settings.Flags{Vault: open.Dir})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }() // measured, nothing to lose
	var out []cli.Measure
	add := func(name, format string, args ...any) {
		out = append(out, cli.Measure{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	took, err := timed(func() error { _, err := s.Indexer.Sync(ctx); return err })
	if err != nil {
		return nil, err
	}
	st, err := s.Store.Stats(ctx, "")
	if err != nil {
		return nil, err
	}
	add("compare with the vault", "%.1f ms for %d notes", ms(took), st.Notes)
	searches, err := a.benchSearch(ctx, s)
	if err != nil {
		return nil, err
	}
	out = append(out, searches...)
	if s.Model != nil {
		texts := slices.Repeat([]string{"Steep the leaves for three minutes in water that has just stopped boiling."}, 8)
		took, err := timed(func() error { _, err := s.Model.Embed(ctx, embed.Passage, texts); return err })
		if err != nil {
			return nil, err
		}
		add("embed", "%.1f short texts a second on one core with %s", float64(len(texts))/took.Seconds(), s.Model.ID())
	}
	return out, nil
}

// benchSearch asks for the titles of some notes, by words and by meaning.
func (a *app) benchSearch(ctx context.Context, s *workspace.Session) ([]cli.Measure, error) {
	rows, err := s.Store.Notes(ctx, index.Select{Order: index.ByRandom, Limit: 20})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	finder := a.searcher(s)
	var out []cli.Measure
	for _, mode := range []search.Mode{search.Lexical, search.Hybrid} {
		if mode == search.Hybrid && s.Model == nil {
			continue
		}
		var times []time.Duration
		for _, r := range rows {
			q := search.Query{Text: r.Title, Words: strings.Fields(r.Title)}
			took, err := timed(func() error { _, err := finder.Ask(ctx, q, search.Options{Mode: mode}); return err })
			if err != nil {
				return nil, err
			}
			times = append(times, took)
		}
		slices.Sort(times)
		out = append(out, cli.Measure{Name: "search, " + string(mode), Value: fmt.Sprintf("%.1f ms median, %.1f ms worst of %d titles",
			ms(times[len(times)/2]), ms(times[len(times)-1]), len(times))})
	}
	return out, nil
}

func timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
