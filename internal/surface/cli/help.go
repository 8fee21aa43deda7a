package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lore/internal/surface/argv"
	"lore/internal/surface/draw"
)

const rootHelp = `Lore gives any mind safe hands on your notes.

It opens a folder of Markdown, understands it (words, meaning, links), answers
questions about it, and changes it: shown before it happens, recorded when it
does, and undone by lore undo. Reading a vault writes nothing into it.`

const rootExample = `lore demo                             copy a sample vault and look around in it
cd ~/notes && lore index              let Lore read your own notes once
lore search "how hot should it be"    then ask, by words or by meaning
lore rename Tea 'Drinks/Tea'          change something: you see it first
lore undo                             and take it back
lore tools                            see everything that can be asked`

const rootTail = `The vault is the folder given by --vault, else $LORE_VAULT, else the vault around
the folder you are in, else the default of the settings, else the folder you are
in, unless it is your home.

Exit codes: 0 done; 1 something did not work; 2 the request cannot be right and
nothing changed; 3 waits for approval; 4 not allowed; 130 interrupted.

Answers go to standard output and everything about them to standard error. With
--json the answer is one JSON object, errors too: {"success": false, "kind": ...}.

lore COMMAND --help tells more about a command.`

// help prints what a command does, with examples before flags: people look for
// what they can type.
func (p *program) help(cmd *cobra.Command, _ []string) {
	h := &helpText{s: p.screen}
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	h.prose(text)
	if cmd.HasParent() {
		use := cmd.UseLine()
		if cmd.HasAvailableSubCommands() {
			use = cmd.CommandPath() + "\n" + cmd.CommandPath() + " COMMAND"
		}
		h.block("Usage", use)
	}
	if words := alsoCalled(cmd); words != "" {
		h.block("Also called", words)
	}
	title := "Examples"
	if !cmd.HasParent() {
		title = "Begin"
	}
	h.block(title, cmd.Example)
	h.commands(cmd)
	h.flags("Flags", cmd.NonInheritedFlags(), func(f *pflag.Flag) bool { return cmd.HasParent() && f.Name != "help" })
	h.flags("Flags of every command", cmd.Root().PersistentFlags(), func(f *pflag.Flag) bool { return f.Name != "help" && f.Name != "version" })
	if !cmd.HasParent() {
		h.prose(rootTail)
	}
	_, _ = io.WriteString(p.out, strings.TrimPrefix(h.b.String(), "\n")) // nobody is left to tell
}

// alsoCalled lists the other names of a command; those of models come last.
func alsoCalled(cmd *cobra.Command) string { return strings.Join(cmd.Aliases, ", ") }

// A helpText collects the parts of a help page.
type helpText struct {
	b strings.Builder
	s draw.Screen
}

// prose writes paragraphs. Lines that are short are kept: they were broken by
// hand; long ones come from a comment and are wrapped.
func (h *helpText) prose(text string) {
	h.b.WriteByte('\n')
	for l := range strings.SplitSeq(text, "\n") {
		if draw.Cells(l) <= h.s.Width {
			h.b.WriteString(l + "\n")
			continue
		}
		for _, w := range h.s.Wrap(l, "") {
			h.b.WriteString(w + "\n")
		}
	}
}

func (h *helpText) block(title, text string) {
	if text == "" {
		return
	}
	h.b.WriteString("\n" + h.s.Bold(title+":") + "\n")
	for l := range strings.SplitSeq(text, "\n") {
		h.b.WriteString("  " + l + "\n")
	}
}

func (h *helpText) commands(cmd *cobra.Command) {
	groups := cmd.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands:"}}
	}
	for _, g := range groups {
		var rows [][2]string
		for _, c := range cmd.Commands() {
			if c.GroupID == g.ID && c.IsAvailableCommand() {
				rows = append(rows, [2]string{c.Name(), c.Short})
			}
		}
		h.rows(g.Title, rows)
	}
}

func (h *helpText) flags(title string, set *pflag.FlagSet, show func(*pflag.Flag) bool) {
	var rows [][2]string
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || !show(f) {
			return
		}
		rows = append(rows, [2]string{strings.TrimSpace("--" + f.Name + " " + flagValue(f)), flagDoc(f)})
	})
	h.rows(title+":", rows)
}

// rows writes two columns, the second wrapped beside the first.
func (h *helpText) rows(title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	h.b.WriteString("\n" + h.s.Bold(title) + "\n")
	left := 0
	for _, r := range rows {
		left = max(left, draw.Cells(r[0]))
	}
	column := draw.Screen{Width: max(30, h.s.Width-left-4)}
	for _, r := range rows {
		name := r[0]
		for _, l := range column.Wrap(r[1], "") {
			h.b.WriteString("  " + draw.Pad(name, left) + draw.Gap + l + "\n")
			name = ""
		}
	}
}

func flagValue(f *pflag.Flag) string {
	if v := f.Annotations[argv.Placeholder]; len(v) > 0 {
		return v[0]
	}
	switch f.Value.Type() {
	case "bool":
		return ""
	case "int":
		return "N"
	case "float64":
		return "NUMBER"
	case "stringSlice":
		return "A,B"
	case "stringToString":
		return "NAME=VALUE"
	}
	return "TEXT"
}

func flagDoc(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "false", "[]":
		return f.Usage
	}
	return fmt.Sprintf("%s (default %s)", f.Usage, f.DefValue)
}
