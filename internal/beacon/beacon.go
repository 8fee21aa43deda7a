// Package beacon tells where the HTTP server of a vault listens, to other
// processes of the same user: for a person who wants in, or is to be sent to a
// page. It knows no HTTP; what it finds was dialled, not believed.
package beacon

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"lore/internal/home"
)

// card is the file in the data folder of a vault.
const card = "server.json"

// A Place is where a server listens.
type Place struct {
	Address string `json:"address"` // http://127.0.0.1:7777
	Process int    `json:"process"`
}

// Light writes down where a server of the vault whose data folder is dir
// listens. The last one counts. Put out takes it back, if it is still ours.
func Light(dir, address string) (putOut func() error, err error) {
	p := Place{address, os.Getpid()}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, card)
	if err := home.Replace(path, b); err != nil {
		return nil, err
	}
	return func() error {
		if now, err := read(dir); err != nil || now != p {
			return nil // another server lit its own
		}
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}, nil
}

func read(dir string) (p Place, err error) {
	b, err := os.ReadFile(filepath.Join(dir, card))
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(b, &p)
}

// wait is how long a server on this machine may take to answer a knock.
const wait = 300 * time.Millisecond

// Find returns the address of a server that listens, and "" when there is none.
func Find(ctx context.Context, dir string) string {
	p, err := read(dir)
	if err != nil {
		return ""
	}
	u, err := url.Parse(p.Address)
	if err != nil || u.Host == "" {
		return ""
	}
	conn, err := (&net.Dialer{Timeout: wait}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return ""
	}
	_ = conn.Close() // it was there
	return p.Address
}
