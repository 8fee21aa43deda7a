package mcpadmin

import (
	"fmt"
	"sync"
	"testing"

	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
	"lore/internal/surface"
)

// TestTwoAtOnce: what was added is there, or who added it was told that it is not.
func TestTwoAtOnce(t *testing.T) {
	d := newDesk(t, "{}\n")
	const n = 30
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = d.add(surface.NewServer{Name: fmt.Sprintf("s%d", i), Command: "x"}) })
	}
	wg.Wait()
	file, text, err := d.own()
	if err != nil {
		t.Fatal(err)
	}
	list, err := configfile.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	there := map[string]bool{}
	for _, s := range list {
		there[s.Name] = true
	}
	for i, err := range errs {
		if (err == nil) != there[fmt.Sprintf("s%d", i)] || err != nil && fault.Of(err) != fault.Conflict {
			t.Errorf("s%d: there %v, %v", i, there[fmt.Sprintf("s%d", i)], err)
		}
	}
}
