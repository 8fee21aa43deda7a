package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lore/internal/access"
	"lore/internal/embed"
	"lore/internal/index"
	"lore/internal/surface/cli"
)

// bench measures a few things on the open vault. It is for people who wonder
// what their machine does; the project's own measurements are in bench/.
func (a *app) bench(ctx context.Context, open *cli.Session) ([]cli.Measure, error) {
	g := cli.Globals{Vault: open.Dir}
	if err := open.Close(); err != nil {
		return nil, err
	}
	open.Close = func() error { return nil }
	s, err := a.openSession(ctx, g, cli.OpenOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.close() }() // measured, nothing to lose
	var out []cli.Measure
	add := func(name, format string, args ...any) {
		out = append(out, cli.Measure{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	took, err := timed(func() error { _, err := s.indexer.Sync(ctx); return err })
	if err != nil {
		return nil, err
	}
	st, err := s.store.Stats(ctx, "")
	if err != nil {
		return nil, err
	}
	add("compare with the vault", "%.1f ms for %d notes", ms(took), st.Notes)
	rows, err := s.store.Notes(ctx, index.Select{Order: index.ByRandom, Limit: 20})
	if err != nil {
		return nil, err
	}
	for _, mode := range []string{"lexical", "hybrid"} {
		if mode == "hybrid" && s.model == nil {
			continue
		}
		times, err := s.timeSearch(ctx, mode, rows)
		if err != nil {
			return nil, err
		}
		if len(times) > 0 {
			add("search, "+mode, "%.1f ms median, %.1f ms worst of %d titles", ms(times[len(times)/2]), ms(times[len(times)-1]), len(times))
		}
	}
	if s.model != nil {
		texts := slices.Repeat([]string{"Steep the leaves for three minutes in water that has just stopped boiling."}, 8)
		took, err := timed(func() error { _, err := s.model.Embed(ctx, embed.Passage, texts); return err })
		if err != nil {
			return nil, err
		}
		add("embed", "%.1f short texts a second on one core with %s", float64(len(texts))/took.Seconds(), s.model.ID())
	}
	return out, nil
}

// timeSearch asks for the title of each note and returns how long each answer
// took, shortest first.
func (s *session) timeSearch(ctx context.Context, mode string, rows []index.Row) ([]time.Duration, error) {
	reg := s.face().Registry
	var times []time.Duration
	for _, r := range rows {
		args, err := json.Marshal(map[string]any{"query": r.Title, "mode": mode})
		if err != nil {
			return nil, err
		}
		took, err := timed(func() error {
			_, err := reg.Call(ctx, access.Terminal(), "search_notes", args)
			return err
		})
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		times = append(times, took)
	}
	slices.Sort(times)
	return times, nil
}

func timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
