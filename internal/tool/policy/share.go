package policy

import (
	"path"
	"slices"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/vault/pattern"
	"lore/internal/vault/visibility"
)

// Sharing is what of the vault may go to a recipient.
type Sharing struct {
	Verdict Verdict // Ask: nobody has decided about this recipient yet
	Reason  string
	Limit   visibility.Limit // what may go, where Verdict is Allow
}

// Sharing decides what may go to a recipient ([access.Principal.Recipient]) in
// one run. What a person shared with a recipient limits it under every setting,
// what a person refused is never sent, and "never" wins over both.
func (s Settings) Sharing(to, name, run string, rules []Rule, now time.Time) Sharing {
	if to == "" {
		return Sharing{Verdict: Allow, Reason: "it stays on this computer"}
	}
	if s.Share == Deny {
		return Sharing{Verdict: Deny, Reason: "the setting approve.share is never"}
	}
	reason := "you have not shared it with " + name
	var only, without []string
	for _, r := range rules {
		switch {
		case r.To != to, !r.Until.IsZero() && now.After(r.Until), r.Run != "" && r.Run != run:
		case r.Verdict == Deny:
			without = append(without, r.Paths)
		default:
			only = append(only, r.Paths)
		}
	}
	for _, p := range without {
		if all(p) {
			return Sharing{Verdict: Deny, Reason: "you refused to share notes with " + name}
		}
	}
	if len(only) == 0 && s.Share == Ask {
		return Sharing{Verdict: Ask, Reason: "you have not decided what " + name + " may read"}
	}
	limit := visibility.Limit{}.Because(reason)
	var err error
	if len(only) > 0 && !anyAll(only) {
		limit, err = limit.Only(only)
	}
	if err == nil && len(without) > 0 {
		limit, err = limit.Without(without)
	}
	if err != nil { // a rule that cannot be read errs to the safe side
		return Sharing{Verdict: Deny, Reason: "a sharing rule cannot be read: " + err.Error()}
	}
	return Sharing{Verdict: Allow, Reason: "it is shared with " + name, Limit: limit}
}

// all reports whether a pattern covers every file.
func all(p string) bool { p = strings.Trim(p, "/"); return p == "**" || p == "*" }

func anyAll(list []string) bool {
	for _, p := range list {
		if all(p) {
			return true
		}
	}
	return false
}

// FolderPattern is the pattern for a choice that a person is offered: a folder
// ("Work/"), the notes outside of folders ("/"), a file, or everything ("*").
func FolderPattern(choice string) string {
	switch choice {
	case Everything:
		return "**"
	case TopLevel:
		return "/*.md"
	}
	return pattern.Literal(choice)
}

// Choices gives folders as a person types them the form of choices: "Work" and
// "/Work/" are "Work/", "all" is everything.
func Choices(folders []string) ([]string, error) {
	var out []string
	for _, typed := range folders {
		f := strings.TrimSpace(typed)
		switch clean := path.Clean("/" + f); {
		case f == "", slices.Contains(strings.Split(f, "/"), ".."):
			return nil, fault.Fix(fault.Invalid, "name a folder in the vault, / for top-level notes, or all", "%q is not a folder in the vault", typed)
		case f == "all", f == Everything:
			out = append(out, Everything)
		case clean == "/":
			out = append(out, TopLevel)
		default:
			out = append(out, strings.TrimPrefix(clean, "/")+"/")
		}
	}
	return out, nil
}

// Everything is the choice of all notes.
const Everything = "*"

// TopLevel is the choice of the notes that are in no folder.
const TopLevel = "/"
