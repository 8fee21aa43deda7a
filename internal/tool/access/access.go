// Package access says who asks and what they may ask for. It holds no rules:
// those are policy's.
package access

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// A Scope is one right.
type Scope string

// The scopes. Approve and Admin belong to persons alone. Confirm lets an app
// answer the questions of its own calls in a dialog that it shows itself; it is
// never given by default, because whoever controls the app can answer there.
const (
	Read    Scope = "read"
	Write   Scope = "write"
	Destroy Scope = "destroy"
	Model   Scope = "model" // makes Lore ask a model that is not on this machine
	Egress  Scope = "egress"
	Exec    Scope = "exec"
	Confirm Scope = "confirm"
	Admin   Scope = "admin"
	Approve Scope = "approve"
)

// Scopes lists all scopes, weakest first.
func Scopes() []Scope {
	return []Scope{Read, Write, Destroy, Model, Egress, Exec, Confirm, Admin, Approve}
}

// An Effect is what a tool may do at the most.
type Effect string

// The effects of tools.
const (
	Reads   Effect = "read"
	Changes Effect = "change"
	Acts    Effect = "act"
)

// A Kind is what sort of caller a principal is.
type Kind string

// The kinds of principals.
const (
	Person   Kind = "person"
	Dialog   Kind = "dialog" // whoever answered in the dialog of an app that may show one
	Agent    Kind = "agent"
	MCP      Kind = "mcp"
	REST     Kind = "rest"
	Schedule Kind = "schedule"
)

// Page is the surface of a person who is signed in to the page in a browser.
const Page = "web"

// A Principal is who makes a call. The zero Principal may do nothing.
type Principal struct {
	Kind    Kind    `json:"kind"`
	ID      string  `json:"id"`      // the session, run, token or job; for logs, never a secret
	Surface string  `json:"surface"` // where the call came in: "cli", "web", "mcp", …
	Scopes  []Scope `json:"scopes"`
	// Explicit says that the call is a person's own act, seen and meant: a saved
	// editor, a sent form, a command with --yes. It counts for persons alone,
	// and what destroys is asked about once more, but for an undo on the page.
	Explicit bool `json:"explicit,omitempty"`
	// Locked says that a PIN is set and was not given: the act counts as no approval.
	Locked bool `json:"locked,omitempty"`
	// Wary says that what led to the call may come from outside, or was written
	// as text: no standing answer counts for it.
	Wary bool `json:"wary,omitempty"`
	// Tainted says that the caller has read words from outside: of the web, of
	// another server, or of a note that is marked as untrusted. Whoever is tainted
	// is wary.
	Tainted bool `json:"tainted,omitempty"`
	// Sends is the model that gets what is read, where it is not on this machine.
	Sends string `json:"sends,omitempty"`
	// Unasked says that the program does it by itself: a person is not asked about
	// it, and what they would have to decide is refused.
	Unasked bool `json:"unasked,omitempty"`
	// Name is what a person calls the caller: the name of a token, or the model of a
	// run.
	// Client is what an app calls itself: believed by nobody, shown to persons.
	Name   string `json:"name,omitempty"`
	Client string `json:"client,omitempty"`
	// Shared are the folders that a person let this client read when it was
	// installed; nobody is asked about them.
	Shared []string `json:"shared,omitempty"`
	// Program is the program that made a call, and Line the processes that an
	// answer comes from: a program must not answer its own question. Both are
	// empty where the system does not tell.
	Program []Process `json:"program,omitempty"`
	Line    []Process `json:"line,omitempty"`
}

// A Process is one process of this machine. Numbers are used again, so the time
// of its start belongs to it.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
	Name  string `json:"name,omitempty"`
}

// IsSame reports whether both are the same run of a program.
func (p Process) IsSame(q Process) bool { return p.PID == q.PID && p.Start == q.Start }

// ComesFrom reports whether an answer that comes from line was given by program
// itself, or by a process that it started.
func ComesFrom(line, program []Process) bool {
	return slices.ContainsFunc(line, func(l Process) bool { return slices.ContainsFunc(program, l.IsSame) })
}

// Recipient names where the caller takes what it reads, or "" when that stays on
// this machine and with its user: a remote model by its provider, a program by
// its name, a token by its id. An MCP client counts as elsewhere, because Lore
// cannot know where it sends what it gets.
func (p Principal) Recipient() string {
	switch {
	case p.Kind == Person:
		return ""
	case p.Sends != "":
		return ModelRecipient(p.Sends)
	case p.Kind == REST, p.Kind == MCP && strings.HasPrefix(p.ID, "token-"):
		return "token:" + p.ID
	case p.Kind == MCP:
		return AppRecipient(cmp.Or(p.Client, p.ID))
	}
	return ""
}

// ModelRecipient is the recipient of what is sent to a model: its provider.
func ModelRecipient(model string) string {
	provider, _, _ := strings.Cut(model, "/")
	return "model:" + provider
}

// AppRecipient is the recipient that a program on this machine is. Programs name
// themselves, so their names have one spelling.
func AppRecipient(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '.', r == '_':
			return unicode.ToLower(r)
		}
		return '-'
	}, strings.TrimSpace(name))
	return "app:" + name[:min(len(name), 64)]
}

// Terminal is the person who types a command at a terminal.
func Terminal() Principal {
	return Principal{Kind: Person, ID: "terminal", Surface: "cli", Scopes: Scopes()}
}

// Key tells principals apart.
func (p Principal) Key() string { return string(p.Kind) + " " + p.ID }

// May reports whether p holds the scope. Only persons can hold [Approve] and
// [Admin], whatever their list says; a dialog can hold Approve, for the questions
// of its own app.
func (p Principal) May(s Scope) bool {
	switch {
	case s == Admin && p.Kind != Person, s == Approve && p.Kind != Person && p.Kind != Dialog:
		return false
	}
	return slices.Contains(p.Scopes, s)
}

// Answers says how an answer of p was given, for the record: "approved" or
// "denied" is the word.
func (p Principal) Answers(word string) string {
	if p.Kind != Dialog {
		return "a person " + word + " it"
	}
	app, through := p.Client, "lore mcp"
	if app == "" {
		app = "an app"
	}
	switch {
	case p.Surface == "acp":
		through = "lore acp"
	case p.Name != "":
		through = "token " + p.Name
	}
	return word + " in a dialog shown by " + app + " (" + through + ")"
}
