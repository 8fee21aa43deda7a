// Package files is the part of the HTTP interface that serves the attachments of a
// vault to people: images, audio, video, PDF. The type of a file follows from its
// name, by a short list, and nothing in a file can run.
package files

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/surface/http/rest"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
	"lore/internal/vault"
)

// An API is the interface to the attachments of one vault.
type API struct{ vault Open }

// Open gives the vault that stands open; it stays until release is called.
type Open func(context.Context) (v *vault.Vault, release func(), err error)

// New makes the interface.
func New(v Open) *API { return &API{vault: v} }

// Routes lists what there is.
func (a *API) Routes() []rest.Route {
	return []rest.Route{{
		Route: serve.Route{Method: http.MethodGet, Pattern: rest.Prefix + "/files/{path...}", Scope: access.Read, Person: true, Signed: true, Handle: a.file},
		ID:    "readFile", Summary: "Get an attachment, or a range of it (person only)", Status: http.StatusOK,
	}}
}

// kinds are what a browser may show. Everything else is for keeping.
var kinds = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif",
	".bmp": "image/bmp", ".ico": "image/x-icon", ".svg": "image/svg+xml",
	".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".wav": "audio/wav", ".ogg": "audio/ogg", ".opus": "audio/ogg", ".flac": "audio/flac",
	".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime", ".ogv": "video/ogg",
	".pdf": "application/pdf",
}

// policy lets a file run nothing and fetch nothing; an SVG may have its colours.
const policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

// sendTime is how long a file may take to leave: film is long.
const sendTime = 10 * time.Minute

// stream opens a visible file of any size, by the rules of the vault. The
// caller closes it.
func stream(ctx context.Context, v *vault.Vault, p string) (*os.File, vault.Entry, error) {
	e, err := v.Stat(ctx, p)
	if err != nil {
		return nil, e, err
	}
	root, err := v.Handle()
	if err != nil {
		return nil, e, err
	}
	defer root.Close()
	f, err := root.OpenFile(e.OnDisk, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, e, fault.Fix(fault.Unavailable, "try again in a moment", "%q cannot be opened", e.Path)
	}
	// It may be another file than a moment ago.
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close() // only read
		return nil, e, fault.New(fault.Unsafe, "%q is not a regular file", e.Path)
	}
	if err := v.CheckOpen(e.Path, f); err != nil {
		_ = f.Close() // only read
		return nil, e, err
	}
	e.Size, e.ModTime = info.Size(), info.ModTime().UnixNano()
	return f, e, nil
}

func (a *API) file(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	v, release, err := a.vault(r.Context())
	if err != nil {
		return err
	}
	f, e, err := stream(r.Context(), v, r.PathValue("path"))
	release() // a file that is open can be read to its end
	if err != nil {
		return err
	}
	defer f.Close()
	if e.Kind != vault.Attachment {
		return fault.New(fault.NotFound, "%q is not an attachment", e.Path)
	}
	kind, known := kinds[strings.ToLower(path.Ext(e.Path))]
	if !known {
		kind = "application/octet-stream"
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", fmt.Sprintf(`"%x-%x-%x"`, e.Inode, e.Size, e.ModTime))
	// A picture in a page is shown all the same; opened alone, an SVG is a document.
	if !known || kind == "image/svg+xml" {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(e.Path)}))
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendTime)) // not every writer has one
	http.ServeContent(w, r, "", time.Unix(0, e.ModTime), f)
	return nil
}
