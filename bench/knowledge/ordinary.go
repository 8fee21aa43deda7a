package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lore/internal/graph/stance"
	"lore/internal/note"
)

// errEnough ends a walk.
var errEnough = errors.New("enough")

// ordinary asks what cue says of notes that argue about nothing: of each note
// and its three nearest, nearly all should be merely related.
func ordinary(dir string) error {
	const most, near = 300, 3
	var texts, starts []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if t := note.Plain(string(b)); len(t) > 80 {
			t = strings.TrimSuffix(filepath.Base(path), ".md") + ". " + t
			texts = append(texts, t)
			words := strings.Fields(t)
			starts = append(starts, strings.Join(words[:min(len(words), 180)], " "))
		}
		if len(texts) == most {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	vecs, err := vectors(starts)
	if err != nil {
		return err
	}
	count := map[string]int{}
	total := 0
	for i := range texts {
		order := make([]int, 0, len(texts))
		for j := range texts {
			if j != i {
				order = append(order, j)
			}
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(cosine(vecs[i], vecs[b]), cosine(vecs[i], vecs[a])) })
		for _, j := range order[:min(near, len(order))] {
			count[stance.Between(texts[i], texts[j], cosine(vecs[i], vecs[j])).Type]++
			total++
		}
	}
	fmt.Printf("\nOrdinary notes of %s: %d pairs\n\n| suggested | pairs |\n|---|---|\n", filepath.Base(dir), total)
	for _, t := range slices.Sorted(maps.Keys(count)) {
		fmt.Printf("| %s | %d |\n", t, count[t])
	}
	return nil
}
