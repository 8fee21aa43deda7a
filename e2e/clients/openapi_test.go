//go:build clients

package clients

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestOpenAPI lets a validator that is not ours judge the description of the
// HTTP interface, as a running server gives it.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Address+"/api/v1/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.token("read"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", res.Status, b, err)
	}
	for _, c := range []struct {
		name string
		text []byte
		code int
	}{{"ours", b, 0}, {"one that is wrong", []byte(`{"openapi":"3.1.0","info":{"title":"x"},"paths":[]}`), 1}} {
		path := filepath.Join(t.TempDir(), "openapi.json")
		if err := os.WriteFile(path, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if o := w.script(filepath.Join(modules, ".bin", "validate-api"), path); o.code != c.code {
			t.Errorf("%s, want exit code %d: %s", c.name, c.code, o)
		}
	}
}
