// Package policy decides who may do what: allow, ask a person, or deny, always
// with a reason. Its answers depend on nothing but what it is told, so the same
// call gets the same answer from every surface. It knows no tool and stores
// nothing.
package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/vault/pattern"
)

// A Verdict is what happens to a call.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

// A Risk is the most that an act can do. It decides how a question is drawn and
// whether a standing rule may answer it.
type Risk string

// The risks, lowest first.
const (
	None    Risk = "none"
	Share   Risk = "share" // what is read leaves this machine
	Create  Risk = "create"
	Change  Risk = "change"
	Destroy Risk = "destroy"
	Egress  Risk = "egress"
	Exec    Risk = "exec"
)

// Settings are what the owner of the vault decided. The zero value is the
// careful default.
type Settings struct {
	// Create is what happens to a call that only makes new notes; empty is Ask.
	Create Verdict
	// Share is what happens when somebody who is not on this machine, or may send
	// what they get elsewhere, reads notes: Ask until a person has decided about
	// the recipient, Deny never shares, and empty is Allow, but for a tool that
	// names several files for a model.
	Share Verdict
	// Tools overrides the verdict of single tools. A tool set to Allow is still
	// asked about where no standing rule may answer.
	Tools map[string]Verdict
	// Protected paths are never changed by anyone but a person. The patterns are
	// in lower case: on many systems case does not tell two files apart.
	Protected pattern.List
	// Instructions are further files that programs take instructions from, in
	// lower case; see [instructions].
	Instructions pattern.List
	// Many is how many files one call may change before it counts as
	// destructive; 0 is 20.
	Many int
}

