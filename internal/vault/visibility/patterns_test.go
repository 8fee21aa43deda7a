package visibility_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"lore/internal/vault/visibility"
)

func TestLost(t *testing.T) {
	type p = visibility.Patterns
	only := func(list ...string) p { return p{Only: [][]string{list}} }
	for _, c := range []struct {
		name         string
		earlier, now p
		hidden       []string
		all          bool
	}{
		{"nothing changed", p{}, p{}, nil, false},
		{"the same folder", only("Work/**"), only("Work/**"), nil, false},
		{"another order", only("a", "b"), only("b", "a"), nil, false},
		{"one more folder", only("Work/**"), only("Work/**", "Tea/**"), nil, false},
		{"everything after a folder", only("Work/**"), p{}, nil, false},
		{"a folder after nothing", only(), only("Work/**"), nil, false},
		{"a folder less", only("Work/**", "Tea/**"), only("Work/**"), nil, true},
		{"another folder", only("Work/**"), only("Tea/**"), nil, true},
		{"a folder after everything", p{}, only("Work/**"), nil, true},
		{"nothing after everything", p{}, only(), nil, true},
		{"a folder within", only("Work/**"), only("Work/tea/**"), nil, true},
		{"a file less after nothing", only(), p{Hidden: []string{"a"}}, nil, false},
		{"hidden now", p{Hidden: []string{"a"}}, p{Hidden: []string{"a", "b"}}, []string{"b"}, false},
		{"hidden no more", p{Hidden: []string{"a"}}, p{}, nil, false},
		{"narrowed twice", only("Work/**"), p{Only: [][]string{{"Work/**"}, {"Tea/**"}}}, nil, true},
	} {
		hidden, all := c.now.Lost(c.earlier)
		if !slices.Equal(hidden, c.hidden) || all != c.all {
			t.Errorf("%s: %q, %v", c.name, hidden, all)
		}
		wide := visibility.Widest(c.earlier, c.now)
		for _, one := range []p{c.earlier, c.now} {
			if hidden, all := wide.Lost(one); all || len(hidden) > 0 {
				t.Errorf("%s: the widest is %+v", c.name, wide)
			}
		}
	}
}

// TestPatternsAreKept: a limit that allows nothing is not one that allows
// everything, after it was stored too.
func TestPatternsAreKept(t *testing.T) {
	none, err := visibility.Limit{}.Only(nil)
	if err != nil {
		t.Fatal(err)
	}
	some, err := none.Without([]string{"/Private"})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []visibility.Limit{{}, none, some} {
		b, err := json.Marshal(l.Patterns())
		var got visibility.Patterns
		if err != nil || json.Unmarshal(b, &got) != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, l.Patterns()) || (len(got.Only)+len(got.Hidden) == 0) != l.Everything() {
			t.Errorf("%s", b)
		}
	}
}
