package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lore/internal/mcpclient/configfile"
)

// A Grant is what a client may do because of the flags in Lore's entry: read
// folders without a question, or confirm changes in its own dialog. It lies in the
// client's own file.
type Grant struct {
	Client string `json:"client"`
	Title  string `json:"title"`
	Name   string `json:"name"` // of the entry
	Path   string `json:"path"` // of the file
	Vault  string `json:"vault"`
	// Folders are as they were typed: a folder, / or all.
	Folders []string `json:"folders"`
	// Confirm says that the client's dialog counts, Trusted that it counts for
	// deletions and commands, too.
	Confirm bool `json:"confirm,omitempty"`
	Trusted bool `json:"trusted,omitempty"`
	// Project says that the file lies in the vault, for sessions that are started
	// there.
	Project bool `json:"project,omitempty"`
}

// Grants lists what the clients of this machine may do with a vault by their
// entries: those in the user's files, and those in the project files of the vault's
// folder. A file that cannot be read is a problem; the others are still listed.
func Grants(at configfile.Place, vault string) (out []Grant, problems error) {
	for _, c := range configfile.Clients() {
		own, _ := c.Path(at, exists)
		files := []string{own}
		if c.Project != "" {
			files = append(files, filepath.Join(vault, filepath.FromSlash(c.Project)))
		}
		for i, path := range files {
			list, err := configfile.Read(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				problems = errors.Join(problems, err)
			}
			for _, s := range list {
				g := grantOf(configfile.Entry{Command: s.Command, Args: s.Args})
				if len(g.Folders) == 0 && !g.Confirm || !isSameFolder(g.Vault, vault) {
					continue
				}
				g.Client, g.Title, g.Name, g.Path, g.Project = c.ID, c.Title, s.Name, path, i > 0
				out = append(out, g)
			}
		}
	}
	return out, problems
}

// grantOf is what an entry of Lore's allows.
func grantOf(e configfile.Entry) Grant {
	g := Grant{Vault: VaultOf(e)}
	if g.Vault == "" {
		return g
	}
	for i, arg := range e.Args {
		if folder, ok := strings.CutPrefix(arg, "--share="); ok {
			g.Folders = append(g.Folders, folder)
		} else if arg == "--share" && i+1 < len(e.Args) {
			g.Folders = append(g.Folders, e.Args[i+1])
		}
	}
	has := func(flag string) bool {
		return slices.ContainsFunc(e.Args, func(a string) bool { return a == flag || strings.HasPrefix(a, flag+"=") && a != flag+"=false" })
	}
	g.Trusted = has("--trust-client")
	g.Confirm = g.Trusted || has("--confirm")
	return g
}

// plainName are names that mean the same in every shell.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Revoke says how to take the grant back: a command, or the file to edit.
func (g Grant) Revoke() string {
	switch {
	case g.Project, !plainName.MatchString(g.Name):
		return "edit " + g.Path
	case g.Name == "lore":
		return "lore install " + g.Client
	}
	return "lore install " + g.Client + " --name " + g.Name
}

func isSameFolder(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}
