package app

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lore/internal/surface/cli"
)

// TestNothingIsTakenAwayUnderAReader: who looks at the vault beside the door keeps
// it open until they have seen it, however the settings change meanwhile.
func TestNothingIsTakenAwayUnderAReader(t *testing.T) {
	dir, around := t.TempDir(), t.TempDir()
	env := map[string]string{"XDG_DATA_HOME": filepath.Join(around, "data"), "XDG_CONFIG_HOME": filepath.Join(around, "config"), "LORE_EMBED_MODEL": "none"}
	if err := os.WriteFile(filepath.Join(dir, "Tea.md"), []byte("tea\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{now: time.Now, env: func(k string) string { return env[k] }, errOut: io.Discard}
	r, err := a.resident(cli.Globals{Vault: dir})
	if err != nil {
		t.Fatal(err)
	}
	st, err := r.enter(t.Context(), cli.OpenOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	living, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- r.follow(living, st) }()

	s, release, err := r.hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shut := r.door.Left()
	leave()
	<-shut
	select {
	case <-left:
		t.Fatal("it is gone")
	case <-time.After(100 * time.Millisecond): // time to go wrong
	}
	if list, err := s.patient().Look(t.Context()); err != nil || len(list) == 0 {
		t.Errorf("the doctor: %v, %v", list, err)
	}
	if _, err := s.verify(t.Context()); err != nil {
		t.Errorf("the record: %v", err)
	}
	release()
	release() // counts once
	if err := <-left; err != nil {
		t.Error(err)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.hold(late); err == nil {
		t.Error("nothing stands there any more")
	}
}
