package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
)

// An application is the page as it was built: its index, and files whose names
// change with what is in them.
type application struct {
	index [][]byte // around the places of the nonce
	files map[string]asset
	frame frame
}

// A frame is a page of its own inside the application: it draws diagrams from the
// texts that it is sent, with code that is not ours. It is kept packed.
type frame struct {
	gzip []byte
	sum  string // of its script
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
		"/activity", "/activity/{rest...}", "/tools", "/tools/{rest...}", "/settings", "/settings/{rest...}", "/onboarding", "/doctor", "/share",
	}
}

// nonceMark stands in the index where the word of one answer belongs.
const nonceMark = "%NONCE%"

// kinds are the files that a page is made of. Others are not served.
var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
	".woff2": "font/woff2", ".json": "application/json", ".png": "image/png", ".wasm": "application/wasm", ".webmanifest": "application/manifest+json",
}

// load reads the application whole: it is small, and files that are missing are
// known at once.
func load(from fs.FS) (*application, error) {
	index, err := fs.ReadFile(from, "index.html")
	if err != nil {
		return nil, err
	}
	a := &application{index: bytes.Split(index, []byte(nonceMark)), files: map[string]asset{}}
	if b, err := fs.ReadFile(from, "frame/diagram.html.gz"); err == nil {
		sum, err := fs.ReadFile(from, "frame/diagram.sum")
		if err != nil {
			return nil, err
		}
		a.frame = frame{gzip: b, sum: strings.TrimSpace(string(sum))}
	}
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
		"connect-src 'self'; frame-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types lore"
}

// show opens the application, wherever the address leads in it.
func (a *application) show(w http.ResponseWriter, r *http.Request) {
	nonce := serve.Nonce(r)
	w.Header().Set("Content-Security-Policy", strict(nonce))
	serve.Write(w, "text/html; charset=utf-8", http.StatusOK, bytes.Join(a.index, []byte(nonce)))
}

// draws answers with the frame. Whatever a note makes its code do, it has no origin,
// reaches no address, and is led nowhere: the application frames nothing else.
func (a *application) draws(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	if a.frame.gzip == nil {
		return fault.New(fault.NotFound, "nothing exists at this address")
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "sandbox allow-scripts; default-src 'none'; script-src '"+a.frame.sum+"'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", `"`+a.frame.sum+`"`)
	h.Set("Vary", "Accept-Encoding")
	if serve.HasTag(r, `"`+a.frame.sum+`"`) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(fileTime)) // not every writer has one
	if serve.AcceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write(a.frame.gzip) // whoever asked may be gone
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(a.frame.gzip))
	if err != nil {
		return err
	}
	_, _ = io.Copy(w, z) // whoever asked may be gone
	return nil
}

// hashed are names that change with what is in the file.
var hashed = regexp.MustCompile(`-[A-Za-z0-9_-]{8}\.[a-z0-9]+$`)

// atRoot are the files that a browser looks for beside the pages: a service worker
// may serve only what lies at or below its own address.
var atRoot = []string{"sw.js", "manifest.webmanifest"}

// workerPolicy lets the service worker do nothing but answer: it fetches nothing itself.
const workerPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// rootFile answers with one of the files at the root. None has a name that changes
// with its content, so a browser asks each time.
func (a *application) rootFile(name string) serve.Handle {
	return func(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
		w.Header().Set("Content-Security-Policy", workerPolicy)
		return a.send(w, r, name)
	}
}

// file answers with one file of the application. One whose name changes with
// what is in it may be kept for ever, by the browser that asked alone.
func (a *application) file(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	return a.send(w, r, "assets/"+r.PathValue("name"))
}

func (a *application) send(w http.ResponseWriter, r *http.Request, name string) error {
	f, ok := a.files[name]
	if !ok {
		return fault.New(fault.NotFound, "nothing exists at this address")
	}
	h := w.Header()
	h.Set("Cache-Control", "private, no-cache")
	if hashed.MatchString(name) {
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	if serve.HasTag(r, f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	b := f.plain
	if f.gzip != nil && serve.AcceptsGzip(r) {
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
