package app

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lore/internal/workspace"
	"lore/internal/workspace/settings"
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
	r, err := a.opener().Reside(settings.Flags{Vault: dir})
	if err != nil {
		t.Fatal(err)
	}
	st, err := r.Enter(t.Context(), workspace.Options{UpToDate: true})
	if err != nil {
		t.Fatal(err)
	}
	living, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() { r.Live(living, st); close(left) }()

	s, release, err := r.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shut := r.Door.Left()
	leave()
	<-shut
	select {
	case <-left:
		t.Fatal("it is gone")
	case <-time.After(100 * time.Millisecond): // time to go wrong
	}
	if list, err := a.patient(s).Look(t.Context()); err != nil || len(list) == 0 {
		t.Errorf("the doctor: %v, %v", list, err)
	}
	if _, err := s.History.Verify(t.Context()); err != nil {
		t.Errorf("the record: %v", err)
	}
	release()
	release() // counts once
	<-left
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.Hold(late); err == nil {
		t.Error("nothing stands there any more")
	}
}
