package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/tool/schema"
)

// A Problem is an error as RFC 9457 has it, with what Lore knows beside.
type Problem struct {
	Type   string     `json:"type"`
	Title  string     `json:"title"`
	Status int        `json:"status"`
	Detail string     `json:"detail,omitempty"`
	Kind   fault.Kind `json:"kind"`
	Field  string     `json:"field,omitempty"`
	Fix    string     `json:"fix,omitempty"`
	// Instance names the mistake in the log, when it is one of Lore.
	Instance string `json:"instance,omitempty"`
}

// Status is the HTTP status of a kind of fault. docs/rest.md has the table.
func Status(k fault.Kind) int {
	switch k {
	case fault.Invalid, fault.Unsafe:
		return http.StatusBadRequest
	case fault.Denied:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Ambiguous, fault.Conflict:
		return http.StatusConflict
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.ReadOnly:
		return http.StatusLocked
	case fault.RateLimited:
		return http.StatusTooManyRequests
	case fault.Busy, fault.Offline, fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.Cancelled:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// problem answers with an error, in the status of its kind.
func (s *Server) problem(w *answer, r *http.Request, err error) {
	if w.began {
		return // a stream that broke off
	}
	kind := fault.Of(err)
	if kind == fault.Internal {
		// What went wrong inside is for the log, under a name that both know.
		id := "mistake-" + strings.ToLower(rand.Text()[:8])
		s.log.Error("a request failed with an internal error", "id", id, "path", r.URL.Path, "error", err)
		s.write(w, Problem{Status: http.StatusInternalServerError, Detail: "internal error in Lore", Kind: kind, Instance: id})
		return
	}
	var report *fault.Report
	switch {
	case kind == fault.RateLimited && errors.As(err, &report) && report.Retry > 0:
		w.Header().Set("Retry-After", strconv.Itoa(report.Retry))
	case kind == fault.Busy, kind == fault.RateLimited:
		w.Header().Set("Retry-After", "1")
	}
	s.refuse(w, Status(kind), err)
}

// unsure answers when it cannot be found out who asks. Why is for the log: it may
// be anybody, and the reason names files of this machine.
func (s *Server) unsure(w *answer, r *http.Request, err error) {
	kind := fault.Of(err)
	if kind != fault.Internal && kind != fault.Cancelled {
		s.log.Warn("the caller cannot be identified", "kind", string(kind), "error", err)
		err = fault.Fix(kind, "try again; the server log has the reason", "the caller cannot be identified right now")
	}
	s.problem(w, r, err)
}

// refuse answers with an error and a status of its own.
func (s *Server) refuse(w *answer, status int, err error) {
	p := Problem{Status: status, Kind: fault.Of(err), Detail: err.Error()}
	var report *fault.Report
	if errors.As(err, &report) {
		p.Field, p.Fix = report.Field, report.Fix
		p.Detail = strings.TrimSuffix(p.Detail, "; "+report.Fix) // each fact once
	}
	s.write(w, p)
}

func (s *Server) write(w *answer, p Problem) {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	if w.plain != nil {
		w.plain(p)
		return
	}
	send(w, "application/problem+json", p.Status, p)
}

// Tagged answers with a value that the client may keep. It asks each time whether
// it is still true, and gets no body when it is.
func Tagged(w http.ResponseWriter, r *http.Request, v any) error {
	b, err := schema.Marshal(v)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if HasTag(r, tag) {
		w.Header().Add("Vary", "Accept-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	Write(w, "application/json", http.StatusOK, b)
	return nil
}

// HasTag reports whether the client holds the version of that tag. A proxy that
// packs an answer marks its tag as weak.
func HasTag(r *http.Request, tag string) bool {
	for held := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if strings.TrimPrefix(strings.TrimSpace(held), "W/") == tag {
			return true
		}
	}
	return false
}

// JSON answers with a value.
func JSON(w http.ResponseWriter, status int, v any) error {
	b, err := schema.Marshal(v)
	if err != nil {
		return err
	}
	Write(w, "application/json", status, b)
	return nil
}

func send(w http.ResponseWriter, kind string, status int, v any) {
	b, err := schema.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"status":500}`)
	}
	Write(w, kind, status, b)
}

// Write answers with a body of that kind, in a time that a slow reader cannot
// stretch.
func Write(w http.ResponseWriter, kind string, status int, b []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime)) // not every writer has one
	w.Header().Set("Content-Type", kind)
	b = compress(w, append(b, '\n'))
	w.WriteHeader(status)
	_, _ = w.Write(b) // whoever asked may be gone
}

// An answer remembers whether anything was sent, after which no problem can be.
type answer struct {
	http.ResponseWriter
	began bool
	plain func(Problem) // how this route tells a problem; nil is JSON
	gzip  bool          // the client takes it packed
}

func (w *answer) takesGzip() bool { return w.gzip }

// WriteHeader sends the status.
func (w *answer) WriteHeader(status int) {
	w.began = true
	w.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the body.
func (w *answer) Write(b []byte) (int, error) {
	w.began = true
	return w.ResponseWriter.Write(b)
}

// Unwrap is how net/http finds what the writer below can do.
func (w *answer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// An unknown answers in our words when net/http finds no route.
type unknown struct {
	*answer
	s    *Server
	said bool
}

// WriteHeader sends a problem of that status.
func (u *unknown) WriteHeader(status int) {
	if u.said {
		return
	}
	u.said = true
	err := fault.New(fault.NotFound, "nothing exists at this address")
	if status == http.StatusMethodNotAllowed {
		err = fault.New(fault.Invalid, "this method is not allowed for this address")
	}
	u.s.refuse(u.answer, status, err)
}

// Write drops what net/http has to say.
func (u *unknown) Write(b []byte) (int, error) {
	u.WriteHeader(http.StatusNotFound)
	return len(b), nil
}
