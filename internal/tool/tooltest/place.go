// Package tooltest runs the scripts of a toolset: real files in a real vault
// with a real index, calls through the registry, and what they must answer.
//
// It knows how a vault is opened and no tool. Only tests link it.
package tooltest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"lore/internal/change"
	"lore/internal/embed"
	"lore/internal/event"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/machine/state"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/approval"
	"lore/internal/tool/history"
	"lore/internal/vault"
	"lore/internal/vault/writer"
)

// Now is the moment at which every script runs.
func Now() time.Time { return time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC) }

// A Place is a vault with its index: what the environment of a toolset is made
// of.
type Place struct {
	Vault     *vault.Vault
	Store     index.Store
	Search    *search.Searcher
	Fresh     func(context.Context) index.Freshness
	Writer    *writer.Writer
	History   *history.Store
	Questions *approval.Store
	State     *state.File // what History and Questions lie in
	Bus       *event.Bus  // hears of files that changed, once they are indexed

	indexer *index.Indexer
}

// Deps are what a registry of this place needs, with identifiers that count
// from 1 so that scripts can name them.
func (p Place) Deps() tool.Deps {
	last := map[string]int{}
	var mu sync.Mutex
	return tool.Deps{
		Now: Now, Questions: p.Questions, Ledger: p.History,
		ID: func(word string) string {
			mu.Lock()
			defer mu.Unlock()
			last[word]++
			return fmt.Sprintf("%s-%d", word, last[word])
		},
		Apply: func(ctx context.Context, op string, set change.Set) error {
			apply := p.Writer.Apply
			if tool.Restoring(ctx) {
				apply = p.Writer.Restore
			}
			_, err := apply(ctx, op, set)
			return err
		},
		Reindex: func(ctx context.Context, paths []string) error {
			_, err := p.indexer.Update(ctx, paths)
			return err
		},
	}
}

// Open opens the folder as a vault and indexes it, with vectors when model is
// not nil.
func Open(t testing.TB, dir string, model embed.Model) Place {
	t.Helper()
	v, err := vault.Open(dir, vault.Options{Now: Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	s, _, err := sqlite.Open(t.Context(), t.TempDir(), Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	bus := event.NewBus()
	ix := index.New(v, s, index.Options{Now: Now, Bus: bus})
	if _, err := ix.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if model != nil {
		e := index.Embedder{Store: s, Model: model, Threads: func() int { return 1 }, Now: Now}
		if _, err := e.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	file := state.In(t.TempDir())
	h := history.New(file, history.Options{Now: Now})
	w := writer.Open(v, writer.Options{Now: Now})
	t.Cleanup(func() {
		if err := errors.Join(w.Close(), h.Close(), file.Close()); err != nil {
			t.Error(err)
		}
	})
	return Place{
		Vault: v, Store: s, Search: &search.Searcher{Store: s, Model: model, Now: Now}, Fresh: func(context.Context) index.Freshness { return ix.Freshness() },
		Writer: w, History: h, Questions: approval.New(file, Now), State: file, Bus: bus, indexer: ix,
	}
}

// Words is a model that knows which words two texts share: small, exact and the
// same on every machine.
type Words struct{}

const wordsDim = 256

// ID names the space.
func (Words) ID() string { return "tooltest-words-1" }

// Dim is the length of the vectors.
func (Words) Dim() int { return wordsDim }

// MaxWords is more than any script has.
func (Words) MaxWords() int { return 10_000 }

// Embed counts words in places that their hashes choose.
func (Words) Embed(ctx context.Context, _ embed.Role, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, wordsDim)
		v[0] = 0.01 // an empty text has a direction too
		for _, w := range strings.FieldsFunc(strings.ToLower(index.Spaced(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			h := fnv.New32a()
			_, _ = h.Write([]byte(strings.TrimSuffix(w, "s")))
			v[h.Sum32()%wordsDim]++
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		for j := range v {
			v[j] = float32(float64(v[j]) / math.Sqrt(sum))
		}
		out[i] = v
	}
	return out, ctx.Err()
}
