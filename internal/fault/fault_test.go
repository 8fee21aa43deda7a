package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"lore/internal/fault"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want fault.Kind
	}{
		{nil, ""},
		{fault.NotFound, fault.NotFound},
		{fmt.Errorf("note %q: %w", "a.md", fault.Conflict), fault.Conflict},
		{fmt.Errorf("twice: %w", fmt.Errorf("once: %w", fault.New(fault.Busy, "no"))), fault.Busy},
		{errors.Join(errors.New("first"), fault.New(fault.Denied, "no")), fault.Denied},
		{context.Canceled, fault.Cancelled},
		{fmt.Errorf("search: %w", context.DeadlineExceeded), fault.Cancelled},
		{errors.New("anything"), fault.Internal},
	} {
		if got := fault.Of(c.err); got != c.want {
			t.Errorf("Of(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fault.New(fault.Invalid, "%d is odd", 3), "3 is odd"},
		{fault.Fix(fault.Invalid, "give an even one", "%d is odd", 3), "3 is odd; give an even one"},
		{fault.Field("limit", "give 1 or more", "is %d", 0), "limit: is 0; give 1 or more"},
		{fmt.Errorf("note %q: %w", "a.md", fault.NotFound), `note "a.md": not found`},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	for _, k := range []fault.Kind{
		fault.Invalid, fault.NotFound, fault.Ambiguous, fault.Conflict, fault.Denied, fault.ReadOnly, fault.Offline, fault.Unsafe,
		fault.TooLarge, fault.Busy, fault.Unavailable, fault.Cancelled, fault.Internal,
	} {
		if k.Error() == "" || !errors.Is(fault.New(k, "x"), k) {
			t.Errorf("kind %q says nothing or is not found again", string(k))
		}
	}
}

func TestRename(t *testing.T) {
	for _, c := range []struct {
		err         error
		from, to    string
		text, field string
	}{
		{fault.Field("path", "name a note", "is empty"), "path", "to", "to: is empty; name a note", "to"},
		{&fault.Report{Kind: fault.NotFound, Field: "path", Message: "note not found"}, "path", "from", "from: note not found", "from"},
		{fault.Field("limit", "", "is odd"), "path", "to", "limit: is odd", "limit"},
		{fault.New(fault.NotFound, "heading x"), "", "section", "section: heading x", "section"},
		{fault.Field("path", "", "is empty"), "path", "path", "path: is empty", "path"},
	} {
		got := fault.Rename(c.err, c.from, c.to)
		var r *fault.Report
		if !errors.As(got, &r) || got.Error() != c.text || r.Field != c.field || fault.Of(got) != fault.Of(c.err) {
			t.Errorf("got %v with field %q", got, r.Field)
		}
	}
	if fault.Rename(nil, "a", "b") != nil {
		t.Error("nothing became an error")
	}
}
