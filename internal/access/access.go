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

// The scopes. Approve and Admin belong to persons alone.
const (
	Read    Scope = "read"
	Write   Scope = "write"
	Destroy Scope = "destroy"
	Model   Scope = "model" // makes Lore ask a model that is not on this machine
	Egress  Scope = "egress"
	Exec    Scope = "exec"
	Admin   Scope = "admin"
	Approve Scope = "approve"
)

// Scopes lists all scopes, weakest first.
func Scopes() []Scope { return []Scope{Read, Write, Destroy, Model, Egress, Exec, Admin, Approve} }

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
	Agent    Kind = "agent"
	MCP      Kind = "mcp"
	REST     Kind = "rest"
	Schedule Kind = "schedule"
)

// A Principal is who makes a call. The zero Principal may do nothing.
type Principal struct {
	Kind    Kind    `json:"kind"`
	ID      string  `json:"id"`      // the session, run, token or job; for logs, never a secret
	Surface string  `json:"surface"` // where the call came in: "cli", "web", "mcp", …
	Scopes  []Scope `json:"scopes"`
	// Explicit says that the call is a person's own act, seen and meant: a saved
	// editor, a sent form, a command with --yes. It counts for persons alone,
	// and what destroys is asked about once more.
	Explicit bool `json:"explicit,omitempty"`
	// Wary says that what led to the call may come from outside, or was written
	// as text: no standing answer counts for it.
	Wary bool `json:"wary,omitempty"`
	// Tainted says that the caller has read words from outside: of the web, of
	// another server, or of a note that is marked as untrusted. Whoever is tainted
	// is wary.
	Tainted bool `json:"tainted,omitempty"`
	// Sends is the model that gets what is read, where it is not on this machine.
	Sends string `json:"sends,omitempty"`
	// Client is the name of the program that calls, for people: "claude-desktop".
	Client string `json:"client,omitempty"`
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
// [Admin], whatever their list says.
func (p Principal) May(s Scope) bool {
	if (s == Approve || s == Admin) && p.Kind != Person {
		return false
	}
	return slices.Contains(p.Scopes, s)
}
