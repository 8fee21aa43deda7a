package automation

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// Jobs is the file that remembers when workflows ran by themselves. One process
// writes it; it is replaced whole, so that a killed process leaves the old one or
// the new one.
type Jobs struct{ File string }

// A jobState is what is remembered of one workflow.
type jobState struct {
	Last     time.Time `json:"last"` // when it began last
	Finished time.Time `json:"finished,omitzero"`
	Result   string    `json:"result,omitempty"`
	Day      string    `json:"day,omitempty"`
	Runs     int       `json:"runs,omitempty"` // on that day
}

// isInterrupted reports whether a run began and nobody knows how it ended.
func (s jobState) isInterrupted() bool { return !s.Last.IsZero() && s.Finished.Before(s.Last) }

// read is what is remembered; nothing when the file cannot be read.
func (j Jobs) read() map[string]jobState {
	out := map[string]jobState{}
	if j.File == "" {
		return out
	}
	if b, err := os.ReadFile(j.File); err == nil && json.Unmarshal(b, &out) != nil {
		return map[string]jobState{}
	}
	return out
}

// write replaces the file.
func (j Jobs) write(all map[string]jobState) error {
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(j.File), ".schedule-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), j.File)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is of no use
	}
	return err
}
