package tool

import (
	"cmp"
	"strings"
)

// Help is what the command of a tool shows people. The description of a tool is
// written for models; an input struct with a method Help has a text of its own
// for people, in the same file.
type Help struct {
	// Short says in one line what the command does: "Search notes by words and
	// meaning".
	Short string
	// Long is what a person should know beside that; may be empty.
	Long string
	// Flags describes flags by name, where the comment of the argument is not
	// meant for people.
	Flags map[string]string
	// Examples are what a person types after the name of the command. Each works
	// in the sample vault.
	Examples []string
	// Hidden leaves the command out of the list of commands: it is another name
	// that models know for something that people have a command for.
	Hidden bool
}

// A Helper is an input struct with a text for people.
type Helper interface {
	Help() Help
}

// Summary says in one line what the tool does.
func (t *Tool) Summary() string {
	first, _, _ := strings.Cut(t.Doc, ". ")
	return cmp.Or(t.Help.Short, strings.TrimSuffix(first, "."))
}

// Command is what a person types for the tool at a terminal.
func (t *Tool) Command() string {
	switch {
	case t.Short != "":
		return t.Short
	case t.Set == External || t.Set == Own:
		return "call " + t.Name
	}
	return strings.ReplaceAll(t.Name, "_", "-")
}

// CommandLines are its examples as they are typed, after the word for its command.
func (t *Tool) CommandLines(word string) []string {
	var out []string
	for _, e := range t.Help.Examples {
		out = append(out, strings.TrimSpace("lore "+word+" "+e))
	}
	if out != nil {
		return out
	}
	for _, e := range t.Examples {
		out = append(out, "lore "+word+" "+e.Words)
	}
	return out
}
