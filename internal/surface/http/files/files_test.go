package files_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lore/internal/fault"
	"lore/internal/surface/http/files"
	"lore/internal/surface/http/serve"
	"lore/internal/surface/http/serve/servetest"
	"lore/internal/vault"
)

// A world is a vault with attachments behind a real server.
type world struct {
	*servetest.World
	dir  string
	none bool         // no vault stands open
	held atomic.Int32 // how many keep it open
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir()}
	v, err := vault.Open(w.dir, vault.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	w.World = servetest.Open(t, func(*serve.Server, *servetest.World) (routes []serve.Route) {
		for _, r := range files.New(func(context.Context) (*vault.Vault, func(), error) {
			if w.none {
				return nil, nil, fault.New(fault.Busy, "the vault is being opened")
			}
			w.held.Add(1)
			return v, func() { w.held.Add(-1) }, nil
		}).Routes() {
			routes = append(routes, r.Route)
		}
		return routes
	})
	return w
}

func (w *world) put(name, text string) {
	w.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *world) get(client *http.Client, path string, header ...string) (*http.Response, string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.Base+"/api/v1/files/"+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	return res, string(b)
}

func TestWhatAFileIs(t *testing.T) {
	w := open(t)
	for name, c := range map[string]struct{ kind, way string }{
		"a/Tea leaf.png": {"image/png", ""}, "b.JPG": {"image/jpeg", ""}, "c.svg": {"image/svg+xml", "attachment"}, "d.mp3": {"audio/mpeg", ""},
		"e.mp4": {"video/mp4", ""}, "f.pdf": {"application/pdf", ""}, "g.html": {"application/octet-stream", "attachment"},
		"h.js": {"application/octet-stream", "attachment"}, "i.xml": {"application/octet-stream", "attachment"}, "j": {"application/octet-stream", "attachment"},
		"茶.webp": {"image/webp", ""},
	} {
		w.put(name, "<script>alert(1)</script>"+name) // what is in it counts for nothing
		res, text := w.get(w.Person, strings.ReplaceAll(name, " ", "%20"))
		h := res.Header
		if res.StatusCode != http.StatusOK || text != "<script>alert(1)</script>"+name || h.Get("Content-Type") != c.kind {
			t.Errorf("%s: %d %q %q", name, res.StatusCode, h.Get("Content-Type"), text)
		}
		if way, _, _ := strings.Cut(h.Get("Content-Disposition"), ";"); way != c.way {
			t.Errorf("%s: disposition %q", name, h.Get("Content-Disposition"))
		}
		if csp := h.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "sandbox; default-src 'none'") || len(h.Values("Content-Security-Policy")) != 1 || strings.Contains(csp, "allow-") {
			t.Errorf("%s: policy %q", name, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "private, no-cache" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: %v", name, h)
		}
	}
}

func TestRangesAndWhatDidNotChange(t *testing.T) {
	w := open(t)
	w.put("film.mp4", string(bytes.Repeat([]byte("0123456789"), 1000)))
	res, text := w.get(w.Person, "film.mp4", "Range", "bytes=5-9")
	if csp := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "sandbox; default-src 'none'") || res.Header.Get("Content-Type") != "video/mp4" || res.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a part of a file is guarded like all of it: %v", res.Header)
	}
	if r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, w.Base+"/api/v1/files/film.mp4", nil); err != nil {
		t.Fatal(err)
	} else if res, err := w.Person.Do(r); err != nil || res.Body.Close() != nil || res.ContentLength != 10000 || res.Header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("how long it is, without it: %v %v", res, err)
	}
	if res.StatusCode != http.StatusPartialContent || text != "56789" || res.Header.Get("Content-Range") != "bytes 5-9/10000" {
		t.Errorf("range: %d %q %v", res.StatusCode, text, res.Header)
	}
	if res, _ := w.get(w.Person, "film.mp4", "Range", "bytes=20000-"); res.StatusCode != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("a range behind the end: %d", res.StatusCode)
	}
	tag := res.Header.Get("ETag")
	if res, text := w.get(w.Person, "film.mp4", "If-None-Match", tag); res.StatusCode != http.StatusNotModified || text != "" {
		t.Errorf("unchanged: %d %q", res.StatusCode, text)
	}
	w.put("film.mp4", "new")
	if res, text := w.get(w.Person, "film.mp4", "If-None-Match", tag); res.StatusCode != http.StatusOK || text != "new" {
		t.Errorf("changed: %d %q", res.StatusCode, text)
	}
}

func TestOnlyAttachmentsOfTheVault(t *testing.T) {
	w := open(t)
	outside := filepath.Join(t.TempDir(), "secret.png")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.put("Note.md", "secret")
	w.put("Map.canvas", "{\"secret\":1}")
	w.put(".obsidian/secret.png", "secret")
	w.put(".lore/secret.png", "secret")
	w.put("folder/pic.png", "fine")
	for _, l := range [][2]string{{outside, "out.png"}, {filepath.Dir(outside), "outfolder"}, {"folder", "inner"}, {"/dev/zero", "zero.png"}} {
		if err := os.Symlink(l[0], filepath.Join(w.dir, l[1])); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	if res, text := w.get(w.Person, "folder/pic.png"); text != "fine" {
		t.Fatalf("%d %s", res.StatusCode, text)
	}
	for _, p := range []string{
		"Note.md", "Map.canvas", ".obsidian/secret.png", ".lore/secret.png", "out.png", "outfolder/secret.png", "inner/pic.png", "zero.png", "folder", "", "none.png",
		"..%2f" + filepath.Base(filepath.Dir(outside)) + "%2fsecret.png", "folder/..%2f..%2fsecret.png", "%2fetc%2fpasswd", "..%5csecret.png", "folder%00.png", "%2e%2e/secret.png",
	} {
		res, text := w.get(w.Person, p)
		if res.StatusCode == http.StatusOK || res.StatusCode >= 500 || strings.Contains(text, "secret\n") || text == "secret" || text == "fine" {
			t.Errorf("%s: %d %s", p, res.StatusCode, text)
		}
	}
	if n := w.held.Load(); n != 0 {
		t.Errorf("%d keep the vault open", n)
	}
	w.none = true
	if res, _ := w.get(w.Person, "folder/pic.png"); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("no vault: %d", res.StatusCode)
	}
}

func TestForPersonsAlone(t *testing.T) {
	w := open(t)
	w.put("pic.png", "picture")
	stranger := &http.Client{}
	if res, text := w.get(stranger, "pic.png"); res.StatusCode != http.StatusUnauthorized || strings.Contains(text, "picture") {
		t.Errorf("nobody: %d %s", res.StatusCode, text)
	}
	if res, text := w.get(stranger, "pic.png", "Authorization", "Bearer "+w.Token); res.StatusCode != http.StatusForbidden || strings.Contains(text, "picture") {
		t.Errorf("a token: %d %s", res.StatusCode, text)
	}
	if res, _ := w.get(w.Person, "pic.png", "Sec-Fetch-Site", "cross-site"); res.StatusCode != http.StatusForbidden {
		t.Errorf("another site: %d", res.StatusCode)
	}
}
