// Package chat keeps conversations: what was said, the runs that answer it, and
// the calls of tools they make. All of it outlives the process, and of several
// processes one at a time works on a run. It asks no model and calls no tool.
package chat

import (
	"encoding/json"
	"time"

	"lore/internal/llm"
	"lore/internal/vault/visibility"
)

// A Chat is one conversation.
type Chat struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Titled  Titled    `json:"titled,omitempty"`
	Created time.Time `json:"created"`
	Changed time.Time `json:"changed"`
	Model   string    `json:"model,omitempty"` // "ollama/qwen3:8b"
	// Sets are the toolsets that are offered; nil: the usual ones.
	Sets Toolsets `json:"toolsets,omitempty"`
	// NoTools says that the model gets none.
	NoTools bool `json:"no_tools,omitempty"`
	// Think asks models that can to think before they answer.
	Think bool `json:"think,omitempty"`
	// Purpose is what the chat is for, when that is not to talk.
	Purpose Purpose `json:"purpose,omitempty"`
	// System is what the person wants every answer to heed.
	System string `json:"system,omitempty"`
	// Parent is the chat that it was forked from, after message Fork.
	Parent string `json:"parent,omitempty"`
	Fork   int    `json:"fork,omitempty"`
	// Page is the note that shows it; "" when there is none.
	Page string `json:"page,omitempty"`
}

// A Purpose is what a chat is for.
type Purpose string

// Rewriting is a chat whose answer takes the place of a selection in a note. Its
// model has no tools, whatever else is said: the note is all that it can act on.
const Rewriting Purpose = "rewrite"

// Titled says where a title comes from.
type Titled string

// The origins of titles: what is stronger is not replaced by what is weaker.
const (
	ByWords  Titled = ""      // the first words of the first request
	ByModel  Titled = "model" // inferred
	ByPerson Titled = "person"
)

// A Message is one message of a chat as it was said.
type Message struct {
	Seq  int       `json:"seq"`
	Run  string    `json:"run,omitempty"`
	Time time.Time `json:"time"`
	llm.Message
	Model string     `json:"model,omitempty"`
	Usage *llm.Usage `json:"usage,omitempty"`
	Stop  llm.Stop   `json:"stop,omitempty"`
	// Note is the note that the person was looking at.
	Note string `json:"note,omitempty"`
	// Attached is what the person sent along.
	Attached []Attachment `json:"attached,omitempty"`
	// Outside says that the words come from a note: what follows from them is as
	// wary as what follows from a web page.
	Outside bool `json:"outside,omitempty"`
	// Marker says that this is no speech: "compacted" stands where older messages
	// are told in short from now on.
	Marker string `json:"marker,omitempty"`
	// Until is the last message that a marker stands for.
	Until int `json:"until,omitempty"`
	// Citations are the places that an answer names, checked.
	Citations []Citation `json:"citations,omitempty"`
	// Quotes are the words that an answer quotes, checked.
	Quotes []Quote `json:"quotes,omitempty"`
	// Uncited are the passages that were found, when an answer cites none of the notes
	// that were read for it.
	Uncited []Passage `json:"uncited,omitempty"`
	// Limit is what the model could read when a marker was written for it.
	Limit visibility.Patterns `json:"limit,omitzero"`
}

// Compacted is the marker of a summary.
const Compacted = "compacted"

// A Citation is a place that an answer names.
type Citation struct {
	Link  string `json:"link"` // as written, without brackets
	Path  string `json:"path,omitempty"`
	State string `json:"state"`
}

// What can be said of a citation.
const (
	Read      = "read"    // the note was read in this run
	NoHeading = "heading" // it was, but what was read has no such heading
	Unread    = "unread"  // it was not
)

// A Quote is what an answer says to stand somewhere, word for word.
type Quote struct {
	Text string `json:"text"`
	Path string `json:"path,omitempty"` // of the note that says it
	// Read says that these words were read in this run, in the note that they are
	// cited for; without a citation, in any.
	Read bool `json:"read"`
}

// A Passage is a part of a note.
type Passage struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// A Status is how far a run is.
type Status string

// The states of a run.
const (
	Running         Status = "running"
	WaitingApproval Status = "waiting_approval"
	WaitingUser     Status = "waiting_user"
	Done            Status = "done"
	Failed          Status = "failed"
	Cancelled       Status = "cancelled"
	Limited         Status = "limit"
)

// Over reports whether nothing more happens by itself.
func (s Status) Over() bool {
	switch s {
	case Running, WaitingApproval:
		return false
	}
	return true
}

