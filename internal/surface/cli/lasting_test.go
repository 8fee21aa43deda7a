package cli

import "testing"

func TestLasting(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "less than a second", 0.99: "less than a second", 1: "1.0 seconds", 3.24: "3.2 seconds", 9.96: "10 seconds", 42.4: "42 seconds", 59.6: "1 minute",
		60: "1 minute", 61: "1 minute 1 second", 125: "2 minutes 5 seconds", 3600: "1 hour", 3660: "1 hour 1 minute", 9000: "2 hours 30 minutes",
	} {
		if got := lasting(seconds); got != want {
			t.Errorf("%v is %q, want %q", seconds, got, want)
		}
	}
}
