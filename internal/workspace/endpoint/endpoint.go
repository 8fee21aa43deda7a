// Package endpoint tells other processes of the same user where the HTTP servers
// of a vault listen. It knows no HTTP; an address that it returns has been dialed.
package endpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lore/internal/machine/home"
)

// Each server has a card of its own in the data folder of the vault, so that a
// second one hides nobody, and takes nobody away when it ends.
const (
	cardName = "server-%d.json"
	cards    = "server-*.json"
)

// A Place is where a server listens.
type Place struct {
	Address string    `json:"address"` // http://127.0.0.1:7777
	Process int       `json:"process"`
	Since   time.Time `json:"since"`
}

// Light writes down where a server of the vault whose data folder is dir
// listens. Put out takes it back.
func Light(dir, address string) (putOut func() error, err error) {
	b, err := json.Marshal(Place{address, os.Getpid(), time.Now()})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fmt.Sprintf(cardName, os.Getpid()))
	if err := home.Replace(path, b); err != nil {
		return nil, err
	}
	return func() error {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}, nil
}

// wait is how long a server on this machine may take to answer a knock.
const wait = 300 * time.Millisecond

// Find returns the address of a server that listens, the one that was started
// first, and "" when there is none. Cards of servers that are gone are thrown
// away.
func Find(ctx context.Context, dir string) string {
	for _, p := range places(dir) {
		if isThere(ctx, p) {
			return p.Address
		}
		if ctx.Err() == nil {
			_ = os.Remove(p.path) // the next one finds the same
		}
	}
	return ""
}

type card struct {
	Place
	path string
}

func places(dir string) []card {
	found, _ := filepath.Glob(filepath.Join(dir, cards)) // the pattern is good
	var out []card
	for _, path := range found {
		c := card{path: path}
		if b, err := os.ReadFile(path); err == nil {
			_ = json.Unmarshal(b, &c.Place) // one that cannot be read listens nowhere
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b card) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Process, b.Process)) })
	return out
}

func isThere(ctx context.Context, p card) bool {
	u, err := url.Parse(p.Address)
	if err != nil || u.Host == "" {
		return false
	}
	conn, err := (&net.Dialer{Timeout: wait}).DialContext(ctx, "tcp", u.Host)
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return ctx.Err() == nil // where nobody listens, the system says so at once: this one is busy
	}
	if err != nil {
		return false
	}
	_ = conn.Close() // it was there
	return true
}
