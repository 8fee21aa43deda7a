package beacon_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"lore/internal/beacon"
)

func TestBeacon(t *testing.T) {
	dir := t.TempDir()
	if got := beacon.Find(t.Context(), dir); got != "" {
		t.Errorf("nobody lit one: %q", got)
	}
	for _, text := range []string{"{", `{"address":""}`, `{"address":"::"}`, `{"address":"http://127.0.0.1:1"}`} {
		if err := os.WriteFile(filepath.Join(dir, "server.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := beacon.Find(t.Context(), dir); got != "" {
			t.Errorf("%s: %q", text, got)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := "http://" + l.Addr().String()
	first, err := beacon.Light(dir, "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	second, err := beacon.Light(dir, address)
	if err != nil {
		t.Fatal(err)
	}
	if err := first(); err != nil {
		t.Fatal(err)
	}
	if got := beacon.Find(t.Context(), dir); got != address {
		t.Errorf("the first took the second away: %q", got)
	}
	if err := second(); err != nil {
		t.Fatal(err)
	}
	if got := beacon.Find(t.Context(), dir); got != "" {
		t.Errorf("put out, and %q", got)
	}
}
