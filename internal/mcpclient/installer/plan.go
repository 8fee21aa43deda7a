// Package installer puts Lore into the configuration files of MCP clients and
// takes it out again: what would change is planned first, and written whole or
// not at all, with a copy of the file as it was. It knows how clients start
// Lore, and opens no vault.
package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
)

// Entry is how a client starts Lore: a program, on a vault, by their whole
// paths, because clients start programs from any folder.
func Entry(program, vault string, readOnly bool) configfile.Entry {
	args := []string{"mcp", "--vault", vault}
	if readOnly {
		args = append(args, "--read-only")
	}
	return configfile.Entry{Command: program, Args: args}
}

// VaultOf is the vault that an entry opens; empty for an entry of another
// program.
func VaultOf(e configfile.Entry) string {
	at := slices.Index(e.Args, "--vault")
	if len(e.Args) == 0 || e.Args[0] != "mcp" || at < 0 || at+1 >= len(e.Args) {
		return ""
	}
	return e.Args[at+1]
}

// A State is what a client's file has of Lore before it is changed.
type State string

// The states.
const (
	New    State = "new"    // nothing
	Same   State = "same"   // exactly what would be written
	Ours   State = "ours"   // an entry of Lore's, to be removed
	Other  State = "other"  // an entry of that name with other content
	Absent State = "absent" // nothing, and there is nothing to remove
)

// Options say what is asked for.
type Options struct {
	Client  string
	Name    string           // of the entry
	Project bool             // the file of the project in the current folder
	Remove  bool             // take the entry out
	Entry   configfile.Entry // what to write, unless it is removed
}

// A Plan is a change of one client's file that was not made yet.
type Plan struct {
	Client  configfile.Client
	Path    string
	Missing bool   // nothing of the client was found on this machine
	Vault   string // that the entry opens
	State   State
	Before  *string // the text of the file; nil when there is none
	After   string
	Drop    bool // the file was made by Lore for this alone, and goes

	bare *string // Before without the entry, when the entry is only what Lore wrote
}

// Find says which file would be changed, without looking into it.
func Find(at configfile.Place, o Options) (*Plan, error) {
	if err := checkName(o.Name); err != nil {
		return nil, err
	}
	c, err := configfile.ByID(o.Client)
	if err != nil {
		return nil, err
	}
	p := &Plan{Client: c, Vault: VaultOf(o.Entry)}
	if o.Project {
		if c.Project == "" {
			return nil, fault.Fix(fault.Invalid, "leave out --project", "Lore does not support project settings for %s", c.Title)
		}
		p.Path, err = filepath.Abs(filepath.FromSlash(c.Project))
		return p, err
	}
	path, found := c.Path(at, exists)
	p.Path, p.Missing = path, !found
	return p, nil
}

func checkName(name string) error {
	for _, r := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", r) {
			return fault.Field("name", "use letters, digits, _ and -", "%q contains %q", name, r)
		}
	}
	if name == "" || len(name) > 40 {
		return fault.Field("name", "use 1 to 40 characters", "%q is too short or too long", name)
	}
	return nil
}

// Make plans a change. Nothing is written before [Plan.Write].
func Make(at configfile.Place, o Options) (*Plan, error) {
	p, err := Find(at, o)
	if err != nil {
		return nil, err
	}
	if !p.Client.Editable() {
		return nil, fault.Fix(fault.Invalid, "add the entry that lore install "+p.Client.ID+" --print prints", "Lore does not edit %s", p.Path)
	}
	if p.Before, err = readFile(p.Path); err != nil {
		return nil, err
	}
	text := deref(p.Before)
	old, there, err := p.Client.Find(text, o.Name)
	if err != nil {
		return nil, aboutFile(p.Path, err)
	}
	if o.Remove {
		p.After, err = p.Client.Remove(text, o.Name)
		p.Vault = VaultOf(old)
	} else {
		p.After, err = p.Client.Put(text, o.Name, o.Entry)
	}
	if err != nil {
		return nil, aboutFile(p.Path, err)
	}
	if there {
		p.bare = withoutOurs(p.Client, text, o.Name, old)
	}
	p.State = p.state(o.Remove, there)
	if o.Remove && there && strings.TrimSpace(p.After) == "" {
		p.finish(o.Name)
	}
	return p, nil
}

func (p *Plan) state(remove, there bool) State {
	switch {
	case remove && !there:
		return Absent
	case remove && p.Vault != "":
		return Ours
	case !there:
		return New
	case !remove && p.After == *p.Before:
		return Same
	}
	return Other
}

// withoutOurs gives the text as it was before Lore added the entry to it, nil
// when a person had a hand in the entry since.
func withoutOurs(c configfile.Client, text, name string, old configfile.Entry) *string {
	bare, err := c.Remove(text, name)
	if err != nil {
		return nil
	}
	if made, err := c.Put(bare, name, old); err != nil || made != text {
		return nil
	}
	return &bare
}

// aboutFile names the file that an error is about.
func aboutFile(path string, err error) error {
	var r *fault.Report
	if errors.As(err, &r) {
		own := *r
		own.Message = path + ": " + r.Message
		if own.Fix == "" {
			own.Fix = "fix it first; nothing was changed"
		}
		return &own
	}
	return fmt.Errorf("%s: %w", path, err)
}

// A Status is what is known of one client on this machine.
type Status struct {
	Client    string `json:"client"`
	Title     string `json:"title"`
	Found     bool   `json:"found"`
	Path      string `json:"path"`
	Installed bool   `json:"installed"`
	Vault     string `json:"vault,omitempty"`
	Command   string `json:"command,omitempty"`
	Problem   string `json:"problem,omitempty"`
	// ByHand clients are not edited: a person pastes what --print prints.
	ByHand bool `json:"by_hand,omitempty"`
}

// List tells of every client whether it is here and has an entry of that name.
func List(at configfile.Place, name string) []Status {
	var out []Status
	for _, c := range configfile.Clients() {
		s := Status{Client: c.ID, Title: c.Title, ByHand: !c.Editable()}
		s.Path, s.Found = c.Path(at, exists)
		text, err := configfile.ReadText(s.Path)
		if err == nil {
			var e configfile.Entry
			e, s.Installed, err = c.Find(text, name)
			s.Command, s.Vault = e.Command, VaultOf(e)
		}
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			s.Problem = err.Error()
		case s.Installed:
			s.Problem = s.stale()
		}
		out = append(out, s)
	}
	return out
}

// stale says why an entry does not work, as far as that can be seen.
func (s Status) stale() string {
	switch {
	case s.Command == "" || s.Vault == "":
		return "the entry is not one of Lore's"
	case filepath.IsAbs(s.Command) && !exists(s.Command):
		return "the program " + s.Command + " is gone"
	case filepath.IsAbs(s.Vault) && !exists(s.Vault):
		return "the vault is gone"
	}
	return ""
}