// Limits bound a run. What is zero is not bounded.
type Limits struct {
	Steps  int           `json:"steps,omitempty"`
	Time   time.Duration `json:"time,omitempty"` // of work; waiting for people does not count
	Tokens int           `json:"tokens,omitempty"`
	Cost   float64       `json:"cost,omitempty"` // US dollars
}

// A Run is one request and what is done for it.
type Run struct {
	ID      string        `json:"id"`
	Chat    string        `json:"chat"`
	Status  Status        `json:"status"`
	Reason  string        `json:"reason,omitempty"` // why it ended so
	Model   string        `json:"model"`
	Started time.Time     `json:"started"`
	Ended   time.Time     `json:"ended,omitzero"`
	Limits  Limits        `json:"limits"`
	Sets    Toolsets      `json:"toolsets,omitempty"`
	Steps   int           `json:"steps"`
	Usage   llm.Usage     `json:"usage"`
	Priced  bool          `json:"priced"` // the cost of every step is known
	Worked  time.Duration `json:"worked"`
	Denials int           `json:"denials,omitempty"`
	Nudges  int           `json:"nudges,omitempty"` // how often it was told that it repeats itself
	Empty   bool          `json:"empty,omitempty"`  // the model gave no answer and was asked once more
	// Instructions are those of the vault; nil when there are none.
	Instructions *Instructions `json:"instructions,omitempty"`
	// Near says which limit is nearly reached.
	Near string `json:"near,omitempty"`
	// Keeper is the process that goes on with it when it can.
	Keeper string `json:"keeper,omitempty"`
	// Last says that the next step is the last: an answer without tools.
	Last bool `json:"last,omitempty"`
}

// Instructions are what a note of the vault tells every model that works with it.
type Instructions struct {
	Path string `json:"path"`
	// Cut says that the model got the beginning alone, and Unused why it got nothing.
	Cut    bool   `json:"cut,omitempty"`
	Unused string `json:"unused,omitempty"`
}

// Problem tells a person why a model did not get all of them; "" when it did.
func (i *Instructions) Problem() string {
	switch {
	case i == nil:
		return ""
	case i.Unused != "":
		return i.Path + " was not used: " + i.Unused
	case i.Cut:
		return i.Path + " is too long for the model; only its beginning was used"
	}
	return ""
}

// A CallState is how far a call is.
type CallState string

// The states of a call.
const (
	Proposed    CallState = "proposed"
	Calling     CallState = "running"
	Asked       CallState = "asked" // it waits for a person
	Finished    CallState = "done"
	Refused     CallState = "denied"
	Mistaken    CallState = "error"
	Interrupted CallState = "interrupted" // nobody knows whether it was done
)

// Over reports whether the call has its result.
func (s CallState) Over() bool { return s != Proposed && s != Calling && s != Asked }

// A Call is one call of a tool.
type Call struct {
	Seq      int             `json:"seq"`
	Message  int             `json:"message"` // that wanted it
	ID       string          `json:"id"`      // as the provider calls it
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args"`
	State    CallState       `json:"state"`
	Question string          `json:"question,omitempty"`
	Revision int             `json:"revision,omitempty"`
	Started  time.Time       `json:"started,omitzero"`
	Ended    time.Time       `json:"ended,omitzero"`
	// Result is what the model gets, Uncut all of it where that is only a part, and
	// Whole the answer of the tool as JSON.
	Result    string          `json:"result,omitempty"`
	Uncut     string          `json:"uncut,omitempty"`
	Whole     json.RawMessage `json:"whole,omitempty"`
	Operation string          `json:"operation,omitempty"`
	Untrusted bool            `json:"untrusted,omitempty"`
	Hidden    int             `json:"hidden,omitempty"`    // characters that nobody sees, which the model did not get
	FromText  bool            `json:"from_text,omitempty"` // it was written as text
	Repaired  string          `json:"repaired,omitempty"`  // what had to be mended in its arguments
	Attached  bool            `json:"attached,omitempty"`  // it reads what the person attached; the model did not ask for it
	Repeats   bool            `json:"repeats,omitempty"`   // it was not made, because it repeats another
	Excess    bool            `json:"excess,omitempty"`    // it was not made, because one answer wanted too many
	Summary   string          `json:"summary,omitempty"`   // one line for people
	// Limit is what the model could read when the call was made.
	Limit visibility.Patterns `json:"limit,omitzero"`
}
