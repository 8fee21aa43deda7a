// Package install is the command lore install: it shows what would change in the
// file of an MCP client, asks where it must, and says what was done. It knows no
// vault and no tool.
package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/mcpconfig"
	"lore/internal/mcpinstall"
	"lore/internal/policy"
	"lore/internal/surface/argv"
	"lore/internal/surface/draw"
	"lore/internal/surface/tty"
	"lore/internal/tool"
)

// A Host is what the command needs of the machine.
type Host struct {
	// Place says where the files of clients are looked for.
	Place func() (mcpconfig.Place, error)
	// Entry is how a client starts this program on the vault that is meant by
	// the flag --vault, which may be empty.
	Entry func(vault string, readOnly bool) (mcpconfig.Entry, error)
	Now   func() time.Time
}

// A Terminal is where the command is typed.
type Terminal struct {
	Vault    string // the flag --vault
	JSON     bool
	Out, Err io.Writer
	Screen   draw.Screen // what Out can show
	Notice   draw.Screen // what Err can show
	Encode   func(any) error
	Say      func(string)
	// Ask waits for y or n; ok is false when nobody answers.
	Ask func(ctx context.Context, text string) (yes, ok bool)
}

// A program is one run of the command.
type program struct {
	Terminal
	host     Host
	in       io.Reader
	o        mcpinstall.Options
	list     bool
	print    bool
	readOnly bool
	share    []string
	confirm  bool // the client may show approval dialogs itself
	trust    bool // also for what destroys
	yes, dry bool
}

