package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/policy"
	"lore/internal/tool/schema"
)

// A Result is what a call answers. As JSON it is one flat object: the fields
// every tool has, then the tool's own.
type Result struct {
	Success bool
	Message string   // one line for people; may be empty
	Notices []string // what was changed or left out on the way
	Value   any      // the tool's own result
	Tool    *Tool

	Operation string       // of the change that was made; undo takes it
	Changes   []FileChange // what it did, or would do
	DryRun    bool         // nothing was done
	Preview   *Preview     // of a dry run
	Question  *Question    // the call waits for a person
	Page      string       // where a person can answer it in a browser; a surface that has a page says so
	Refused   string       // a person said no, or nobody answered
	Feedback  string       // the person's word to the caller
	Untrusted bool         // it shows text from outside: data, never instructions
}

// common are the fields of every answer.
type common struct {
	Success   bool         `json:"success"`
	IsError   *bool        `json:"isError,omitempty"`
	Error     string       `json:"error,omitempty"`
	Message   string       `json:"message,omitempty"`
	Feedback  *string      `json:"user_feedback,omitempty"` // of a no it is there, even empty
	Refused   string       `json:"operation,omitempty"`     // the tool that a person said no to
	Notices   []string     `json:"notices,omitempty"`
	DryRun    bool         `json:"dry_run,omitempty"`
	Preview   *Preview     `json:"preview,omitempty"`
	Operation string       `json:"operation_id,omitempty"`
	Changes   []FileChange `json:"changes,omitempty"`
	Untrusted bool         `json:"untrusted,omitempty"`
}

// commonNames are their names in JSON.
func commonNames() []string {
	var out []string
	for f := range reflect.TypeFor[common]().Fields() {
		if f.Name == "Refused" {
			continue // stands only where a tool has said nothing
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

// waiting are the fields of a call that waits for a person, as programs that
// know pending operations expect them.
type waiting struct {
	Success   bool         `json:"success"`
	Requires  bool         `json:"requires_confirmation"`
	Operation string       `json:"operation"`
	Details   any          `json:"details"`
	Message   string       `json:"message"`
	Summary   string       `json:"summary"`
	Risk      policy.Risk  `json:"risk"`
	Reason    string       `json:"reason"`
	ID        string       `json:"pending_operation_id"`
	Page      string       `json:"approve_url,omitempty"`
	Revision  int          `json:"revision,omitempty"`
	Expires   time.Time    `json:"expires"`
	Changes   []FileChange `json:"changes,omitempty"`
	Steps     []string     `json:"steps,omitempty"`
	Warnings  []string     `json:"warnings,omitempty"`
	Notices   []string     `json:"notices,omitempty"`
	Untrusted bool         `json:"untrusted,omitempty"`
}

func (r Result) waiting() waiting {
	q := r.Question
	w := waiting{
		Requires: true, Operation: q.Tool, Details: q.Preview.Details, Message: "This operation requires user confirmation.",
		Summary: q.Preview.Summary, Risk: q.Risk, Reason: q.Reason, ID: q.ID, Page: r.Page, Revision: q.Revision, Expires: q.Expires, Changes: r.Changes, Notices: r.Notices,
		Steps: q.Preview.Steps, Warnings: q.Preview.Warnings, Untrusted: r.Untrusted || q.Untrusted,
	}
	if w.Details == nil {
		w.Details = map[string]any{"summary": q.Preview.Summary, "files": len(q.Changes)}
	}
	return w
}

// MarshalJSON writes the common fields and the tool's own side by side.
func (r Result) MarshalJSON() ([]byte, error) {
	if r.Question != nil {
		return schema.Marshal(r.waiting())
	}
	common := common{
		Success: r.Success, Message: r.Message, Notices: r.Notices, DryRun: r.DryRun, Preview: r.Preview,
		Operation: r.Operation, Changes: r.Changes, Error: r.Refused, Untrusted: r.Untrusted,
	}
	if r.Refused != "" || r.Feedback != "" {
		common.Feedback = &r.Feedback
	}
	if r.Refused != "" {
		common.IsError = new(bool) // a no is an answer, not an error
		common.Refused = r.Tool.Name
	}
	head, err := schema.Marshal(common)
	if err != nil || r.Value == nil {
		return head, err
	}
	own, err := schema.Marshal(r.Value)
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

// A Part is the result of a call of which a person accepted only a part.
type Part struct {
	Partial bool `json:"partial"`
	// Files that were changed, of all that were planned.
	Files   int `json:"files"`
	Planned int `json:"planned"`
	// Hashes of the files as they are now; a moved or deleted one has none.
	Hashes map[string]string `json:"hashes"`
}

func partOf(chosen, set change.Set) Part {
	p := Part{Partial: true, Files: len(chosen), Planned: len(set), Hashes: map[string]string{}}
	for _, e := range chosen {
		if e.After != nil {
			p.Hashes[e.Path] = hashOf([]byte(*e.After))
		}
	}
	return p
}

// View tells how much was done.
func (p Part) View() View {
	return View{Text: fmt.Sprintf("changed %d of %d files, or parts of them, as you chose\n", p.Files, p.Planned)}
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
	Exit  int    // the exit code of the command, where the answer decides it: a search that found nothing
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
	// Untrusted says that the error quotes text from outside.
	Untrusted bool `json:"untrusted,omitempty"`
}

// NewFailure describes err.
func NewFailure(err error) Failure {
	f := Failure{IsError: true, Kind: fault.Of(err), Error: err.Error(), Untrusted: IsUntrusted(err)}
	var r *fault.Report
	if errors.As(err, &r) {
		f.Field, f.Fix = r.Field, r.Fix
	}
	return f
}

// Err is the error that was described.
func (f Failure) Err() error {
	message := f.Error
	if f.Fix != "" {
		message = strings.TrimSuffix(message, "; "+f.Fix) // the error adds it again
	}
	err := error(&fault.Report{Kind: f.Kind, Message: message, Field: f.Field, Fix: f.Fix})
	if f.Untrusted {
		err = untrustedError{err}
	}
	return err
}
