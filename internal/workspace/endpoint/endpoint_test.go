package endpoint

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestBeacon(t *testing.T) {
	dir := t.TempDir()
	if got := Find(t.Context(), dir); got != "" {
		t.Errorf("nobody lit one: %q", got)
	}
	for i, text := range []string{"{", `{"address":""}`, `{"address":"::"}`, `{"address":"http://127.0.0.1:1"}`} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf(cardName, i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Find(t.Context(), dir); got != "" {
			t.Errorf("%s: %q", text, got)
		}
	}
	l := listen(t)
	putOut, err := Light(dir, l)
	if err != nil {
		t.Fatal(err)
	}
	if got := Find(t.Context(), dir); got != l {
		t.Errorf("lit, and %q", got)
	}
	if err := putOut(); err != nil {
		t.Fatal(err)
	}
	if got := Find(t.Context(), dir); got != "" {
		t.Errorf("put out, and %q", got)
	}
}

func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return "http://" + l.Addr().String()
}

// TestTwoServers: the second hides the first no more than the first the second.
func TestTwoServers(t *testing.T) {
	dir := t.TempDir()
	first, second := listen(t), listen(t)
	for i, address := range []string{first, second} {
		b, err := json.Marshal(Place{address, i + 1, time.Unix(int64(i), 0)})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf(cardName, i+1)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := Find(t.Context(), dir); got != first {
		t.Errorf("%q, want the first", got)
	}
	if err := os.Remove(filepath.Join(dir, fmt.Sprintf(cardName, 1))); err != nil {
		t.Fatal(err)
	}
	if got := Find(t.Context(), dir); got != second {
		t.Errorf("the first is gone, and %q", got)
	}
}
