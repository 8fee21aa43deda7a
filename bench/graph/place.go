package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	driver "modernc.org/sqlite"

	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tools/knowledge"
	"lore/internal/vault"
)

// A place is a world with its index on disk, and the nodes that are asked about.
type place struct {
	*world
	store    *sqlite.Store
	registry *tool.Registry
	pages    *meter
	filled   time.Duration
	close    func() error

	nodes          []int
	apart, severed [][2]int
}

// open builds the index of a world of n nodes in a folder, or takes the one that
// is there.
func open(ctx context.Context, dir string, n, samples int) (*place, error) {
	p := &place{world: newWorld(n), pages: metered(filepath.Join(dir, "index"))}
	r := rand.New(rand.NewPCG(1, 2))
	p.nodes, p.apart, p.severed = p.quiet(r, samples), p.world.apart(r, samples), p.world.severed(r, samples)
	s, o, err := sqlite.Open(ctx, filepath.Join(dir, "index"), time.Now)
	if err != nil {
		return nil, err
	}
	p.store = s
	if o.Rebuilt {
		start := time.Now()
		if err := p.fill(ctx, s); err != nil {
			return nil, err
		}
		p.filled = time.Since(start)
	}
	files := filepath.Join(dir, "vault")
	if err := os.MkdirAll(files, 0o755); err != nil {
		return nil, err
	}
	if err := p.write(files, append([]int{p.hubs[0]}, p.nodes...)); err != nil {
		return nil, err
	}
	v, err := vault.Open(files, vault.Options{})
	if err != nil {
		return nil, err
	}
	p.registry = tool.NewRegistry(tool.Deps{}, knowledge.Tools(knowledge.Env{
		Vault: v, Store: s, Search: &search.Searcher{Store: s, Now: time.Now}, Fresh: func(context.Context) index.Freshness { return index.Freshness{Fresh: true} }, Folder: "Nodes",
	}))
	p.close = func() error { return errors.Join(s.Close(), v.Close()) }
	return p, nil
}

func (p *place) call(ctx context.Context, name, args string) error {
	_, err := p.registry.Call(ctx, access.Terminal(), name, []byte(args))
	return err
}

// A meter counts the pages that the connections to one file looked at, whether
// they were in memory or not: unlike time, the same on every machine.
type meter struct {
	dir   string
	conns []driver.DBStatus
}

var (
	meters  []*meter
	hooking sync.Once
)

func metered(dir string) *meter {
	hooking.Do(func() {
		driver.RegisterConnectionHook(func(c driver.ExecQuerierContext, dsn string) error {
			for _, m := range meters {
				if s, ok := c.(driver.DBStatus); ok && strings.Contains(dsn, m.dir+"/") {
					m.conns = append(m.conns, s)
				}
			}
			return nil
		})
	})
	m := &meter{dir: dir}
	meters = append(meters, m)
	return m
}

func (m *meter) read() int {
	sum := 0
	for _, c := range m.conns {
		hit, _, _ := c.Status(driver.DBStatusCacheHit, false)
		miss, _, _ := c.Status(driver.DBStatusCacheMiss, false)
		sum += hit + miss
	}
	return sum
}
