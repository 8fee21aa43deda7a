// Package serverlist knows the other MCP servers that a person may use: which files
// name them, which of those a person agreed to on this machine, and how their
// tools looked when they were first seen. It reads what others wrote and writes
// only what a person decided. It starts no server and talks to none.
package serverlist

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
)

// A List is where servers are looked for, and where decisions are kept.
type List struct {
	// User is the person's own file. What it names is used as it is.
	User string
	// Vault is the folder whose files name servers too; "" for none. Those are
	// never used before a person agreed.
	Vault string
	// Dir keeps the decisions.
	Dir string
	Now func() time.Time
	// Env looks a variable up.
	Env func(string) (string, bool)
}

// A State is whether a server may be used.
type State string

// The states.
const (
	Ready    State = "ready"
	Asks     State = "needs consent"  // a file in the vault names it, and nobody was asked
	Changed  State = "changed"        // it is not what a person agreed to
	Denied   State = "denied"         // a person said no
	Disabled State = "disabled"       // its file says so
	Broken   State = "cannot be used" // see Why
)

// An Entry is one server of a file.
type Entry struct {
	configfile.Server
	Key     string // the same for one server of one file's owner, whatever it does
	File    string
	InVault bool
	Digest  string // of all that a person agrees to
	State   State
	Why     string // of a state that is not Ready
	// Warnings are what a person should know before agreeing.
	Warnings []string
}

// Trouble is a file that could not be read. The others can.
type Trouble struct {
	File string
	Err  error
}

// vaultFiles are those in which other programs look for a project's servers.
var vaultFiles = []string{".mcp.json", filepath.Join(".vscode", "mcp.json"), filepath.Join(".cursor", "mcp.json")}

// Files lists the files that are looked at, whether they exist or not.
func (r *List) Files() []string {
	out := []string{r.User}
	if r.Vault != "" {
		for _, f := range vaultFiles {
			out = append(out, filepath.Join(r.Vault, f))
		}
	}
	return out
}

// List reads all files. Of several servers with one name the first counts: the
// person's own file stands before those of the vault.
func (r *List) List() ([]Entry, []Trouble) {
	said, err := r.consents()
	var out []Entry
	var bad []Trouble
	if err != nil {
		bad = append(bad, Trouble{r.consentFile(), err})
	}
	for i, file := range r.Files() {
		list, err := r.read(file, i > 0)
		if err != nil {
			bad = append(bad, Trouble{file, err})
			continue
		}
		for _, s := range list {
			out = append(out, r.entry(s, file, i > 0, said, out))
		}
	}
	return out, bad
}

// Find returns the server of that name that counts.
func (r *List) Find(name string) (Entry, error) {
	list, bad := r.List()
	var names []string
	for _, e := range list {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	for _, b := range bad {
		return Entry{}, fmt.Errorf("%s: %w", b.File, b.Err)
	}
	fix := "use one of " + strings.Join(names, ", ")
	if len(names) == 0 {
		fix = "add servers to " + r.User
	}
	return Entry{}, fault.Fix(fault.NotFound, fix, "unknown server %q", name)
}

// mostInVault is how large a file in a vault may be.
const mostInVault = 1 << 20

// read reads one file; one that is not there names nothing. In a vault it must
// be a file of its own: a link could lead to another program's.
func (r *List) read(file string, inVault bool) ([]configfile.Server, error) {
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case inVault && (!info.Mode().IsRegular() || r.linked(filepath.Dir(file))):
		return nil, fault.New(fault.Unsafe, "it is not a regular file")
	case inVault && info.Size() > mostInVault:
		return nil, fault.New(fault.TooLarge, "it is larger than %d MB", mostInVault>>20)
	}
	text, err := configfile.ReadText(file)
	if err != nil {
		return nil, err
	}
	return configfile.Parse(text)
}

