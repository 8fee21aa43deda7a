package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"lore/internal/doctor"
	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/mcpclient/configfile"
	"lore/internal/mcpclient/installer"
)

// place is this machine as the clients' files are found on it.
func (a *app) place() (configfile.Place, error) {
	dir, err := os.UserHomeDir()
	if err != nil {
		return configfile.Place{}, fault.Fix(fault.Invalid, "set $HOME", "the home folder cannot be determined: %v", err)
	}
	return configfile.Place{OS: runtime.GOOS, Env: a.env, Home: dir}, nil
}

// installed tells what apps may do with a vault by the way they were installed.
func (a *app) installed(vault string) []doctor.Finding {
	at, err := a.place()
	if err != nil {
		return nil // without a home folder no app is found
	}
	list, err := installer.Grants(at, vault)
	var out []doctor.Finding
	if err != nil {
		out = append(out, doctor.Finding{Level: "warning", Topic: "apps", Text: "an app's configuration file cannot be read: " + err.Error()})
	}
	note := func(g installer.Grant, topic, text string) {
		out = append(out, doctor.Finding{Level: "note", Topic: topic, Text: g.Title + " " + text, Fix: g.Revoke()})
	}
	for _, g := range list {
		if len(g.Folders) > 0 {
			note(g, "share", "may read "+strings.Join(g.Folders, ", ")+" without asking (--share)")
		}
		switch {
		case g.Trusted:
			note(g, "approve", "can approve all its changes in its own dialog, including deletions (--trust-client)")
		case g.Confirm:
			note(g, "approve", "can approve its changes in its own dialog (--confirm)")
		}
	}
	return out
}

// entry is how a client will start this program on the vault that is meant.
func (a *app) entry(vault string, readOnly bool) (configfile.Entry, error) {
	program, err := a.program()
	if err != nil {
		return configfile.Entry{}, err
	}
	c, err := a.config().Read()
	if err != nil {
		return configfile.Entry{}, err
	}
	dir, err := a.home().Vault(vault, c.Vault)
	if err != nil {
		return configfile.Entry{}, err
	}
	abs, err := filepath.Abs(home.Expand(dir))
	if err != nil {
		return configfile.Entry{}, fault.Field("vault", "", "%q: %v", dir, err)
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return configfile.Entry{}, fault.Field("vault", "give the folder that contains your notes", "%q is not a folder", dir)
	}
	return installer.Entry(program, abs, readOnly), nil
}

// program is the path by which clients will start Lore. A package manager's
// link on the PATH stands over the file it leads to, which the next upgrade
// removes.
func (a *app) program() (string, error) {
	exe, err := a.exe()
	if err != nil {
		return "", fault.Fix(fault.Unavailable, "start lore by its full path", "the path of this program is not known: %v", err)
	}
	for dir := filepath.Dir(exe); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if strings.HasPrefix(filepath.Base(dir), "go-build") {
			return "", fault.Fix(fault.Invalid, "install lore first (go install ./cmd/lore, or make), and use that one",
				"%s is a temporary build and will be deleted", exe)
		}
	}
	if found, err := exec.LookPath("lore"); err == nil && filepath.IsAbs(found) && home.SameFolder(found, exe) {
		return found, nil
	}
	return exe, nil
}
