package egress_test

import (
	"testing"

	"lore/internal/outside/egress"
)

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"http://localhost:11434": true, "http://127.0.0.1/v1": true, "http://[::1]:8080": true, "http://LOCALHOST": true,
		"https://api.example.com/v1": false, "http://localhost.evil.test": false, "http://127.0.0.1.evil.test": false,
		"http://127.0.0.1@evil.test": false, "http://10.0.0.1": false, "": false, "http://%zz": false,
	} {
		if got := egress.Loopback(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}
