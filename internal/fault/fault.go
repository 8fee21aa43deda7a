// Package fault says what went wrong, as a kind that a surface can turn into
// its own language: an exit code, an HTTP status, a word for a model.
//
// A [Kind] is itself an error, so it is wrapped where the fact is known:
//
//	return fmt.Errorf("note %q: %w", path, fault.NotFound)
//
// Nothing here knows any surface or any store.
package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A Kind is the reason of a failure, stable enough for programs to read.
type Kind string

// The kinds. Each is an error whose text finishes a sentence that begins with
// the thing that failed.
const (
	// Invalid: the caller gave something that cannot be right. Nothing changed.
	Invalid Kind = "invalid"
	// NotFound: the thing that was named does not exist.
	NotFound Kind = "not_found"
	// Ambiguous: the name fits several things; the message lists them.
	Ambiguous Kind = "ambiguous"
	// Conflict: the thing is no longer what the caller saw.
	Conflict Kind = "conflict"
	// Denied: a rule or a person said no.
	Denied Kind = "denied"
	// ReadOnly: the vault or the file cannot be written.
	ReadOnly Kind = "read_only"
	// Offline: the vault's folder is not there, or lost most of its notes at once.
	Offline Kind = "vault_offline"
	// Unsafe: the path leads out of the vault or is not a regular file.
	Unsafe Kind = "unsafe_path"
	// TooLarge: a limit was passed; the message names it.
	TooLarge Kind = "too_large"
	// Busy: someone else holds what is needed.
	Busy Kind = "busy"
	// RateLimited: this caller has made too many calls; see [Report.Retry].
	RateLimited Kind = "rate_limited"
	// Unavailable: something needed is not there now (a server, a model).
	Unavailable Kind = "unavailable"
	// Cancelled: the caller went away or pressed Ctrl-C.
	Cancelled Kind = "cancelled"
	// Internal: a mistake in Lore itself.
	Internal Kind = "internal"
)

var words = map[Kind]string{
	Invalid:     "is not valid",
	NotFound:    "not found",
	Ambiguous:   "is ambiguous",
	Conflict:    "changed on disk",
	Denied:      "not allowed",
	ReadOnly:    "is read-only",
	Offline:     "the vault is offline",
	Unsafe:      "points outside the vault or is not a regular file",
	TooLarge:    "is too large",
	Busy:        "is busy",
	RateLimited: "called too often",
	Unavailable: "is not available",
	Cancelled:   "cancelled",
	Internal:    "internal mistake",
}

// Error makes a Kind an error.
func (k Kind) Error() string { return words[k] }

// Of tells the kind of err: the one it wraps, [Cancelled] for a context that
// ended, and [Internal] for an error that nobody classified.
func Of(err error) Kind {
	var k Kind
	switch {
	case err == nil:
		return ""
	case errors.As(err, &k):
		return k
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Cancelled
	}
	return Internal
}

// A Report is an error with the parts that a caller can act on.
type Report struct {
	Kind    Kind
	Message string // what is wrong, naming the thing
	Field   string // the argument that is wrong, when one is
	Fix     string // what to do instead, when it is known
	// Retry is after how many seconds the same call can work; 0 when nobody knows.
	Retry int
}

// Error joins the message and the fix into one line.
func (r *Report) Error() string {
	s := r.Message
	if r.Fix != "" {
		s += "; " + r.Fix
	}
	return s
}

// Unwrap gives the kind, so that [Of] and errors.Is find it.
func (r *Report) Unwrap() error { return r.Kind }

// New makes an error of kind k whose text is the formatted message alone.
func New(k Kind, format string, args ...any) error {
	return &Report{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// Fix is [New] with a second sentence that tells the caller what to do.
func Fix(k Kind, fix, format string, args ...any) error {
	return &Report{Kind: k, Message: fmt.Sprintf(format, args...), Fix: fix}
}

// Field is [New] for one wrong argument.
func Field(field, fix, format string, args ...any) error {
	return &Report{Kind: Invalid, Field: field, Message: field + ": " + fmt.Sprintf(format, args...), Fix: fix}
}

// Rename gives the field of an error the name that the caller knows it by: what
// is a path deep down may be called "from" where a person wrote it. Errors about
// other fields stay as they are.
func Rename(err error, from, to string) error {
	var r *Report
	if !errors.As(err, &r) || r.Field != from || from == to {
		return err
	}
	own := *r
	own.Field = to
	own.Message = to + ": " + strings.TrimPrefix(r.Message, from+": ")
	return &own
}
