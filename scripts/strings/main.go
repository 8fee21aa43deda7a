// Strings lists every text that a person meets, with its place, so that one
// sitting can read them all: go run ./scripts/strings. With kinds as arguments
// (page, help, error, docs) it lists those alone. Counts go to standard error.
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"lore/scripts/strings/userfacing"
)

func main() {
	if err := list("."); err != nil {
		fmt.Fprintln(os.Stderr, "strings:", err)
		os.Exit(1)
	}
}

func list(root string) error {
	out := bufio.NewWriter(os.Stdout)
	for _, source := range []struct {
		kind string
		find func(root string) ([]userfacing.String, error)
	}{{"page", userfacing.Page}, {"help", help}, {"error", userfacing.Errors}, {"docs", userfacing.Docs}} {
		if len(os.Args) > 1 && !slices.Contains(os.Args[1:], source.kind) {
			continue
		}
		found, err := source.find(root)
		if err != nil {
			return err
		}
		for _, s := range found {
			fmt.Fprintf(out, "%s\t%s\t%s\n", s.Kind, s.Place, s.Text)
		}
		fmt.Fprintf(os.Stderr, "%s: %d\n", source.kind, len(found))
	}
	return out.Flush()
}

// help asks a program that is built for this, in folders of its own.
func help(root string) ([]userfacing.String, error) {
	dir, err := os.MkdirTemp("", "lore-strings")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	lore := os.Getenv("LORE_BIN")
	if lore == "" {
		lore = filepath.Join(dir, "lore")
		build := exec.Command("go", "build", "-o", lore, "./cmd/lore")
		build.Dir, build.Stderr = root, os.Stderr
		if err := build.Run(); err != nil {
			return nil, err
		}
	}
	return userfacing.Help(func(args ...string) (string, error) {
		cmd := exec.Command(lore, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "LORE_VAULT=", "NO_COLOR=1")
		text, err := cmd.Output()
		return string(text), err
	})
}
