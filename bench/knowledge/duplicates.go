package main

import (
	"encoding/json"
	"fmt"
	"os"

	"lore/internal/graph/stance"
)

// A couple is two texts that people compared.
type couple struct {
	A, B, Label string
	Score       float64 // 0 to 5, by people
	cos         float64
	differ      string  // why they cannot be the same
	words       float64 // shared part of their words
}

// duplicates asks from which likeness on two texts are the same, and what looking
// at their words adds.
func duplicates(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var in struct{ Pairs []couple }
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	var texts []string
	for _, c := range in.Pairs {
		texts = append(texts, c.A, c.B)
	}
	vecs, err := vectors(texts)
	if err != nil {
		return err
	}
	for i := range in.Pairs {
		c := &in.Pairs[i]
		c.cos = cosine(vecs[2*i], vecs[2*i+1])
		c.differ, c.words = stance.Differ(c.A, c.B), stance.Overlap(c.A, c.B)
	}
	for _, truth := range []struct {
		name string
		is   func(couple) bool
	}{
		{"labelled duplicate", func(c couple) bool { return c.Label == "duplicate" }},
		{"at least mostly the same (4 of 5)", func(c couple) bool { return c.Score >= 4 }},
	} {
		thresholds(truth.name, in.Pairs, truth.is)
	}
	return nil
}

func thresholds(name string, all []couple, truth func(couple) bool) {
	total := 0
	for _, c := range all {
		if truth(c) {
			total++
		}
	}
	fmt.Printf("\nDuplicates, %s: %d of %d pairs\n\n", name, total, len(all))
	fmt.Println("| cosine from | precision | recall | F1 | none differs: precision | recall | F1 | and half of the words shared: precision | recall | F1 |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for t := 60; t <= 96; t += 4 {
		from := float64(t) / 100
		fmt.Printf("| %.2f |", from)
		for _, ok := range []func(couple) bool{
			func(c couple) bool { return c.cos >= from },
			func(c couple) bool { return c.cos >= from && c.differ == "" },
			func(c couple) bool { return c.cos >= from && c.differ == "" && c.words >= 0.5 },
		} {
			p, r, f := score(all, truth, ok)
			fmt.Printf(" %.3f | %.3f | %.3f |", p, r, f)
		}
		fmt.Println()
	}
	for half := range 2 {
		var some []couple
		for i, c := range all {
			if i%2 == half {
				some = append(some, c)
			}
		}
		best, at := 0.0, 0
		for t := 60; t <= 96; t++ {
			if _, _, f := score(some, truth, func(c couple) bool { return c.cos >= float64(t)/100 && c.differ == "" }); f > best {
				best, at = f, t
			}
		}
		fmt.Printf("\nBest on half %d: %.2f, F1 %.3f\n", half+1, float64(at)/100, best)
	}
}

func score(all []couple, truth, say func(couple) bool) (precision, recall, f1 float64) {
	var hit, miss, wrong float64
	for _, c := range all {
		switch {
		case say(c) && truth(c):
			hit++
		case say(c):
			wrong++
		case truth(c):
			miss++
		}
	}
	if hit == 0 {
		return 0, 0, 0
	}
	return hit / (hit + wrong), hit / (hit + miss), 2 * hit / (2*hit + miss + wrong)
}
