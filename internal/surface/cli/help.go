package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
)

const rootHelp = `Lore lets you and any AI search and edit your notes, safely.

It works on a folder of Markdown files and searches it by words, meaning and links.
Lore shows every change before it makes it, records it, and can undo it. Reading a
vault writes nothing into it.`

const rootExample = `lore demo                             try Lore on a sample vault
cd ~/notes && lore index              index your own notes
lore search "how hot should it be"    search by words and meaning
lore rename Tea 'Drinks/Tea'          review a change, then apply it
lore undo                             undo the last change`

const rootTail = `Lore uses the first of these as the vault: --vault, $LORE_VAULT, the vault that the
current folder belongs to, the default vault in lore config, the current folder
(unless it is your home folder).

Exit codes: 0 success; 1 error; 2 invalid request, nothing changed; 3 waiting for
approval; 4 not allowed; 130 interrupted.

Results go to standard output, messages to standard error. With --json, the result
is one JSON object, and so are errors: {"success": false, "kind": ...}.

Run lore COMMAND --help for more about a command.`

// The groups of commands in the help of lore.
const (
	groupRead    = "read"
	groupEdit    = "edit"
	groupGraph   = "graph"
	groupModels  = "models"
	groupReview  = "review"
	groupConnect = "connect"
	groupSetup   = "setup"
)

func groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: groupRead, Title: "Search and read:"}, {ID: groupEdit, Title: "Edit notes:"}, {ID: groupGraph, Title: "Knowledge graph:"},
		{ID: groupModels, Title: "AI models:"}, {ID: groupReview, Title: "Permissions:"}, {ID: groupConnect, Title: "Connect apps:"}, {ID: groupSetup, Title: "Setup:"},
	}
}

// groupOf is the group of a command that is not a tool.
func groupOf(name string) string {
	switch name {
	case "ask", "run", "chat", "models", "key", "eval":
		return groupModels
	case "approvals", "share", "audit":
		return groupReview
	case "acp", "call", "install", "login", "mcp", "serve", "servers", "sessions", "token", "tools":
		return groupConnect
	}
	return groupSetup
}

// help prints what a command does, with examples before flags: people look for
// what they can type.
func (p *program) help(cmd *cobra.Command, _ []string) {
	h := &helpText{s: p.screen}
	h.s.Width = min(h.s.Width, helpWidth)
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
		h.block("Aliases", words)
	}
	h.examples(cmd.Example)
	h.commands(cmd)
	h.flags("Flags", cmd.NonInheritedFlags(), func(f *pflag.Flag) bool { return cmd.HasParent() && f.Name != "help" })
	h.flags("Global flags", cmd.Root().PersistentFlags(), func(f *pflag.Flag) bool { return f.Name != "help" && f.Name != "version" })
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

// helpWidth is the most that a line of help takes, however wide the screen is.
const helpWidth = 80

// prose writes paragraphs, wrapped to the screen. Lines that begin with a space
// are meant as they are.
func (h *helpText) prose(text string) {
	h.b.WriteByte('\n')
	var paragraph []string
	flush := func() {
		for _, l := range h.s.Wrap(strings.Join(paragraph, " "), "") {
			h.b.WriteString(l + "\n")
		}
		paragraph = nil
	}
	for l := range strings.SplitSeq(text, "\n") {
		if l != "" && !strings.HasPrefix(l, " ") {
			paragraph = append(paragraph, l)
			continue
		}
		flush()
		h.b.WriteString(l + "\n")
	}
	flush()
}

// examples writes commands. A comment that stands behind a command goes below it
// where the screen is too narrow for both.
func (h *helpText) examples(text string) {
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		command, comment, ok := strings.Cut(l, "   ")
		if !ok || draw.Cells(l)+2 <= h.s.Width {
			out = append(out, l)
			continue
		}
		out = append(out, command, "    "+strings.TrimSpace(comment))
	}
	h.block("Examples", strings.Join(out, "\n"))
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
	column := draw.Screen{Width: h.s.Width - left - 4}
	for _, r := range rows {
		name := r[0]
		if column.Width < leastColumn { // the text goes below the name
			h.b.WriteString("  " + name + "\n" + strings.Join(h.s.Wrap(r[1], "      "), "\n") + "\n")
			continue
		}
		for _, l := range column.Wrap(r[1], "") {
			h.b.WriteString("  " + draw.Pad(name, left) + draw.Gap + l + "\n")
			name = ""
		}
	}
}

// leastColumn is the width below which a second column cannot be read.
const leastColumn = 30

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
	case "", "0", "0s", "false", "[]":
		return f.Usage
	}
	return fmt.Sprintf("%s (default %s)", f.Usage, strings.Trim(f.DefValue, "[]"))
}
