package sqlite_test

import (
	"testing"
	"time"

	"lore/internal/index"
	"lore/internal/index/indextest"
	"lore/internal/index/sqlite"
)

func TestStore(t *testing.T) {
	indextest.Run(t, func(t *testing.T) index.Store {
		s, o, err := sqlite.Open(t.Context(), t.TempDir(), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if !o.Rebuilt {
			t.Error("a new store says that it is not new")
		}
		return s
	})
}
