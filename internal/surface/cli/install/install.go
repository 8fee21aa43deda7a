// Package install is the command lore install: it shows what would change in the
// file of an MCP client, asks where it must, and says what was done. It knows no
// vault and no tool.
package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/mcpclient/configfile"
	"lore/internal/mcpclient/installer"
	"lore/internal/surface"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/cli/tty"
	"lore/internal/tool"
	"lore/internal/tool/policy"
)

// A program is one run of the command.
type program struct {
	draw.Terminal
	host     surface.Clients
	now      func() time.Time
	in       io.Reader
	o        installer.Options
	list     bool
	print    bool
	readOnly bool
	share    []string
	confirm  bool // the client may show approval dialogs itself
	trust    bool // also for what destroys
	yes, dry bool
}

// Command is lore install. The terminal is asked for when the command runs.
func Command(host surface.Clients, now func() time.Time, terminal func(*cobra.Command) draw.Terminal) *cobra.Command {
	p := &program{host: host, now: now}
	cmd := &cobra.Command{
		Use: "install APP", Short: "Connect Claude, Cursor, VS Code, Zed and other AI apps",
		Long: `Adds Lore to an AI app's MCP servers, for one vault. Only Lore's entry in the app's
configuration file changes, and a backup of the file is kept next to it. Changes
that the app requests still wait for your approval, on the web page or in lore approvals.

The app can read all your notes, unless you limit it: with --share it reads only the
folders that you name. If you set approve.share to ask, Lore asks you which folders
to share when the app first reads notes. Notes that the app reads may leave this
computer. Use lore share to see and limit what apps can read.

With --confirm, the app may show approval dialogs itself, and anyone who controls the
app can approve. You confirm this in the terminal. Deletions and commands still wait
for you, unless you also pass --trust-client.`,
		Example: `lore install --list                         list supported apps
lore install claude --vault ~/notes         Claude Desktop
lore install claude --share Work            let it read only one folder
lore install cursor --dry-run               preview the change
lore install claude-code --project          only for the current project
lore install zed --remove                   remove Lore from Zed
lore install --print                        print an entry for any other app`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Terminal, p.in = terminal(cmd), cmd.InOrStdin()
			return p.run(cmd.Context(), args)
		},
	}
	for _, c := range configfile.Clients() {
		cmd.ValidArgs = append(cmd.ValidArgs, cobra.CompletionWithDesc(c.ID, c.Title))
	}
	f := cmd.Flags()
	f.BoolVar(&p.list, "list", false, "list supported apps, their configuration files, and which of them have Lore")
	f.BoolVar(&p.o.Remove, "remove", false, "remove Lore from the app's file")
	f.BoolVar(&p.print, "print", false, "print the entry to paste, and change nothing")
	f.BoolVar(&p.o.Project, "project", false, "use the app's file in the current folder, for this project only")
	f.BoolVar(&p.readOnly, "read-only", false, "offer no tools that change notes")
	f.StringArrayVar(&p.share, "share", nil, "let the app read only this folder, without asking (repeatable; / for top-level notes, all for everything)")
	_ = f.SetAnnotation("share", argv.Placeholder, []string{"FOLDER"}) // the flag exists: see above
	f.BoolVar(&p.confirm, "confirm", false, "let the app show approval dialogs itself; anyone who controls the app can approve")
	f.BoolVar(&p.trust, "trust-client", false, "let the app's dialogs approve deletions and commands too (implies --confirm)")
	f.StringVar(&p.o.Name, "name", "lore", "name of the entry; use different names for several vaults")
	_ = f.SetAnnotation("name", argv.Placeholder, []string{"NAME"}) // the flag exists: see above
	f.BoolVar(&p.dry, "dry-run", false, "show what would change, without changing anything")
	f.BoolVarP(&p.yes, "yes", "y", false, "replace or remove an existing entry without asking")
	return cmd
}

// grant writes into the entry which folders the client may read and whether it
// may show dialogs, when the person at the terminal confirms both. A --yes does
// not: a program could pass it.
func (p *program) grant(ctx context.Context) (err error) {
	var questions []string
	if len(p.share) > 0 {
		if _, err := policy.Choices(p.share); err != nil {
			return err
		}
		for _, folder := range p.share {
			p.o.Entry.Args = append(p.o.Entry.Args, "--share", folder)
		}
		vault := installer.VaultOf(p.o.Entry)
		for _, folder := range MissingFolders(vault, p.share) {
			p.Say("Warning: " + vault + " has no folder " + strconv.Quote(folder) + ".")
		}
		questions = append(questions, "Let this app read "+strings.Join(p.share, ", ")+" without asking? Shared text may leave this computer.")
	}
	if p.confirm || p.trust {
		if p.readOnly {
			return fault.New(fault.Invalid, "--confirm and --read-only cannot be combined: a read-only app has nothing to approve")
		}
		text := "Let this app show approval dialogs itself? Anyone who controls the app can approve."
		p.o.Entry.Args = append(p.o.Entry.Args, "--confirm")
		if p.trust {
			p.o.Entry.Args = append(p.o.Entry.Args, "--trust-client")
			text += " Deletions and commands too."
		}
		questions = append(questions, text)
	}
	if p.dry || p.print || len(questions) == 0 {
		return nil
	}
	t, err := tty.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	for _, text := range questions {
		yes, err := t.Confirm(ctx, text)
		if err != nil {
			return err
		}
		if !yes {
			return fault.New(fault.Cancelled, "not confirmed; nothing was changed")
		}
	}
	return nil
}

