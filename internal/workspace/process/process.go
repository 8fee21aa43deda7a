// Package process tells which program a call or an answer comes from, as far as
// the system tells: the ancestors of a process, and the program that stands
// behind it. It decides nothing; see docs/persons.md for what the rule means.
package process

import (
	"os"
	"path"
	"slices"
	"strings"

	"lore/internal/tool/access"
)

// An Info is what the system tells of one process.
type Info struct {
	access.Process
	Parent int
	// Args are the words it was started with; nil where the system does not tell.
	Args []string
	// Leads says that it leads a session, as the shell of a terminal does.
	Leads bool
}

// A Table finds processes by their numbers.
type Table func(pid int) (Info, bool)

// deepest is how many ancestors are looked at.
const deepest = 64

// Line is a process and all its ancestors, nearest first.
func (t Table) Line(pid int) []access.Process {
	var out []access.Process
	for range deepest {
		info, ok := t(pid)
		if !ok {
			break
		}
		out = append(out, info.Process)
		if pid = info.Parent; pid <= 0 {
			break
		}
	}
	return out
}

// Program is the program that stands behind a process, nearest first: the first
// one, from pid upward, that does not merely start others, with the launchers on
// the way to it. It is nil when there is none before the person's own shell, a
// terminal or the system: then the call is the person's own.
//
// Nothing above that program counts. A person may have started it and the
// terminal in which they answer from one desktop, one editor or one shell.
func (t Table) Program(pid int) []access.Process {
	var out []access.Process
	for range deepest {
		info, ok := t(pid)
		if !ok || isPersons(info) {
			return nil
		}
		out = append(out, info.Process)
		if !isLauncher(info) {
			return out
		}
		pid = info.Parent
	}
	return nil
}

var shells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "tcsh", "csh", "ash", "busybox", "nu", "elvish", "xonsh", "pwsh"}

// launchers start another program and wait for it.
var launchers = []string{
	"env", "timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "script", "unbuffer", "time", "xargs", "strace", "ltrace", "sudo", "su", "doas", "runuser",
	"npx", "npm", "pnpm", "yarn", "bunx", "uvx", "pipx", "make", "gmake", "just", "bwrap", "firejail", "flatpak-spawn",
}

// surroundings are what persons work in: the system, terminals, and what keeps
// terminals.
var surroundings = []string{
	"init", "systemd", "launchd", "login", "sshd", "sshd-session", "cron", "crond", "atd", "tini", "dumb-init", "docker-init", "containerd-shim", "conmon",
	"tmux", "screen", "zellij", "dtach", "abduco", "mosh-server", "gnome-terminal-", "gnome-terminal", "konsole", "xterm", "urxvt", "rxvt", "st", "alacritty", "kitty",
	"wezterm-gui", "foot", "ghostty", "ptyxis", "ptyxis-agent", "tilix", "xfce4-terminal", "kgx", "Terminal", "iTerm2", "iTermServer", "explorer.exe", "WindowsTerminal.exe",
}

// base is the name of a program without its folder and what a title adds:
// "tmux: server" is tmux, "npm exec x" is npm, "-bash" is bash.
func base(name string) string {
	name, _, _ = strings.Cut(strings.TrimPrefix(path.Base(name), "-"), " ")
	return strings.TrimSuffix(name, ":")
}

// isPersons reports whether a process is a person's own surroundings.
func isPersons(i Info) bool {
	return i.PID <= 1 || slices.Contains(surroundings, base(i.Name)) || isShell(i) && isInteractive(i)
}

func isLauncher(i Info) bool { return isShell(i) || slices.Contains(launchers, base(i.Name)) }

func isShell(i Info) bool { return slices.Contains(shells, base(i.Name)) }

// isInteractive reports whether a shell reads what a person types: it was given
// neither a command nor a script. Where the words are not known, the shell that
// leads a session is taken for one.
func isInteractive(i Info) bool {
	if len(i.Args) == 0 {
		return i.Leads
	}
	for n := 1; n < len(i.Args); n++ {
		switch w := i.Args[n]; {
		case w == "--command":
			return false
		case w == "--init-file", w == "--rcfile", w == "-o", w == "-O", w == "+o", w == "+O":
			n++ // its value
		case strings.HasPrefix(w, "--"):
		case strings.HasPrefix(w, "-"), strings.HasPrefix(w, "+"):
			if strings.Contains(w, "c") {
				return false
			}
		default:
			return false // a script
		}
	}
	return true
}

// Behind is the program that started this one.
func Behind() []access.Process { return System().Program(os.Getppid()) }

// Own is this process and its ancestors.
func Own() []access.Process { return System().Line(os.Getpid()) }
