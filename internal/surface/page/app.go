package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lore/internal/access"
	"lore/internal/fault"
	"lore/internal/surface/serve"
)

// An application is the page as it was built: its index, and files whose names
// change with what is in them.
type application struct {
	index [][]byte // around the places of the nonce
	files map[string]asset
}

// An asset is one file, plain and as it was compressed when it was built.
type asset struct {
	kind  string
	tag   string
	plain []byte
	gzip  []byte // nil where it would not be smaller
}

// places are where a person can be in the application. Each opens it there; what
// is not listed is not found, as everywhere.
func places() []string {
	return []string{
		"/{$}", "/login", "/approvals", "/approvals/{id}", "/chat", "/chat/{rest...}", "/notes", "/notes/{rest...}", "/search", "/graph", "/graph/{rest...}",
		"/activity", "/activity/{rest...}", "/tools", "/tools/{rest...}", "/settings", "/settings/{rest...}", "/onboarding", "/doctor",
	}
}

// nonceMark stands in the index where the word of one answer belongs.
const nonceMark = "%NONCE%"

// kinds are the files that a page is made of. Others are not served.
var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
	".woff2": "font/woff2", ".json": "application/json", ".png": "image/png", ".wasm": "application/wasm",
}

// load reads the application whole: it is small, and files that are missing are
// known at once.
func load(from fs.FS) (*application, error) {
	index, err := fs.ReadFile(from, "index.html")
	if err != nil {
		return nil, err
	}
	a := &application{index: bytes.Split(index, []byte(nonceMark)), files: map[string]asset{}}
	return a, fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		kind := kinds[path.Ext(name)]
		if err != nil || d.IsDir() || kind == "" {
			return err
		}
		f := asset{kind: kind}
		if f.plain, err = fs.ReadFile(from, name); err != nil {
			return err
		}
		sum := sha256.Sum256(f.plain)
		f.tag = `"` + hex.EncodeToString(sum[:12]) + `"`
		if b, err := fs.ReadFile(from, name+".gz"); err == nil {
			f.gzip = b
		}
		a.files[name] = f
		return nil
	})
}

// strict is the policy of the application: its own files, style elements with
// the word of this answer, and one way to name a worker; no text becomes code.
func strict(nonce string) string {
	return "default-src 'none'; script-src 'self' 'nonce-" + nonce + "'; style-src 'self' 'nonce-" + nonce + "'; img-src 'self' data: blob:; media-src 'self'; font-src 'self'; " +
		"connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types lore"
}

// show opens the application, wherever the address leads in it.
func (a *application) show(w http.ResponseWriter, r *http.Request) {
	nonce := serve.Nonce(r)
	w.Header().Set("Content-Security-Policy", strict(nonce))
	serve.Write(w, "text/html; charset=utf-8", http.StatusOK, bytes.Join(a.index, []byte(nonce)))
}

// hashed are names that change with what is in the file.
var hashed = regexp.MustCompile(`-[A-Za-z0-9_-]{8}\.[a-z0-9]+$`)

// file answers with one file of the application. One whose name changes with
// what is in it may be kept for ever, by the browser that asked alone.
func (a *application) file(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	f, ok := a.files["assets/"+r.PathValue("name")]
	if !ok {
		return fault.New(fault.NotFound, "there is nothing here")
	}
	h := w.Header()
	h.Set("Cache-Control", "private, no-cache")
	if hashed.MatchString(r.PathValue("name")) {
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	if slices.Contains(strings.FieldsFunc(r.Header.Get("If-None-Match"), func(c rune) bool { return c == ',' || c == ' ' }), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	b := f.plain
	if f.gzip != nil && accepts(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		b = f.gzip
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(fileTime)) // not every writer has one
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(b) // whoever asked may be gone
	return nil
}

// fileTime is how long a file may take to leave.
const fileTime = 30 * time.Second

// accepts reports whether a client takes a content coding.
func accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, rest, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			q := strings.ReplaceAll(strings.TrimSpace(rest), " ", "")
			return strings.TrimRight(q, ".0") != "q=" || q == ""
		}
	}
	return false
}
