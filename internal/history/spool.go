package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"lore/internal/state"
	"lore/internal/tool"
)

// spoolSize is how large the file of unwritten reads may grow.
const spoolSize = 256 << 10

func (s *Store) spoolPath() string { return filepath.Join(s.file.Dir(), "reads.jsonl") }

// spool appends reads to the file that waits for the next one who opens the
// database, and reports whether that file is still small.
func (s *Store) spool(list []tool.CallRecord) (small bool, err error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, c := range list {
		c.Args = rawArgs(shorten(c.Args))
		if err := enc.Encode(c); err != nil {
			return false, err
		}
	}
	path := s.spoolPath()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(s.file.Dir(), 0o700); err != nil {
			return false, state.Explain(err, path)
		}
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	}
	if err != nil {
		return false, state.Explain(err, path)
	}
	defer f.Close()
	if err := state.Lock(f); err != nil {
		return false, state.Explain(err, path)
	}
	if _, err := f.Write(b.Bytes()); err != nil {
		return false, state.Explain(err, path)
	}
	info, err := f.Stat()
	if err != nil {
		return false, state.Explain(err, path)
	}
	return info.Size() < spoolSize, nil
}

// drain gives f the reads that processes left behind, and forgets them when f
// has written them. A crash in between makes f see them again.
func (s *Store) drain(f func([]tool.CallRecord) error) error {
	path := s.spoolPath()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return f(nil)
	}
	if err != nil {
		return state.Explain(err, path)
	}
	defer file.Close()
	if err := state.Lock(file); err != nil {
		return state.Explain(err, path)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return state.Explain(err, path)
	}
	var list []tool.CallRecord
	for line := range bytes.Lines(text) {
		var c tool.CallRecord
		if json.Unmarshal(line, &c) == nil && c.ID != "" { // a piece that a crash left is no call
			list = append(list, c)
		}
	}
	if err := f(list); err != nil {
		return err
	}
	if len(text) == 0 {
		return nil
	}
	return state.Explain(file.Truncate(0), path)
}