// MissingFolders are the folders, as a person types them, that a vault does not
// have.
func MissingFolders(vault string, folders []string) (out []string) {
	for _, typed := range folders {
		choice, err := policy.Choices([]string{typed})
		if err != nil || choice[0] == policy.Everything || choice[0] == policy.TopLevel {
			continue
		}
		if _, err := os.Stat(filepath.Join(vault, filepath.FromSlash(choice[0]))); errors.Is(err, fs.ErrNotExist) {
			out = append(out, strings.TrimSpace(typed))
		}
	}
	return out
}

// run does what the flags ask for.
func (p *program) run(ctx context.Context, args []string) error {
	const use = "usage: lore install APP; run lore install --list to list the apps"
	switch {
	case len(args) > 1:
		return fault.Fix(fault.Invalid, use, "lore install takes one app, got %d", len(args))
	case p.list && len(args) == 1:
		return fault.Fix(fault.Invalid, "usage: lore install --list", "--list takes no app")
	case p.list:
		return p.listClients()
	case len(args) == 0 && !p.print:
		return fault.Fix(fault.Invalid, use, "lore install needs the name of an app")
	case p.print && p.o.Remove:
		return fault.New(fault.Invalid, "--print and --remove cannot be combined")
	case len(args) == 1:
		p.o.Client = args[0]
	}
	at, err := p.host.Place()
	if err != nil {
		return err
	}
	if !p.o.Remove {
		if p.o.Entry, err = p.host.Entry(p.Vault, p.readOnly); err != nil {
			return err
		}
		if err := p.grant(ctx); err != nil {
			return err
		}
	}
	if p.print {
		return p.snippet(at)
	}
	return p.change(ctx, at)
}

func (p *program) listClients() error {
	at, err := p.host.Place()
	if err != nil {
		return err
	}
	states := installer.List(at, p.o.Name)
	if p.JSON {
		return p.Encode(struct {
			Clients []installer.Status `json:"clients"`
		}{states})
	}
	var rows [][]string
	for _, s := range states {
		found := "no"
		if s.Found {
			found = "yes"
		}
		state := "not installed"
		switch {
		case s.Problem != "" && !s.Installed:
			state = s.Problem
		case s.Problem != "":
			state = strings.TrimSpace("installed "+forVault(s.Vault)) + ", but " + s.Problem
		case s.Installed:
			state = "installed " + forVault(s.Vault)
		case s.ByHand:
			state = "manual: lore install " + s.Client + " --print"
		}
		rows = append(rows, []string{s.Client, s.Title, found, state, s.Path})
	}
	var b strings.Builder
	p.Screen.Table(&b, []string{"name", "app", "found", "lore", "file"}, rows)
	_, err = io.WriteString(p.Out, b.String())
	return err
}

func forVault(dir string) string {
	if dir == "" {
		return ""
	}
	return "for " + dir
}

// change plans, shows or asks where it has to, and writes.
func (p *program) change(ctx context.Context, at configfile.Place) error {
	plan, err := installer.Make(at, p.o)
	if err != nil {
		return err
	}
	switch {
	case plan.State == installer.Same, plan.State == installer.Absent:
		return p.done(plan, "")
	case p.dry:
		return p.showPlan(plan)
	case plan.State == installer.Other && !p.yes:
		if err := p.askFirst(ctx, plan); err != nil {
			return err
		}
	}
	backup, err := plan.Write(p.now())
	if err != nil {
		return err
	}
	return p.done(plan, backup)
}

// snippet prints what a person pastes. A client that is not known gets what
// most of them understand.
func (p *program) snippet(at configfile.Place) error {
	var client, path string
	text := configfile.Snippet(p.o.Name, p.o.Entry)
	if _, err := configfile.ByID(p.o.Client); err == nil {
		plan, err := installer.Find(at, p.o)
		if err != nil {
			return err
		}
		client, path, text = plan.Client.ID, plan.Path, plan.Client.Snippet(p.o.Name, p.o.Entry)
	}
	if p.JSON {
		return p.Encode(map[string]string{"client": client, "path": path, "snippet": text})
	}
	if path != "" {
		p.Say("Add this to " + path)
	}
	_, err := io.WriteString(p.Out, text)
	return err
}

