//go:build linux

package writer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/vault"
)

// bare is the least that a safe save costs: a new file, synced, in the place of
// the old one, and the folder synced if so wanted.
func bare(dir, name, text string, folder bool) error {
	temp := filepath.Join(dir, ".bare.tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(dir, name)); err != nil || !folder {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// BenchmarkSave compares a save with a bare one that promises as much about the
// disk, turn by turn, so that both meet the same load.
func BenchmarkSave(b *testing.B) {
	dir := b.TempDir()
	text := func(i int) string { return fmt.Sprintf("%08d %0*d", i, 4000, i) }
	for _, n := range []string{"note.md", "bare.md", "short.md"} {
		if err := os.WriteFile(filepath.Join(dir, n), []byte(text(0)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	v, err := vault.Open(dir, vault.Options{})
	if err != nil {
		b.Fatal(err)
	}
	w := Open(v, Options{})
	defer w.Close()
	if _, err := w.Capabilities(b.Context()); err != nil {
		b.Fatal(err)
	}
	ways := []func(i int) error{
		func(i int) error {
			_, err := w.Apply(b.Context(), fmt.Sprintf("op-%d", i), change.Set{change.Replace("note.md", text(i), text(i+1))})
			return err
		},
		func(i int) error { return bare(dir, "bare.md", text(i), true) },
		func(i int) error { return bare(dir, "short.md", text(i), false) },
	}
	took := make([][]time.Duration, len(ways))
	try := func(way, i int) {
		at := time.Now()
		if err := ways[way](i); err != nil {
			b.Fatal(err)
		}
		took[way] = append(took[way], time.Since(at))
	}
	for n := 0; b.Loop(); n++ {
		for way := range ways {
			try(way, n)
		}
	}
	median := func(way int) float64 {
		slices.Sort(took[way])
		return float64(took[way][len(took[way])/2]) / 1e6
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(0), "ms/save")
	b.ReportMetric(median(1), "ms/bare+dirsync")
	b.ReportMetric(median(2), "ms/bare")
	b.ReportMetric(median(0)/median(1), "ratio")
}

// BenchmarkSet measures a rename with many links: to the commit, and whole.
func BenchmarkSet(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			set := change.Set{}
			for i := range n {
				p := fmt.Sprintf("f%02d/note-%05d.md", i%50, i)
				old := fmt.Sprintf("%d %0*d [[hub]]\n", i, 1000, i)
				set = append(set, change.Replace(p, old, old+"[[centre]]\n"))
				at := filepath.Join(dir, p)
				if os.MkdirAll(filepath.Dir(at), 0o755) != nil || os.WriteFile(at, []byte(old), 0o644) != nil {
					b.Fatal("cannot make files")
				}
			}
			v, err := vault.Open(dir, vault.Options{})
			if err != nil {
				b.Fatal(err)
			}
			w := Open(v, Options{})
			defer w.Close()
			if _, err := w.Capabilities(b.Context()); err != nil {
				b.Fatal(err)
			}
			var began, committed time.Time
			w.sys.Before = func(call string) error {
				if call == "exchange" && committed.IsZero() {
					committed = time.Now()
				}
				return nil
			}
			var toCommit time.Duration
			i := 0
			for b.Loop() {
				began, committed = time.Now(), time.Time{}
				if _, err := w.Apply(b.Context(), fmt.Sprintf("op-%d", i), set); err != nil {
					b.Fatal(err)
				}
				toCommit += committed.Sub(began)
				set = set.Inverse()
				i++
			}
			b.ReportMetric(float64(toCommit.Milliseconds())/float64(i), "ms/commit")
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(i), "ms/whole")
		})
	}
}