// Command is lore install. The terminal is asked for when the command runs.
func Command(host Host, terminal func(*cobra.Command) Terminal) *cobra.Command {
	p := &program{host: host}
	cmd := &cobra.Command{
		Use: "install CLIENT", Short: "Give an AI program (Claude, Cursor, VS Code, Zed and others) hands on the vault",
		Long: `Adds Lore to the MCP servers of a client, for one vault. Only that entry of the
client's file is written; comments, order and every other byte stay, and the old
file is kept beside it. What the client asks Lore to change is still shown to
you first, on the page or in lore approvals.

The first time the client reads notes, Lore asks which folders you share with it.
With --share you decide now. Shared text may leave this machine.

With --confirm the client may show approval dialogs itself: anyone who controls the
client can approve. You confirm that in the terminal. Deletions and commands still
wait for you, unless you also pass --trust-client.`,
		Example: `lore install --list                          what is here, and where Lore is installed
lore install claude --vault ~/notes          Claude Desktop
lore install claude --share Work --share /   let it read Work and top-level notes
lore install cursor --dry-run                only show what would change
lore install claude-code --project           for the project in this folder
lore install zed --remove                    and take it out again
lore install --print                         for any other client`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Terminal, p.in = terminal(cmd), cmd.InOrStdin()
			return p.run(cmd.Context(), args)
		},
	}
	for _, c := range mcpconfig.Clients() {
		cmd.ValidArgs = append(cmd.ValidArgs, cobra.CompletionWithDesc(c.ID, c.Title))
	}
	f := cmd.Flags()
	f.BoolVar(&p.list, "list", false, "list the clients: where their files lie, and which of them have Lore")
	f.BoolVar(&p.o.Remove, "remove", false, "take Lore out of the client's file")
	f.BoolVar(&p.print, "print", false, "print what to paste, and write nothing")
	f.BoolVar(&p.o.Project, "project", false, "use the client's file in the current folder, for this project only")
	f.BoolVar(&p.readOnly, "read-only", false, "let the client read only")
	f.StringArrayVar(&p.share, "share", nil, "folder that the client may read without asking (repeatable; / for notes outside of folders, all for everything)")
	_ = f.SetAnnotation("share", argv.Placeholder, []string{"FOLDER"}) // the flag exists: see above
	f.BoolVar(&p.confirm, "confirm", false, "let the client show approval dialogs itself; anyone who controls the client can approve")
	f.BoolVar(&p.trust, "trust-client", false, "let its dialogs approve deletions and commands too (implies --confirm)")
	f.StringVar(&p.o.Name, "name", "lore", "the name of the entry, to have one for each of several vaults")
	_ = f.SetAnnotation("name", argv.Placeholder, []string{"NAME"}) // the flag exists: see above
	f.BoolVar(&p.dry, "dry-run", false, "show what would change, and change nothing")
	f.BoolVarP(&p.yes, "yes", "y", false, "replace an entry that is there without asking")
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
		questions = append(questions, "Let this client read "+strings.Join(p.share, ", ")+" without asking? Shared text may leave this machine.")
	}
	if p.confirm || p.trust {
		if p.readOnly {
			return fault.New(fault.Invalid, "--confirm and --read-only exclude each other: there is nothing to approve")
		}
		text := "Let this client show approval dialogs itself? Anyone who controls the client can approve."
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

// run does what the flags ask for.
func (p *program) run(ctx context.Context, args []string) error {
	const use = "write: lore install CLIENT, or lore install --list to see them"
	switch {
	case len(args) > 1:
		return fault.Fix(fault.Invalid, use, "lore install takes one client, got %d", len(args))
	case p.list && len(args) == 1:
		return fault.Fix(fault.Invalid, "write: lore install --list", "--list lists all clients")
	case p.list:
		return p.listClients()
	case len(args) == 0 && !p.print:
		return fault.Fix(fault.Invalid, use, "no client is named")
	case p.print && p.o.Remove:
		return fault.New(fault.Invalid, "--print and --remove exclude each other")
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
	states := mcpinstall.List(at, p.o.Name)
	if p.JSON {
		return p.Encode(struct {
			Clients []mcpinstall.Status `json:"clients"`
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
			state = "by hand: lore install " + s.Client + " --print"
		}
		rows = append(rows, []string{s.Client, s.Title, found, state, s.Path})
	}
	var b strings.Builder
	p.Screen.Table(&b, []string{"client", "program", "here", "lore", "file"}, rows)
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
func (p *program) change(ctx context.Context, at mcpconfig.Place) error {
	plan, err := mcpinstall.Make(at, p.o)
	if err != nil {
		return err
	}
	switch {
	case plan.State == mcpinstall.Same, plan.State == mcpinstall.Absent:
		return p.done(plan, "")
	case p.dry:
		return p.showPlan(plan)
	case plan.State == mcpinstall.Other && !p.yes:
		if err := p.askFirst(ctx, plan); err != nil {
			return err
		}
	}
	backup, err := plan.Write(p.host.Now())
	if err != nil {
		return err
	}
	return p.done(plan, backup)
}

// snippet prints what a person pastes. A client that is not known gets what
// most of them understand.
func (p *program) snippet(at mcpconfig.Place) error {
	var client, path string
	text := mcpconfig.Snippet(p.o.Name, p.o.Entry)
	if _, err := mcpconfig.ByID(p.o.Client); err == nil {
		plan, err := mcpinstall.Find(at, p.o)
		if err != nil {
			return err
		}
		client, path, text = plan.Client.ID, plan.Path, plan.Client.Snippet(p.o.Name, p.o.Entry)
	}
	if p.JSON {
		return p.Encode(map[string]string{"client": client, "path": path, "snippet": text})
	}
	if path != "" {
		p.Say("add this to " + path)
	}
	_, err := io.WriteString(p.Out, text)
	return err
}

// Shown is the change as a person sees it, without the lines around it and the
// secrets in it: the entries beside it may hold some, and may stand in one line
// with it.
func Shown(plan *mcpinstall.Plan) tool.FileChange {
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
	hunks := change.Diff(mcpconfig.ShownText(before), mcpconfig.ShownText(plan.After), change.DiffOptions{Context: -1, NoMarks: true})
	c.Added, c.Removed = change.Count(hunks)
	c.Hunks = len(hunks)
	c.Diff = change.Unified(plan.Path, plan.Path, hunks)
	return c
}

// showPlan is a dry run.
func (p *program) showPlan(plan *mcpinstall.Plan) error {
	if p.JSON {
		return p.Encode(answer{Success: true, DryRun: true, Client: plan.Client.ID, Path: plan.Path, Vault: plan.Vault, Action: "planned", Changes: []tool.FileChange{Shown(plan)}})
	}
	var b strings.Builder
	p.Screen.Change(&b, Shown(plan), true)
	if _, err := io.WriteString(p.Out, b.String()); err != nil {
		return err
	}
	p.Say("nothing was changed: this is the plan")
	return nil
}

// askFirst shows what an entry of the same name would become, and asks the
// person at the terminal. Where there is none, nothing is replaced.
func (p *program) askFirst(ctx context.Context, plan *mcpinstall.Plan) error {
	verb, fix := "replace", "say --yes to replace it, or --name to have another one beside it"
	if p.o.Remove {
		verb, fix = "remove", "say --yes to remove it"
	}
	if !p.JSON {
		var b strings.Builder
		p.Notice.Change(&b, Shown(plan), true)
		_, _ = io.WriteString(p.Err, b.String()) // nobody is left to tell
	}
	if p.JSON || !p.Notice.Terminal || !draw.AtTerminal(p.in) {
		return fault.Fix(fault.Invalid, fix, "%s has an entry %q with other content", plan.Path, p.o.Name)
	}
	yes, ok := p.Ask(ctx, "Do you want to "+verb+" the entry that is there?")
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
func (p *program) done(plan *mcpinstall.Plan, backup string) error {
	var action, text string
	next := ""
	switch {
	case plan.State == mcpinstall.Same:
		action, text = "none", "already installed in "+plan.Client.Title+" "+forVault(plan.Vault)
	case plan.State == mcpinstall.Absent:
		action, text = "none", "not installed in "+plan.Client.Title
	case p.o.Remove:
		action, text = "removed", "removed from "+plan.Client.Title
	case plan.State == mcpinstall.Other:
		action, text, next = "replaced", "installed in "+plan.Client.Title+" "+forVault(plan.Vault)+", in the place of what was there", plan.Client.Next
	default:
		action, text, next = "installed", "installed in "+plan.Client.Title+" "+forVault(plan.Vault), plan.Client.Next
	}
	if p.JSON {
		return p.Encode(answer{Success: true, Client: plan.Client.ID, Path: plan.Path, Vault: plan.Vault, Action: action, Backup: backup})
	}
	fmt.Fprintln(p.Err, p.Notice.Green(p.o.Name)+" is "+draw.OneLine(text)+": "+p.Notice.Path(draw.OneLine(plan.Path)))
	if backup != "" {
		p.Say("the file as it was: " + backup)
	}
	if next != "" && plan.Missing {
		p.Say(plan.Client.Title + " was not found here; it sees the file when it is installed.")
	} else if next != "" {
		p.Say("In " + plan.Client.Title + ": " + next + ".")
	}
	return nil
}
