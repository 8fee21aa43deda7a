package home

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// biggestCopy is the largest state.db that is copied; a larger one is used where
// it is, as far as that works.
const biggestCopy = 64 << 20

// CopyData copies what is stored of one vault, with the times that seals
// compare.
func CopyData(from, to string) error {
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range list {
		name := entry.Name()
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || !isCopied(name) {
			continue
		}
		if name == "state.db" && info.Size() > biggestCopy {
			if err := os.Symlink(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				return err
			}
			continue
		}
		if err := copyFile(filepath.Join(from, name), filepath.Join(to, name), info); err != nil {
			return err
		}
	}
	return nil
}

// isCopied leaves out locks, sockets and what was set aside.
func isCopied(name string) bool {
	for _, prefix := range []string{"index.db", "index.seal", "glance.json", "vectors-", "state.db", "state.seal", "audit.jsonl", "audit.head", "audit.key", "reads.jsonl"} {
		if strings.HasPrefix(name, prefix) {
			return !strings.HasSuffix(name, "-shm") && !strings.HasSuffix(name, ".tmp")
		}
	}
	return false
}

func copyFile(from, to string, info fs.FileInfo) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
