package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"lore/internal/fault"
)

// A Result is what a call answers. As JSON it is one flat object: the fields
// every tool has, then the tool's own.
type Result struct {
	Success bool
	Message string   // one line for people; may be empty
	Notices []string // what was changed or left out on the way
	Value   any      // the tool's own result
	Tool    *Tool
}

// MarshalJSON writes the common fields and the tool's own side by side.
func (r Result) MarshalJSON() ([]byte, error) {
	common := struct {
		Success bool     `json:"success"`
		Message string   `json:"message,omitempty"`
		Notices []string `json:"notices,omitempty"`
	}{r.Success, r.Message, r.Notices}
	head, err := marshal(common)
	if err != nil || r.Value == nil {
		return head, err
	}
	own, err := marshal(r.Value)
	if err != nil {
		return nil, err
	}
	if len(own) < 2 || own[0] != '{' {
		return nil, fmt.Errorf("the result of %s is not an object", r.Tool.Name)
	}
	if bytes.Equal(own, []byte("{}")) {
		return head, nil
	}
	return append(append(head[:len(head)-1], ','), own[1:]...), nil
}

// marshal leaves <, > and & as they are: whoever puts JSON into HTML escapes it
// there, and everyone else wants to read it.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// View is how people see the result.
func (r Result) View() View {
	if v, ok := r.Value.(Viewer); ok {
		return v.View()
	}
	b, err := json.MarshalIndent(r.Value, "", "  ")
	if err != nil {
		return View{Text: err.Error()}
	}
	return View{Text: string(b)}
}

// A Viewer is a result that says how people see it.
type Viewer interface{ View() View }

// A View is a result drawn for people, in parts that every surface knows. A
// surface shows the parts that are there, in this order.
type View struct {
	Text  string     // prose, as it is
	Items []Item     // a list of notes or passages
	Head  []string   // column names of Rows
	Rows  [][]string // a table
	Pairs [][2]string
	Foot  string // one line about the whole: counts, what was cut, freshness
}

// An Item is one note or passage in a list.
type Item struct {
	Title  string
	Path   string
	Line   int    // where in the file; 0 for the whole
	Detail string // heading, tags or date
	Text   string // an excerpt
	Marks  []Mark // the parts of Text that show why it was found
	Score  float64
	Notes  []string // further lines, such as an explanation of the score
}

// A Mark is a range of bytes of a text.
type Mark struct{ Start, End int }

// A Failure is what an error looks like to a program.
type Failure struct {
	Success bool       `json:"success"`
	IsError bool       `json:"isError"`
	Kind    fault.Kind `json:"kind"`
	Error   string     `json:"error"`
	Field   string     `json:"field,omitempty"`
	Fix     string     `json:"fix,omitempty"`
}

// NewFailure describes err.
func NewFailure(err error) Failure {
	f := Failure{IsError: true, Kind: fault.Of(err), Error: err.Error()}
	var r *fault.Report
	if errors.As(err, &r) {
		f.Field, f.Fix = r.Field, r.Fix
	}
	return f
}
