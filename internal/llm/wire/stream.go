package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"iter"
)

// An Event is one of a stream of server-sent events.
type Event struct {
	Name string // what stands behind "event:"; often nothing
	Data []byte // may be changed by the next step of the loop
}

// Done reports whether this is the mark "[DONE]" that ends some streams.
func (e Event) Done() bool { return string(bytes.TrimSpace(e.Data)) == "[DONE]" }

// Events reads server-sent events. Lines may be of any length and end in CRLF;
// comments are skipped. A last event without its blank line counts only when it
// is whole, so that half of one is never taken for more than the end.
func Events(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var e Event
		have := false
		for line, err := range lines(r) {
			switch {
			case err != nil:
				yield(Event{}, err)
				return
			case len(line.text) == 0 && line.ended:
				if have && !yield(e, nil) {
					return
				}
				e, have = Event{}, false
				continue
			}
			field, value, _ := bytes.Cut(line.text, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "event":
				e.Name = string(value)
			case "data":
				if have {
					e.Data = append(e.Data, '\n')
				}
				e.Data, have = append(e.Data, value...), true
			}
		}
		if have && (e.Done() || json.Valid(e.Data)) {
			yield(e, nil)
		}
	}
}

// Lines reads JSON values that stand one to a line. Empty lines are skipped, and
// half of a last one.
func Lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line, err := range lines(r) {
			if err != nil {
				yield(nil, err)
				return
			}
			text := bytes.TrimSpace(line.text)
			if len(text) == 0 || !line.ended && !json.Valid(text) {
				continue
			}
			if !yield(text, nil) {
				return
			}
		}
	}
}

// line is one without its end, if it had one.
type line struct {
	text  []byte
	ended bool
}

func lines(r io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		br := bufio.NewReaderSize(r, 16<<10)
		for {
			raw, err := br.ReadBytes('\n')
			ended := err == nil
			if ended {
				raw = bytes.TrimSuffix(raw[:len(raw)-1], []byte("\r"))
			}
			if (ended || len(raw) > 0) && (err == nil || err == io.EOF) && !yield(line{raw, ended}, nil) {
				return
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(line{}, err)
				return
			}
		}
	}
}
