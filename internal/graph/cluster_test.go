package graph

import (
	"fmt"
	"slices"
	"testing"
)

func linked(pairs ...[2]string) *Graph {
	g := &Graph{Out: map[string][]string{}, In: map[string][]string{}}
	for _, p := range pairs {
		g.Paths = append(g.Paths, p[0], p[1])
		g.Out[p[0]] = append(g.Out[p[0]], p[1])
		g.In[p[1]] = append(g.In[p[1]], p[0])
	}
	slices.Sort(g.Paths)
	g.Paths = slices.Compact(g.Paths)
	return g
}

// TestClusters: two full groups with one link between them stay two, every time.
func TestClusters(t *testing.T) {
	g := linked([2]string{"a", "b"}, [2]string{"b", "c"}, [2]string{"c", "a"}, [2]string{"a", "d"}, [2]string{"b", "d"}, [2]string{"c", "d"},
		[2]string{"d", "x"}, [2]string{"x", "y"}, [2]string{"y", "z"}, [2]string{"z", "x"})
	g.Paths = append(g.Paths, "zz alone")
	const want = "[{a [a b c d]} {x [x y z]}]"
	for range 20 {
		got, err := g.Clusters(t.Context())
		if err != nil || fmt.Sprint(got) != want {
			t.Fatalf("%v, %v; want %s", got, err, want)
		}
	}
	if got := fmt.Sprint(g.DeadEnds()); got != "[zz alone]" {
		t.Errorf("dead ends %s", got)
	}
}
