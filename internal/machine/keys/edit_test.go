package keys

import (
	"fmt"
	"sync"
	"testing"
)

// TestTwoAtOnce: of keys that are kept at once, none is lost.
func TestTwoAtOnce(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if _, err := s.Set(fmt.Sprintf("p%d", i), "k"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if all, err := s.read(); err != nil || len(all) != n {
		t.Errorf("%d of %d are kept: %v", len(all), n, err)
	}
}
