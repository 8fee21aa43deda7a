package sqlite

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lore/internal/index"
	"lore/internal/index/indextest"
)

// TestAskingWhileItSettles: making indexes changes the schema, and a question
// that is asked at that moment is answered all the same.
func TestAskingWhileItSettles(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		s, _, err := Open(t.Context(), t.TempDir(), time.Now)
		must(t, err)
		must(t, s.Apply(t.Context(), index.Batch{Put: []index.Document{indextest.Note("a.md", "A", "tea"), indextest.Note("b.md", "B", "tea and more")}}))
		var over atomic.Bool
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for !over.Load() {
					m := index.Match{All: []index.Term{{Words: []string{"tea"}}}, Limit: 5}
					if found, err := s.Match(t.Context(), m); err != nil || len(found) != 2 {
						t.Errorf("%d found: %v", len(found), err)
						return
					}
				}
			})
		}
		must(t, s.Optimize(t.Context()))
		over.Store(true)
		wg.Wait()
		must(t, s.Close())
	}
}
