//go:build unix

package vault_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lore/internal/vault"
)

// large makes 50,000 files in 2,000 folders, three deep.
func large(b *testing.B) string {
	dir := b.TempDir()
	for i := range 50_000 {
		f := i % 2000
		write(b, dir, fmt.Sprintf("area %d/topic %d/f%d/Note about number %d.md", f%10, f/10%10, f, i), "x")
	}
	return dir
}

// cpu is the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWalk compares a walk with the least that anyone could do. Measure
// the CPU time: the file system's cache decides the rest.
func BenchmarkWalk(b *testing.B) {
	if testing.Short() {
		b.Skip("makes 50,000 files")
	}
	dir := large(b)
	b.Run("bare", func(b *testing.B) {
		start := cpu(b)
		for b.Loop() {
			n := 0
			err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				n++
				_, err = d.Info()
				return err
			})
			if err != nil || n != 50_000 {
				b.Fatal(n, err)
			}
		}
		b.ReportMetric(float64(cpu(b)-start)/float64(b.N)/1e6, "cpu-ms/op")
	})
	b.Run("vault", func(b *testing.B) {
		v := open(b, dir, vault.Options{Exclude: []string{"Private/**", "*.tmp.md"}})
		start := cpu(b)
		for b.Loop() {
			l, err := v.Walk(b.Context())
			if err != nil || len(l.Entries) != 50_000 {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(cpu(b)-start)/float64(b.N)/1e6, "cpu-ms/op")
	})
}

func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	write(b, dir, "a/b/c/note.md", string(make([]byte, 4096)))
	v := open(b, dir, vault.Options{})
	if _, err := v.Walk(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := v.Read(b.Context(), "a/b/c/note.md"); err != nil {
			b.Fatal(err)
		}
	}
}
