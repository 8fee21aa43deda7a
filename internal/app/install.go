package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"lore/internal/fault"
	"lore/internal/home"
	"lore/internal/mcpconfig"
	"lore/internal/mcpinstall"
	"lore/internal/surface/install"
)

// installer is what lore install needs of this machine.
func (a *app) installer() install.Host {
	return install.Host{Place: a.place, Entry: a.entry, Now: a.now}
}

// place is this machine as the clients' files are found on it.
func (a *app) place() (mcpconfig.Place, error) {
	dir, err := os.UserHomeDir()
	if err != nil {
		return mcpconfig.Place{}, fault.Fix(fault.Invalid, "set $HOME", "no home folder: %v", err)
	}
	return mcpconfig.Place{OS: runtime.GOOS, Env: a.env, Home: dir}, nil
}

// entry is how a client will start this program on the vault that is meant.
func (a *app) entry(vault string, readOnly bool) (mcpconfig.Entry, error) {
	program, err := a.program()
	if err != nil {
		return mcpconfig.Entry{}, err
	}
	c, err := a.config().Read()
	if err != nil {
		return mcpconfig.Entry{}, err
	}
	dir, err := a.home().Vault(vault, c.Vault)
	if err != nil {
		return mcpconfig.Entry{}, err
	}
	abs, err := filepath.Abs(home.Expand(dir))
	if err != nil {
		return mcpconfig.Entry{}, fault.Field("vault", "", "%q: %v", dir, err)
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return mcpconfig.Entry{}, fault.Field("vault", "name the folder that holds your notes", "%q is no folder", dir)
	}
	return mcpinstall.Entry(program, abs, readOnly), nil
}

// program is the path by which clients will start Lore. A package manager's
// link on the PATH stands over the file it leads to, which the next upgrade
// removes.
func (a *app) program() (string, error) {
	exe, err := a.exe()
	if err != nil {
		return "", fault.Fix(fault.Unavailable, "start lore by its whole path", "the path of this program is not known: %v", err)
	}
	for dir := filepath.Dir(exe); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if strings.HasPrefix(filepath.Base(dir), "go-build") {
			return "", fault.Fix(fault.Invalid, "install lore first (go install ./cmd/lore, or make), and use that one",
				"%s is built for this one run, and gone after it", exe)
		}
	}
	if found, err := exec.LookPath("lore"); err == nil && filepath.IsAbs(found) && home.SameFolder(found, exe) {
		return found, nil
	}
	return exe, nil
}