// Shown is the change as a person sees it, without the lines around it and the
// secrets in it: the entries beside it may hold some, and may stand in one line
// with it.
func Shown(plan *installer.Plan) tool.FileChange {
	c := tool.FileChange{Path: plan.Path, Action: change.Replaces}
	before := ""
	switch {
	case plan.Before == nil:
		c.Action = change.Creates
	case plan.Drop:
		c.Action = change.Removes
	}
	if plan.Before != nil {
		before = *plan.Before
	}
	hunks := change.Diff(configfile.ShownText(before), configfile.ShownText(plan.After), change.DiffOptions{Context: -1, NoMarks: true})
	c.Added, c.Removed = change.Count(hunks)
	c.Hunks = len(hunks)
	c.Diff = change.Unified(plan.Path, plan.Path, hunks)
	return c
}

// showPlan is a dry run.
func (p *program) showPlan(plan *installer.Plan) error {
	if p.JSON {
		return p.Encode(answer{Success: true, DryRun: true, Client: plan.Client.ID, Path: plan.Path, Vault: plan.Vault, Action: "planned", Changes: []tool.FileChange{Shown(plan)}})
	}
	var b strings.Builder
	p.Screen.Change(&b, Shown(plan), true)
	if _, err := io.WriteString(p.Out, b.String()); err != nil {
		return err
	}
	p.Say("Dry run: nothing was changed.")
	return nil
}

// askFirst shows what an entry of the same name would become, and asks the
// person at the terminal. Where there is none, nothing is replaced.
func (p *program) askFirst(ctx context.Context, plan *installer.Plan) error {
	verb, fix := "Replace", "add --yes to replace it, or --name to add another entry"
	if p.o.Remove {
		verb, fix = "Remove", "add --yes to remove it"
	}
	if !p.JSON {
		var b strings.Builder
		p.Notice.Change(&b, Shown(plan), true)
		_, _ = io.WriteString(p.Err, b.String()) // nobody is left to tell
	}
	if p.JSON || !p.Notice.Terminal || !draw.AtTerminal(p.in) {
		return fault.Fix(fault.Invalid, fix, "%s already has a different entry %q", plan.Path, p.o.Name)
	}
	yes, ok := p.Ask(ctx, verb+" the existing entry?")
	switch {
	case !ok:
		fmt.Fprintln(p.Err)
		return fault.New(fault.Cancelled, "interrupted; nothing was changed")
	case !yes:
		return fault.New(fault.Denied, "nothing was changed")
	}
	return nil
}

// An answer is what programs are told.
type answer struct {
	Success bool              `json:"success"`
	DryRun  bool              `json:"dry_run,omitempty"`
	Client  string            `json:"client"`
	Path    string            `json:"path"`
	Vault   string            `json:"vault,omitempty"`
	Action  string            `json:"action"` // planned, installed, replaced, removed or none
	Backup  string            `json:"backup,omitempty"`
	Changes []tool.FileChange `json:"changes,omitempty"`
}

// done tells what was done.
func (p *program) done(plan *installer.Plan, backup string) error {
	var action, text string
	next := ""
	switch {
	case plan.State == installer.Same:
		action, text = "none", "already installed in "+plan.Client.Title+" "+forVault(plan.Vault)
	case plan.State == installer.Absent:
		action, text = "none", "not installed in "+plan.Client.Title
	case p.o.Remove:
		action, text = "removed", "removed from "+plan.Client.Title
	case plan.State == installer.Other:
		action, text, next = "replaced", "installed in "+plan.Client.Title+" "+forVault(plan.Vault)+", replacing the previous entry", plan.Client.Next
	default:
		action, text, next = "installed", "installed in "+plan.Client.Title+" "+forVault(plan.Vault), plan.Client.Next
	}
	if p.JSON {
		return p.Encode(answer{Success: true, Client: plan.Client.ID, Path: plan.Path, Vault: plan.Vault, Action: action, Backup: backup})
	}
	fmt.Fprintln(p.Err, p.Notice.Green(p.o.Name)+" is "+draw.OneLine(text)+": "+p.Notice.Path(draw.OneLine(plan.Path)))
	if backup != "" {
		p.Say("Backup: " + backup)
	}
	if next != "" && plan.Missing {
		p.Say(plan.Client.Title + " was not found on this computer; it will read the file once it is installed.")
	} else if next != "" {
		p.Say("In " + plan.Client.Title + ": " + next + ".")
	}
	return nil
}
