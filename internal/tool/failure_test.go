package tool

import (
	"errors"
	"fmt"
	"testing"

	"lore/internal/fault"
)

func TestAFailureGivesTheErrorBack(t *testing.T) {
	for _, err := range []error{
		fault.New(fault.Busy, "someone has it"),
		fault.Fix(fault.NotFound, "did you mean b?", "no a"),
		fault.Field("path", "give one", "is required"),
		fmt.Errorf("note x: %w", fault.Fix(fault.Conflict, "read it again", "it changed")),
		errors.New("unclassified"),
	} {
		got := NewFailure(err).Err()
		if got.Error() != err.Error() || fault.Of(got) != fault.Of(err) {
			t.Errorf("%v (%s) came back as %v (%s)", err, fault.Of(err), got, fault.Of(got))
		}
	}
}
