package recovery_test

import (
	"fmt"
	"os"
	"testing"

	"lore/internal/agent/recovery"
)

// TestWhoIsGone: a process that was started anew may have the number of the one
// before, in a container nearly always.
func TestWhoIsGone(t *testing.T) {
	t.Parallel()
	for holder, want := range map[string]bool{
		recovery.Holder(): false, // another agent of this process
		fmt.Sprintf("%d-ANOTHER-TIME", os.Getpid()): true,
		fmt.Sprintf("%d-ANOTHER", os.Getppid()):     false,
		"2147483646-NOBODY":                         true,
		"":                                          false,
		"test":                                      false,
	} {
		if recovery.HasEnded(holder) != want {
			t.Errorf("%q: gone is %v", holder, !want)
		}
	}
}
