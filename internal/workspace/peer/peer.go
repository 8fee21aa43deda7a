// Package peer lets several processes share one vault. The one that holds the
// vault listens on a socket that only its user can reach, and every other is a
// thin client of it: a [Client] is a [tool.Door] whose calls are carried out
// there. A [Deferred] is a door behind which the vault may come, go, and come
// again, so that a process outlives the one it leans on.
//
// It knows no tool and no vault, and decides nothing: the registry of the
// process that holds the vault judges every call.
package peer

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// protocol is the language that both ends must speak. It changes whenever a
// message does: processes of two versions may meet on one vault.
const protocol = 5

// card is the file in the data folder of a vault that tells where its holder
// listens. What it says is tried, never believed.
const card = "holder.json"

type cardText struct {
	Protocol int    `json:"protocol"`
	Socket   string `json:"socket"`
	Process  int    `json:"process"`
}

// errGone says that the process that held the vault is no longer there, and
// that nothing was done.
var errGone = errors.New("the process that had the vault open has ended")

// ErrOutdated is what a door says to a call that it did not begin, because the
// settings changed and the vault is about to be opened with the new ones. A
// [Deferred] waits for that, in whichever process, and makes the call again.
var ErrOutdated = fmt.Errorf("%w: the settings changed", errGone)

// The methods, by the path that they are called at.
const (
	pathHello     = "/hello"
	pathTools     = "/tools"
	pathCall      = "/call"
	pathQuestions = "/questions"
	pathQuestion  = "/question"
	pathAnswer    = "/answer"
	pathRehearse  = "/rehearse"
	pathAwait     = "/await"
	pathCancel    = "/cancel"
	pathTaint     = "/taint"
	pathRules     = "/rules"
	pathForget    = "/forget"
	pathEvents    = "/events"
)

// A request holds what any method takes.
type request struct {
	Who      access.Principal `json:"who"`
	Tool     string           `json:"tool,omitempty"`
	Args     json.RawMessage  `json:"args,omitempty"`
	ID       string           `json:"id,omitempty"`
	Revision int              `json:"revision,omitempty"`
	Answer   tool.Answer      `json:"answer"`
	States   []tool.State     `json:"states,omitempty"`
}

// A reply holds what any method answers: a failure, or its part. Before it, a
// call may tell how far it is, each time in a reply of its own.
type reply struct {
	Progress  *progress          `json:"progress,omitempty"`
	Failure   *tool.Failure      `json:"failure,omitempty"`
	Protocol  int                `json:"protocol,omitempty"`
	Result    *result            `json:"result,omitempty"`
	Question  *tool.Question     `json:"question,omitempty"`
	Questions []tool.Question    `json:"questions,omitempty"`
	Rules     []policy.Rule      `json:"rules,omitempty"`
	Tools     []tool.Description `json:"tools,omitempty"`
}

// Progress is how far a call is.
type progress struct {
	Done    int    `json:"done"`
	Total   int    `json:"total"`
	Message string `json:"message"`
}

// A result is a [tool.Result] on its way. The view is made where the value's
// type is known.
type result struct {
	Success   bool              `json:"success"`
	Message   string            `json:"message,omitempty"`
	Notices   []string          `json:"notices,omitempty"`
	Value     json.RawMessage   `json:"value,omitempty"`
	View      *tool.View        `json:"view,omitempty"`
	Tool      string            `json:"tool,omitempty"`
	Title     string            `json:"title,omitempty"`
	Shape     tool.Shape        `json:"shape,omitempty"`
	Effect    access.Effect     `json:"effect,omitempty"`
	Feed      bool              `json:"feed,omitempty"`
	Operation string            `json:"operation,omitempty"`
	Changes   []tool.FileChange `json:"changes,omitempty"`
	DryRun    bool              `json:"dry_run,omitempty"`
	Preview   *tool.Preview     `json:"preview,omitempty"`
	Question  *tool.Question    `json:"question,omitempty"`
	Refused   string            `json:"refused,omitempty"`
	Feedback  string            `json:"feedback,omitempty"`
	Untrusted bool              `json:"untrusted,omitempty"`
}

func pack(r tool.Result) (*result, error) {
	out := &result{
		Success: r.Success, Message: r.Message, Notices: r.Notices, Operation: r.Operation, Changes: r.Changes,
		DryRun: r.DryRun, Preview: r.Preview, Question: r.Question, Refused: r.Refused, Feedback: r.Feedback, Untrusted: r.Untrusted,
	}
	if t := r.Tool; t != nil {
		out.Tool, out.Title, out.Shape, out.Effect, out.Feed = t.Name, t.Title, t.Shape, t.Effect, t.Feed
	}
	if r.Value == nil {
		return out, nil
	}
	view := r.View()
	out.View = &view
	var err error
	out.Value, err = marshal(r.Value)
	return out, err
}

func (r *result) unpack() tool.Result {
	out := tool.Result{
		Success: r.Success, Message: r.Message, Notices: r.Notices, Operation: r.Operation, Changes: r.Changes,
		DryRun: r.DryRun, Preview: r.Preview, Question: r.Question, Refused: r.Refused, Feedback: r.Feedback, Untrusted: r.Untrusted,
	}
	if r.Tool != "" {
		out.Tool = &tool.Tool{Name: r.Tool, Title: r.Title, Shape: r.Shape, Effect: r.Effect, Feed: r.Feed}
	}
	if r.Value != nil {
		out.Value = value{r.Value, r.View}
	}
	return out
}

// A value is a tool's own result as it came over the wire, with the view that
// was made of it.
type value struct {
	json json.RawMessage
	view *tool.View
}

// MarshalJSON gives the bytes back as they came.
func (v value) MarshalJSON() ([]byte, error) { return v.json, nil }

// View is how people see it.
func (v value) View() tool.View {
	if v.view == nil {
		return tool.View{Text: string(v.json)}
	}
	return *v.view
}

// News is one event on its way.
type news struct {
	Topic string          `json:"topic"`
	Data  json.RawMessage `json:"data"`
	Final bool            `json:"final"`
}

// Times that nobody should notice.
const (
	greeting = 2 * time.Second        // for the other end to say hello
	parting  = 10 * time.Second       // for calls to end when the holder goes
	patience = time.Hour              // for a holder to say that it listens, when the caller sets no end
	beat     = 20 * time.Second       // between signs of life in a stream
	pace     = 100 * time.Millisecond // between two words about how far a call is
)
