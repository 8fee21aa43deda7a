package app

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lore/internal/fault"
)

func TestInstallRefusesAProgramOfOneRun(t *testing.T) {
	a := &app{exe: func() (string, error) { return filepath.Join(t.TempDir(), "go-build123", "b001", "exe", "lore"), nil }}
	_, err := a.entry(t.TempDir(), false)
	if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "will be deleted; install lore first") {
		t.Errorf("%v", err)
	}
}

// TestInstallPrefersTheLinkOnThePath: the file behind a package manager's link
// goes with the next upgrade.
func TestInstallPrefersTheLinkOnThePath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	dir := t.TempDir()
	real, link, other := filepath.Join(dir, "Cellar", "1.0", "lore"), filepath.Join(dir, "bin", "lore"), filepath.Join(dir, "other", "lore")
	for _, path := range []string{real, link, other} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{real, other} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	a := &app{exe: func() (string, error) { return real, nil }}
	// Another program of that name is not this one.
	for on, want := range map[string]string{link: link, other: real} {
		t.Setenv("PATH", filepath.Dir(on))
		if got, err := a.program(); err != nil || got != want {
			t.Errorf("%s: %s, %v", on, got, err)
		}
	}
}
