// Package configfile reads and edits the configuration files of MCP clients:
// where each client keeps its file, how a server is written in it, how one entry
// is added or taken out without touching any other byte, and what servers a file
// names. It knows no vault, writes no file, and starts no server.
package configfile

import (
	"errors"
	"fmt"
	"strings"

	"lore/internal/fault"
)

// An Entry is a server that a client starts as a program and talks to over its
// standard input and output.
type Entry struct {
	Command string
	Args    []string
}

// A form is how one family of clients writes its servers.
type form struct {
	group  string // the object or table that holds them
	toml   bool
	fields func(Entry) []field
}

func plainFields(e Entry) []field {
	return []field{{"command", e.Command}, {"args", e.Args}}
}

func typedFields(e Entry) []field {
	return append([]field{{"type", "stdio"}}, plainFields(e)...)
}

// generic is what most clients read.
var generic = form{group: "mcpServers", fields: plainFields}

// Editable reports whether the client's file can be edited; of the others only
// the snippet is known.
func (c Client) Editable() bool { return c.snippet == nil }

// Put sets the server called name in the text of the client's file, and leaves
// every other byte as it is. A text that cannot be read is refused.
func (c Client) Put(text, name string, e Entry) (string, error) {
	return c.edit(text, name, func() (string, error) {
		if c.form.toml {
			return putTOML(text, c.form.group, name, c.form.fields(e))
		}
		return putJSON(text, c.form.group, name, c.form.fields(e))
	})
}

// Remove takes the server called name out of the text. What Put added is gone
// again to the last byte.
func (c Client) Remove(text, name string) (string, error) {
	return c.edit(text, name, func() (string, error) {
		if c.form.toml {
			return removeTOML(text, c.form.group, name)
		}
		return removeJSON(text, c.form.group, name)
	})
}

// edit makes a change and reads what came of it: when anything but the entry
// differs, nothing is returned.
func (c Client) edit(text, name string, f func() (string, error)) (string, error) {
	if !c.Editable() {
		return "", fault.New(fault.Invalid, "Lore cannot edit %s's configuration file", c.Title)
	}
	check := checkJSON
	if c.form.toml {
		check = checkTOML
	}
	out, err := f()
	if err == nil {
		err = check(text, out, c.form.group, name)
	}
	if errors.Is(err, errSplice) {
		return "", fault.Fix(fault.Invalid, "edit the file by hand", "%s.%s is written in a way that Lore cannot edit", c.form.group, name)
	}
	return out, err
}

// Find returns the server called name as the text has it. ok is false when there
// is none; an entry that starts no program is empty.
func (c Client) Find(text, name string) (e Entry, ok bool, err error) {
	if !c.Editable() {
		return Entry{}, false, nil
	}
	if c.form.toml {
		t, err := findTOML(text, c.form.group, name)
		e.Command, _ = t["command"].(string)
		e.Args = tomlStrings(t["args"])
		return e, t != nil, err
	}
	d, err := parse(text)
	if err != nil || d.blank {
		return Entry{}, false, err
	}
	if err := mustBeObject(d.root, "the whole text"); err != nil {
		return Entry{}, false, err
	}
	found := d.root
	for _, key := range []string{c.form.group, name} {
		at, err := found.find(key)
		if err != nil || at < 0 {
			return Entry{}, false, err
		}
		found = found.members[at].value
	}
	for _, m := range found.members {
		switch m.key {
		case "command":
			e.Command = m.value.text
		case "args":
			for _, item := range m.value.items {
				e.Args = append(e.Args, item.text)
			}
		}
	}
	return e, true, nil
}

// Snippet is what a person adds to the client's file by hand.
func (c Client) Snippet(name string, e Entry) string {
	if c.snippet != nil {
		return c.snippet(name, e)
	}
	if c.form.toml {
		return appendTOML("", c.form.group, name, c.form.fields(e))
	}
	return (&doc{blank: true}).putRoot(c.form.group, name, c.form.fields(e))
}

// Snippet is what most MCP clients understand.
func Snippet(name string, e Entry) string {
	return Client{form: generic}.Snippet(name, e)
}

func gooseSnippet(name string, e Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "extensions:\n  %s:\n    enabled: true\n    type: stdio\n    name: %s\n    cmd: %s\n    args:\n", name, name, quote(e.Command))
	for _, a := range e.Args {
		fmt.Fprintf(&b, "      - %s\n", quote(a))
	}
	b.WriteString("    envs: {}\n    timeout: 300\n")
	return b.String()
}

func opencodeSnippet(name string, e Entry) string {
	all := field{"command", append([]string{e.Command}, e.Args...)}
	return (&doc{blank: true}).putRoot("mcp", name, []field{{"type", "local"}, all})
}
