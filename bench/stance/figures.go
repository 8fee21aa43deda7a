package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

func table(list []system, draws int) [][]float64 {
	out := make([][]float64, len(list))
	for i := range out {
		out[i] = make([]float64, draws)
	}
	return out
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// against compares a system with the count, draw by draw.
func against(all [][]float64, s int) string {
	const count = 1
	if s <= count {
		return ""
	}
	diff := make([]float64, len(all[s]))
	for d := range diff {
		diff[d] = all[s][d] - all[count][d]
	}
	slices.Sort(diff)
	n := float64(len(diff) - 1)
	return fmt.Sprintf("%+.3f [%+.3f, %+.3f]", mean(diff), diff[int(0.025*n)], diff[int(0.975*n)])
}

// area is the chance that one of pos is above one of neg, ties by half.
func area(pos, neg []float64) float64 {
	all := ranks(append(slices.Clone(pos), neg...))
	sum := 0.0
	for _, r := range all[:len(pos)] {
		sum += r
	}
	n := float64(len(pos))
	return (sum - n*(n+1)/2) / (n * float64(len(neg)))
}

// spearman is the correlation of ranks; 0 when one side is all the same.
func spearman(a, b []float64) float64 {
	x, y := ranks(a), ranks(b)
	mx, my := mean(x), mean(y)
	var xy, xx, yy float64
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// ranks counts from 1; equal values share the middle of their ranks.
func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(v[i], v[j]) })
	out := make([]float64, len(v))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && v[order[to]] == v[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+to+1) / 2
		}
		from = to
	}
	return out
}
