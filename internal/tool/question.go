package tool

import (
	"context"
	"encoding/json"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/vault/visibility"
)

// A State is where a question stands.
type State string

// The states of a question. Pending goes to one of Approved, Denied, Cancelled
// and Expired; Approved to Running; Running to Done or Failed, or back to
// Pending when what was shown no longer holds.
const (
	Pending   State = "pending"
	Approved  State = "approved" // answered, and not yet carried out
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Denied    State = "denied"
	Cancelled State = "cancelled"
	Expired   State = "expired"
)

// Over reports whether nothing more will happen to the question.
func (s State) Over() bool { return s != Pending && s != Approved && s != Running }

// A Question is a call that waits for a person, with everything that the person
// needs to decide, made by the server from the canonical arguments. It is bound
// to the hash of the arguments and of the edits: what was shown is what is done.
type Question struct {
	ID       string           `json:"id"`
	Revision int              `json:"revision"` // how often it was computed again because a file had changed
	State    State            `json:"state"`
	Asked    time.Time        `json:"asked"`
	Expires  time.Time        `json:"expires"`
	Who      access.Principal `json:"who"`
	Tool     string           `json:"tool"`
	// Definition is the hash of the tool as it was when it was asked about.
	Definition string          `json:"definition"`
	Args       json.RawMessage `json:"args"` // canonical
	ArgsHash   string          `json:"args_hash"`
	Plan       string          `json:"plan"` // the hash of the edits
	// Moment is when it was planned. Planning again takes the same moment, so
	// that a template with the time in it gives the same text.
	Moment  time.Time         `json:"moment"`
	Files   map[string]string `json:"files,omitempty"` // path to hash of what it was computed from; "" must not exist
	Preview Preview           `json:"preview"`
	Risk    policy.Risk       `json:"risk"`
	Reason  string            `json:"reason"` // why a person is asked
	// Consent is the recipient that a person decides about, when the question is
	// what it may read at all ([access.Principal.Recipient]).
	Consent string `json:"consent,omitempty"`
	// NeedsPIN says that an approval needs the PIN of the person, so that the dialog
	// of an app cannot approve it.
	NeedsPIN bool `json:"needs_pin,omitempty"`
	// Untrusted says that it shows text from outside: whoever looks at it is tainted,
	// but for a person.
	Untrusted bool `json:"untrusted,omitempty"`
	// Unshared are the files among the changes that the caller must not know of;
	// see [Question.Told].
	Unshared []string     `json:"unshared,omitempty"`
	Changes  []FileChange `json:"changes,omitempty"`
	// Edits are kept when they cannot be planned again: those of an act that
	// already ran. Value is what it answered.
	Edits change.Set      `json:"edits,omitempty"`
	Ran   bool            `json:"ran,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	// Answer is what the person said, Operation the change that followed, and
	// Outcome the whole answer of the call, once it is over.
	Answer    *Answer         `json:"answer,omitempty"`
	Operation string          `json:"operation_id,omitempty"`
	Outcome   json.RawMessage `json:"outcome,omitempty"`
	Notices   []string        `json:"notices,omitempty"`
	// Limit is what of the vault the call could see when it was carried out.
	Limit visibility.Patterns `json:"limit,omitzero"`
}

// ShowsOutside reports whether a question shows text from outside: in its plan, or in
// what came of the call.
func (q Question) ShowsOutside() bool {
	var said struct {
		Untrusted bool `json:"untrusted"`
	}
	return q.Untrusted || len(q.Outcome) > 0 && (json.Unmarshal(q.Outcome, &said) != nil || said.Untrusted)
}

// An Answer is what a person says to a question.
type Answer struct {
	Approve bool `json:"approve"`
	// Revision is that of the question as the person saw it. An answer to an
	// older one is refused: what it was given to is no longer what waits.
	Revision int `json:"revision"`
	// Plan is the hash of the plan that the person saw for edited arguments
	// ([Registry.Rehearse]). Without it, what destroys is asked about again.
	Plan string `json:"plan,omitempty"`
	// Args replaces the arguments; the plan is then made from these.
	Args json.RawMessage `json:"args,omitempty"`
	// Paths keeps the edits of these files only, Hunks of a file only these
	// places, counted from 1. No Paths is all of them, an empty list none.
	Paths []string         `json:"paths"`
	Hunks map[string][]int `json:"hunks,omitempty"`
	// Word goes to the caller.
	Word string `json:"word,omitempty"`
	// Always makes a standing rule of the answer.
	Always *policy.Rule `json:"always,omitempty"`

	By access.Principal `json:"by"`
	At time.Time        `json:"at"`

	same bool // it repeats an answer that was given to another question
}

// Questions keeps the questions that wait for a person, across restarts and
// processes.
type Questions interface {
	// Ask stores a new question.
	Ask(ctx context.Context, q Question) error
	// Get returns the question of that id, or of the one id that begins so.
	Get(ctx context.Context, id string) (Question, error)
	// List returns questions, oldest first; with states, only of those.
	List(ctx context.Context, states ...State) ([]Question, error)
	// Update stores q if the stored state and revision are still the given
	// ones, and reports whether it did: of two that try, one wins.
	Update(ctx context.Context, q Question, state State, revision int) (bool, error)
	// Rules returns the standing rules in force, AddRule makes one, and
	// DropRule ends one.
	Rules(ctx context.Context) ([]policy.Rule, error)
	AddRule(ctx context.Context, r policy.Rule) error
	DropRule(ctx context.Context, id string) error
	// Changes tells when any of it may have changed, in whichever process, until
	// stop is called; nil: look from time to time.
	Changes() (changed <-chan struct{}, stop func())
}

// An Operation is one change of the vault on its way into history.
type Operation struct {
	ID       string
	Time     time.Time
	Who      access.Principal
	Tool     string
	Args     json.RawMessage // canonical, secrets left out
	ArgsHash string
	Summary  string
	Question string   // the question that allowed it, if there was one
	Reverts  []string // the operations that it takes back or brings back
	Edits    change.Set
}

// A CallRecord is what is kept of every call.
type CallRecord struct {
	ID        string
	Time      time.Time
	Who       access.Principal
	Tool      string
	Targets   []string // paths, at most a few
	Args      json.RawMessage
	ArgsHash  string
	Decision  policy.Verdict
	Reason    string
	Status    Status
	Summary   string
	Kind      fault.Kind // of a failure
	Error     string
	Duration  time.Duration
	Tokens    int
	Cost      float64 // in US dollars; -1 is unknown
	Operation string
	Question  string
	// Outside says that it can hold text from outside: the caller had read some, or
	// got some as the answer.
	Outside bool
}

// A Status is how a call ended.
type Status string

// The ways a call ends.
const (
	CallStarted   Status = "started" // an act that is about to reach outside
	CallDone      Status = "done"
	CallPending   Status = "pending"
	CallDenied    Status = "denied"
	CallFailed    Status = "failed"
	CallCancelled Status = "cancelled"
	CallDryRun    Status = "dry_run"
)

// An Outcome is how an operation ended.
type Outcome string

// The outcomes of operations.
const (
	Intended Outcome = "intended" // recorded, and not known to have happened
	Applied  Outcome = "applied"
	Undone   Outcome = "undone"
	Dropped  Outcome = "dropped" // it did not happen
)

// A Ledger remembers what was done. A change that cannot be recorded is not
// made.
type Ledger interface {
	// Begin records the intent of a change with both sides of every edit. When
	// it returns nil, that is safe on disk.
	Begin(ctx context.Context, op Operation) error
	// Finish says how it ended.
	Finish(ctx context.Context, id string, o Outcome, reason string) error
	// Outcome tells how an operation ended; NotFound for an unknown one.
	Outcome(ctx context.Context, id string) (Outcome, error)
	// Record keeps a call. Records of reads may be written a little later, but
	// not after Close of the ledger.
	Record(ctx context.Context, c CallRecord) error
}
