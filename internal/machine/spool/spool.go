// Package spool keeps lines in a file until another process takes them: a
// process that has not opened the database leaves its records there, which costs
// one write and no wait for a disk. It does not know what the lines mean.
package spool

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"lore/internal/machine/state"
)

// A File is a spool. Several processes may use it.
type File struct{ Path string }

// Append adds lines, each with its end, and returns how large the file is then.
func (s File) Append(lines []byte) (size int64, err error) {
	f, err := os.OpenFile(s.Path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
			return 0, state.Explain(err, s.Path)
		}
		f, err = os.OpenFile(s.Path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	}
	if err != nil {
		return 0, state.Explain(err, s.Path)
	}
	defer f.Close()
	if err := state.Lock(f); err != nil {
		return 0, state.Explain(err, s.Path)
	}
	if _, err := f.Write(lines); err != nil {
		return 0, state.Explain(err, s.Path)
	}
	info, err := f.Stat()
	if err != nil {
		return 0, state.Explain(err, s.Path)
	}
	return info.Size(), nil
}

// Drain gives f all lines, and forgets them when f returns nil. A crash in
// between makes f see them again; a piece of a line can be among them.
func (s File) Drain(f func(lines []byte) error) error {
	file, err := os.OpenFile(s.Path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return f(nil)
	}
	if err != nil {
		return state.Explain(err, s.Path)
	}
	defer file.Close()
	if err := state.Lock(file); err != nil {
		return state.Explain(err, s.Path)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return state.Explain(err, s.Path)
	}
	if err := f(bytes.Clone(text)); err != nil || len(text) == 0 {
		return err
	}
	return state.Explain(file.Truncate(0), s.Path)
}