// linked reports whether a folder below the vault is a link.
func (r *List) linked(dir string) bool {
	if dir == filepath.Clean(r.Vault) {
		return false
	}
	info, err := os.Lstat(dir)
	return err != nil || !info.IsDir()
}

// entry judges one server.
func (r *List) entry(s configfile.Server, file string, inVault bool, said map[string]consent, before []Entry) Entry {
	e := Entry{Server: s, File: file, InVault: inVault, Key: "user:" + s.Name, State: Ready}
	if inVault {
		e.Key = r.Vault + ":" + s.Name
		e.Warnings = r.warnings(s)
	}
	e.Digest = r.digest(e)
	known, asked := said[e.Key]
	first := slices.IndexFunc(before, func(o Entry) bool { return o.Name == s.Name })
	switch {
	case first >= 0:
		e.State, e.Why = Broken, fmt.Sprintf("%s also defines the server %q, and that entry is used", before[first].File, s.Name)
	case s.Problem != nil:
		e.State, e.Why = Broken, s.Problem.Error()
	case s.Disabled:
		e.State, e.Why = Disabled, "it is turned off in its file"
	case asked && known.Denied:
		e.State, e.Why = Denied, "you denied it; run lore servers allow to change that"
	case !inVault:
	case !asked:
		e.State, e.Why = Asks, "it is defined in the vault; see lore servers allow "+s.Name
	case known.Digest != e.Digest:
		e.State, e.Why = Changed, "it changed since you allowed it; see lore servers allow "+s.Name
	}
	return e
}

// digest covers all that a person agrees to: what is started or called, where,
// and what a file of variables adds to it.
func (r *List) digest(e Entry) string { return digestWith(e, r.envDigest(e)) }

func digestWith(e Entry, env string) string {
	h := sha256.New()
	for _, part := range []string{"lore consent 1", e.Key, e.Server.Digest(), env} {
		fmt.Fprintf(h, "%d:%s\n", len(part), part)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func (r *List) envDigest(e Entry) string {
	file := r.envFile(e)
	if file == "" {
		return ""
	}
	text, err := configfile.ReadText(file)
	if err != nil {
		return "unreadable"
	}
	return textDigest(text)
}

func textDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// envFile is the path of the file of variables of an entry; "" when it has none.
// What cannot be expanded cannot be started either.
func (r *List) envFile(e Entry) string {
	s, err := configfile.Server{Name: e.Name, EnvFile: e.EnvFile}.Expand(r.lookup(e))
	if e.EnvFile == "" || err != nil {
		return e.EnvFile
	}
	return r.path(e, s.EnvFile)
}

// EnvFiles lists the files of variables that entries refer to.
func (r *List) EnvFiles(list []Entry) []string {
	var out []string
	for _, e := range list {
		if file := r.envFile(e); file != "" {
			out = append(out, file)
		}
	}
	return out
}

// path is a path of an entry, taken from where its file speaks of.
func (r *List) path(e Entry, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	if e.InVault {
		return filepath.Join(r.Vault, p)
	}
	return filepath.Join(filepath.Dir(e.File), p)
}

// warnings looks for what agreeing does not cover.
func (r *List) warnings(s configfile.Server) []string {
	var out []string
	for _, in := range s.Inputs {
		if in.Default != "" && !in.Password {
			out = append(out, fmt.Sprintf("${input:%s} stands for %q", in.ID, in.Default))
		}
	}
	for _, word := range append([]string{s.Command, s.EnvFile}, s.Args...) {
		word = strings.ReplaceAll(word, "${workspaceFolder}", r.Vault)
		if word == "" || strings.HasPrefix(word, "-") {
			continue
		}
		p := word
		if !filepath.IsAbs(p) {
			p = filepath.Join(r.Vault, p)
		}
		rel, err := filepath.Rel(r.Vault, p)
		if err != nil || rel == "." || !filepath.IsLocal(rel) {
			continue
		}
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			out = append(out, fmt.Sprintf("%s is in the vault: anyone who can change that file can change what the server does", rel))
		}
	}
	return out
}