// A Rule is a standing answer that a person gave once for many calls.
type Rule struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`        // Allow or Deny
	Tool    string  `json:"tool"`           // a name, or "*"
	Paths   string  `json:"paths"`          // a pattern that every path must fit, or "" for calls without paths
	Run     string  `json:"run,omitempty"`  // only for calls of this session, run or token
	Kind    string  `json:"kind,omitempty"` // only for this kind of principal
	// To makes it a rule about sharing: which files may go to this recipient, or
	// never go. Such a rule says nothing about changes, and Tool is "*".
	To string `json:"to,omitempty"`
	// Definition is the hash of the tool as it was when the person answered. A
	// tool that changed since is asked about again.
	Definition string    `json:"definition,omitempty"`
	Until      time.Time `json:"until,omitzero"`
	Made       time.Time `json:"made"`
}

// Facts is what is known about a call when it is judged: after it was planned,
// before anything happened.
type Facts struct {
	Who        access.Principal
	Tool       string
	Definition string
	Effect     access.Effect
	Needs      access.Scope // what an act reaches for: Egress or Exec; "" otherwise
	Paths      []string     // what would be touched
	Selects    bool         // a read of files that a person can choose from
	Creates    bool         // every edit makes a new file
	Destroys   bool         // something is removed
	Shrinks    bool         // a note loses more than half of its text
	Erodes     bool         // text is lost that a standing answer does not cover: much of a short note, or a little of many
	Loss       string       // what is lost, in words: "412 of 530 words in Tea.md would be gone"
	Files      int
	Reverts    bool // it undoes or redoes what was recorded, and can be reverted itself
	Renames    bool // it gives one note another path, and updates the links to it
	Now        time.Time
}

// A Decision is a verdict with its reason, in words a person understands.
type Decision struct {
	Verdict  Verdict `json:"verdict"`
	Risk     Risk    `json:"risk"`
	Reason   string  `json:"reason"`
	Rule     string  `json:"rule,omitempty"`      // the id of the standing rule that decided
	NeedsPIN bool    `json:"needs_pin,omitempty"` // the person must give their PIN, and try again
}

// Risk is the most that the call can do.
func (s Settings) Risk(f Facts) Risk {
	many := s.Many
	if many == 0 {
		many = 20
	}
	switch {
	case f.Needs == access.Exec:
		return Exec
	case f.Needs == access.Egress:
		return Egress
	case f.Effect == access.Reads && f.Who.Sends != "":
		return Share
	case f.Files == 0:
		return None
	case f.Destroys, f.Shrinks, f.Files > many:
		return Destroy
	case f.Creates:
		return Create
	}
	return Change
}

// scopes are the rights that each risk needs.
var scopes = map[Risk]access.Scope{
	None: access.Read, Share: access.Read, Create: access.Write, Change: access.Write, Destroy: access.Destroy, Egress: access.Egress, Exec: access.Exec,
}

// Judge decides about a planned call. Deny wins over everything; a standing
// rule never allows what destroys, runs a command or comes from nobody.
func (s Settings) Judge(f Facts, rules []Rule) Decision {
	d := Decision{Risk: s.Risk(f)}
	no := func(format string, args ...any) Decision {
		d.Verdict, d.Reason = Deny, fmt.Sprintf(format, args...)
		return d
	}
	need := scopes[d.Risk]
	if d.Risk == Destroy && !f.Destroys && !f.Shrinks {
		need = access.Write // many files are asked about, and need no further right
	}
	if !f.Who.May(need) {
		return no("this caller does not have the %s scope", need)
	}
	if f.Who.Kind != access.Person && f.Effect != access.Reads {
		for _, p := range f.Paths {
			if s.Protected.Covers(strings.ToLower(p)) {
				return no("%q is protected by the settings", p)
			}
			if d.Risk != None && s.instructs(p) {
				return no("%q contains instructions for AI programs, so only a person may change it", p)
			}
		}
	}
	if s.Tools[f.Tool] == Deny {
		return no("%s is turned off in the settings", f.Tool)
	}
	if r, ok := find(rules, f, Deny); ok {
		d.Rule = r.ID
		return no("a rule denies it")
	}
	d.Verdict, d.Reason, d.Rule = s.ask(d.Risk, f, rules)
	if d.Verdict == Allow && f.Who.Locked && (d.Risk == Destroy || f.Erodes) {
		d.NeedsPIN = true // one click is an approval, which needs it
		return no("this needs your PIN")
	}
	return d
}

func (s Settings) ask(risk Risk, f Facts, rules []Rule) (Verdict, string, string) {
	person := f.Who.Kind == access.Person && f.Who.Explicit
	switch {
	case f.Effect == access.Reads:
		return s.askRead(risk, f, rules)
	case risk == None:
		return Allow, "it changes nothing", ""
	case person && f.isSeen():
		return Allow, "a person asked for exactly this", ""
	case risk == Destroy && f.Destroys:
		return Ask, "it deletes existing content", ""
	case risk == Destroy && f.Shrinks:
		return Ask, cmp.Or(f.Loss, "a note would lose more than half of its text"), ""
	case risk == Destroy:
		return Ask, fmt.Sprintf("it changes %d files at once", f.Files), ""
	case risk == Exec:
		return Ask, "it runs a command", ""
	case f.Erodes: // no standing answer covers it
		return Ask, cmp.Or(f.Loss, "text would be lost"), ""
	case person:
		return Allow, "a person asked for exactly this", ""
	case f.Who.Tainted && f.Who.Kind != access.Person:
		return Ask, "it follows untrusted text: from the web, another server, or a note marked untrusted", ""
	case f.Who.Wary && f.Who.Kind != access.Person:
		return Ask, "the model wrote the call as text, so rules do not apply", ""
	case s.Tools[f.Tool] == Ask:
		return Ask, "your settings require approval for every call to " + f.Tool, ""
	}
	if r, ok := find(rules, f, Allow); ok {
		return Allow, "a rule allows it", r.ID
	}
	switch {
	case risk == Egress:
		return Ask, "it sends data to the network", ""
	case s.Tools[f.Tool] == Allow, risk == Create && s.Create == Allow:
		return Allow, "the settings allow it", ""
	}
	if risk == Create {
		return Ask, "it creates a new note", ""
	}
	return Ask, "it changes existing content", ""
}

// isSeen reports whether the page showed a person what the call does before they
// asked for it, and how to take it back: an undo with its diff, a rename with the
// links that follow it. A command does not show it, so there it is asked about.
func (f Facts) isSeen() bool {
	if f.Who.Surface != access.Page || f.Needs != "" {
		return false
	}
	return f.Reverts || f.Renames && !f.Destroys && !f.Shrinks && !f.Erodes
}

// askRead decides about a call that changes nothing, once it is clear what may be
// shared with the caller: single tools can be set to ask, and a tool that names
// several files for a model lets a person choose among them.
func (s Settings) askRead(risk Risk, f Facts, rules []Rule) (Verdict, string, string) {
	const harmless = "it changes nothing"
	if f.Who.Kind == access.Person || s.Tools[f.Tool] == Allow {
		return Allow, harmless, ""
	}
	asked := s.Tools[f.Tool] == Ask
	if !asked && (risk != Share || !f.Selects) {
		return Allow, harmless, ""
	}
	if r, ok := find(rules, f, Allow); ok && !asked {
		return Allow, "a rule allows it", r.ID
	}
	if risk == Share {
		return Ask, "the content it reads goes to " + f.Who.Sends, ""
	}
	return Ask, "your settings require approval for every call to " + f.Tool, ""
}

// find returns the first rule with that verdict that fits the call.
func find(rules []Rule, f Facts, v Verdict) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Verdict == v && r.fits(f) })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

// fits reports whether r speaks about the call. A rule that allows must cover
// every path; one that denies, any.
func (r Rule) fits(f Facts) bool {
	switch {
	case r.To != "", r.Tool != "*" && r.Tool != f.Tool,
		!r.Until.IsZero() && f.Now.After(r.Until),
		r.Run != "" && r.Run != f.Who.ID,
		r.Kind != "" && r.Kind != string(f.Who.Kind):
		return false
	case r.Verdict == Allow && r.Definition != "" && r.Definition != f.Definition:
		return false
	}
	if r.Paths == "" {
		return r.Verdict == Deny || len(f.Paths) == 0
	}
	text := r.Paths
	if r.Verdict == Deny {
		text = strings.ToLower(text)
	}
	list, err := pattern.Compile([]string{text})
	if err != nil {
		return r.Verdict == Deny // a rule that cannot be read errs to the safe side
	}
	if r.Verdict == Deny {
		return slices.ContainsFunc(f.Paths, func(p string) bool { return list.Covers(strings.ToLower(p)) })
	}
	return len(f.Paths) > 0 && !slices.ContainsFunc(f.Paths, func(p string) bool { return !list.Covers(p) })
}

// Check says what is wrong with a rule that a person wants to make.
func (r Rule) Check(risk Risk) error {
	if _, err := pattern.Compile([]string{r.Paths}); r.Paths != "" && err != nil {
		return fault.Field("paths", `write a pattern such as "Journal/**"`, "%v", err)
	}
	switch {
	case r.Verdict != Allow && r.Verdict != Deny:
		return fault.Field("verdict", "use allow or deny", "%q is not allow or deny", r.Verdict)
	case r.Tool == "":
		return fault.Field("tool", `name one, or "*"`, "the rule names no tool")
	case r.To != "" && r.Paths == "":
		return fault.Field("paths", `name a folder such as "Work/**", or "**" for all notes`, "the rule names no files")
	case r.To != "":
		return nil
	case r.Verdict == Allow && (risk == Destroy || risk == Exec):
		return fault.Fix(fault.Denied, "approve each one", "rules cannot allow destructive changes or commands")
	case r.Verdict == Allow && r.Tool == "*" && (r.Paths == "" || r.Paths == "**" || r.Paths == "*"):
		return fault.Fix(fault.Denied, "name a tool or a folder", "a rule cannot allow everything")
	}
	return nil
}
