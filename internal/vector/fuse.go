package vector

import "slices"

// A Ranking is a list of ids, best first, and how much it counts beside other
// lists.
type Ranking[ID comparable] struct {
	IDs    []ID
	Weight float64
}

// A Fused is an id and the sum of what its places in the lists were worth.
type Fused[ID comparable] struct {
	ID    ID
	Score float64
}

// Fuse joins rankings by reciprocal rank: an id at place r (from 1) of a list
// gets Weight/(k+r) from it. Only places count, so lists whose scores cannot
// be compared may be fused. A larger k makes the first places matter less; 10
// to 60 is usual. An id that stands twice in a list counts once, at its better
// place.
//
// The result is best first. Of equal ids that one is first which was met
// first, reading the lists in their order: the same input always gives the
// same output.
func Fuse[ID comparable](k float64, lists ...Ranking[ID]) []Fused[ID] {
	var fused []Fused[ID]
	place := map[ID]int{}
	for _, list := range lists {
		seen := make(map[ID]bool, len(list.IDs))
		for rank, id := range list.IDs {
			if seen[id] {
				continue
			}
			seen[id] = true
			i, ok := place[id]
			if !ok {
				i = len(fused)
				place[id] = i
				fused = append(fused, Fused[ID]{ID: id})
			}
			fused[i].Score += list.Weight / (k + float64(rank+1))
		}
	}
	slices.SortStableFunc(fused, func(a, b Fused[ID]) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return fused
}
