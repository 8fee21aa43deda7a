package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/tool"
	"lore/internal/tool/history"
)

// prose is a text of about n bytes that gets as much shorter as notes do.
func prose(seed, n int) string {
	var b strings.Builder
	words := strings.Fields("tea water leaf green black oolong the a of and to steep minutes degrees cup with taste bitter sweet note about from when oxidation [[Matcha]] #brewing temperature harvest spring first flush")
	for i := seed; b.Len() < n; i++ {
		b.WriteString(words[(i*i*7+seed+i%13)%len(words)])
		b.WriteByte(" \n"[map[bool]int{true: 1}[i%11 == 0]])
	}
	return b.String()
}

func size(b *testing.B, p place) float64 {
	d, err := p.file.DB(b.Context())
	must(b, err)
	_, err = d.Write.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	must(b, err)
	info, err := os.Stat(p.file.Path())
	must(b, err)
	return float64(info.Size())
}

// BenchmarkChange is Begin and Finish of a change of a few notes of 4 kB.
func BenchmarkChange(b *testing.B) {
	for _, files := range []int{1, 1000, 10_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			p := openIn(b, b.TempDir(), history.Options{})
			must(b, p.Prune(b.Context(), now()))
			before := make([]string, files)
			for i := range before {
				before[i] = prose(i, 4000)
			}
			n := 0
			start := size(b, p)
			b.ResetTimer()
			for b.Loop() {
				b.StopTimer()
				set := make(change.Set, files)
				for i := range set {
					after := before[i] + fmt.Sprintf("\nline %d", n)
					set[i] = change.Replace(fmt.Sprintf("notes/%05d.md", i), before[i], after)
					before[i] = after
				}
				b.StartTimer()
				n++
				p.do(b, operation(fmt.Sprint("op-", n), set...))
			}
			b.StopTimer()
			b.ReportMetric((size(b, p)-start)/float64(n*files), "B/edit")
		})
	}
}

// BenchmarkRecordRead is a read in a process that goes on.
func BenchmarkRecordRead(b *testing.B) {
	p := openIn(b, b.TempDir(), history.Options{Wait: time.Hour})
	p.do(b, operation("op-1", change.Create("a.md", "x")))
	n := 0
	for b.Loop() {
		n++
		must(b, p.Record(b.Context(), call(fmt.Sprint("call-", n), tool.CallDone)))
	}
}

// BenchmarkRecordOnce is what a command pays that reads and ends.
func BenchmarkRecordOnce(b *testing.B) {
	dir := b.TempDir()
	n := 0
	for b.Loop() {
		n++
		p := openIn(b, dir, history.Options{})
		must(b, p.Record(b.Context(), call(fmt.Sprint("call-", n), tool.CallDone)))
		must(b, p.Close())
		if n%500 == 0 {
			b.StopTimer()
			must(b, os.Truncate(filepath.Join(dir, "reads.jsonl"), 0))
			b.StartTimer()
		}
	}
}

// BenchmarkRecordDenied is a call that must be on disk.
func BenchmarkRecordDenied(b *testing.B) {
	p := openIn(b, b.TempDir(), history.Options{})
	n := 0
	for b.Loop() {
		n++
		must(b, p.Record(b.Context(), call(fmt.Sprint("call-", n), tool.CallDenied)))
	}
}

// BenchmarkPruneNothing is what looking costs when there is nothing to do.
func BenchmarkPruneNothing(b *testing.B) {
	p := openIn(b, b.TempDir(), history.Options{})
	must(b, p.Prune(b.Context(), now()))
	for b.Loop() {
		must(b, p.Prune(b.Context(), now()))
	}
}
