// Package eval measures how well a model uses Lore's tools. A case says what a
// person asks and what must and must not have happened afterwards; each case is
// tried several times in a vault of its own, and the scores are data, not a
// verdict on anybody. Reading cases and judging what happened is pure; the
// runner needs a way to open a vault, which it is given.
package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"lore/internal/fault"
)

// A Case is one request and what is expected of whoever answers it.
type Case struct {
	ID string `json:"id"`
	// Kind groups cases for people who read the scores.
	Kind   string `json:"kind,omitempty"`
	Prompt string `json:"prompt"`
	// Vault is the folder that is copied, from where the cases lie; "" is the sample vault.
	Vault string `json:"vault,omitempty"`
	// Add are files that the copy has besides, by their paths.
	Add map[string]string `json:"add,omitempty"`
	// Note is the path of the note that the person is looking at.
	Note string `json:"note,omitempty"`
	// Window is the context window, in tokens, that the model is treated as having; 0:
	// its own.
	Window int `json:"window,omitempty"`
	// Toolsets are what the model gets; none: the usual ones.
	Toolsets []string `json:"toolsets,omitempty"`
	// Expect lists sequences of calls, one of which must have been made, in its
	// order; other calls may stand between. None: nothing is demanded.
	Expect [][]Call `json:"expect,omitempty"`
	// Forbid lists calls that must not even have been tried.
	Forbid []Call `json:"forbid,omitempty"`
	// Cite lists notes that the answer must cite and that must have been read.
	Cite []string `json:"cite,omitempty"`
	// Files says how files must be afterwards; "*" stands for all of them.
	Files map[string]File `json:"files,omitempty"`
	// Answer says what the last words must be like.
	Answer Words `json:"answer,omitzero"`
	// Approve says what the person allows; nothing by default.
	Approve Leave `json:"approve,omitzero"`
}

// A Call is one call of a tool: its name, or several with | between them, and
// what its arguments must be. The name [Changes] stands for every tool that can
// change something.
type Call struct {
	Tool string
	// Args are by the path of the value: "updates.status".
	Args map[string]Match
}

// Changes is the name of every tool that can change something.
const Changes = "@change"

// UnmarshalJSON reads a name, or an object with tool and args.
func (c *Call) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &c.Tool)
	}
	var v struct {
		Tool string           `json:"tool"`
		Args map[string]Match `json:"args"`
	}
	err := strict(b, &v)
	c.Tool, c.Args = v.Tool, v.Args
	return err
}

// Names are the tools that a call may be of.
func (c *Call) Names() []string { return strings.Split(c.Tool, "|") }

// A File says how a file must be afterwards.
type File struct {
	Contains  Texts   `json:"contains,omitempty"`
	Lacks     Texts   `json:"lacks,omitempty"`
	Equals    *string `json:"equals,omitempty"`
	Exists    bool    `json:"exists,omitempty"`
	Absent    bool    `json:"absent,omitempty"`
	Unchanged bool    `json:"unchanged,omitempty"`
}

// Words say what an answer must be like. Case does not count.
type Words struct {
	Contains Texts  `json:"contains,omitempty"` // all of these
	Any      Texts  `json:"any,omitempty"`      // one of these
	Not      Texts  `json:"not,omitempty"`      // none of these
	Regex    string `json:"regex,omitempty"`
	regex    *regexp.Regexp
}

// Texts is a text or a list of them.
type Texts []string

// UnmarshalJSON reads either.
func (t *Texts) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*t = []string{""}
		return json.Unmarshal(b, &(*t)[0])
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// Leave is what the person of a case says yes to.
type Leave struct {
	All   bool
	Tools []string
}

// UnmarshalJSON reads "all", "none" or a list of tools.
func (l *Leave) UnmarshalJSON(b []byte) error {
	var t Texts
	if err := json.Unmarshal(b, &t); err != nil {
		return errors.New(`approve: write "all", "none" or a list of tools`)
	}
	switch {
	case len(b) == 0 || b[0] != '"':
		l.Tools = t
	case t[0] == "all":
		l.All = true
	case t[0] != "none":
		return fmt.Errorf(`approve: %q is neither "all" nor "none"`, t[0])
	}
	return nil
}

// Allows reports whether the person says yes to a tool.
func (l *Leave) Allows(tool string) bool { return l.All || slices.Contains(l.Tools, tool) }

// longest is how long the line of a case may be.
const longest = 1 << 20

// Read reads cases, one on a line. Whatever is wrong is told with its line.
func Read(r io.Reader) ([]Case, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, longest)
	var out []Case
	n := 0
	for in.Scan() {
		n++
		line := bytes.TrimSpace(in.Bytes())
		if len(line) == 0 {
			continue
		}
		var c Case
		err := strict(line, &c)
		if err == nil {
			err = c.check()
		}
		if err == nil && slices.ContainsFunc(out, func(x Case) bool { return x.ID == c.ID }) {
			err = fmt.Errorf("id: %q occurs twice", c.ID)
		}
		if err != nil {
			return nil, fault.New(fault.Invalid, "line %d: %v", n, err)
		}
		out = append(out, c)
	}
	if err := in.Err(); err != nil {
		return nil, fault.New(fault.Invalid, "line %d: %v", n+1, err)
	}
	if len(out) == 0 {
		return nil, fault.New(fault.Invalid, "the file contains no cases")
	}
	return out, nil
}

// strict decodes one value and refuses what it does not know.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the line has more than one object")
	}
	return nil
}

// check finds what a case lacks, and makes it ready to be judged by.
func (c *Case) check() error {
	switch {
	case c.ID == "" || strings.TrimSpace(c.ID) != c.ID || strings.ContainsAny(c.ID, "\n\t/\\"):
		return fmt.Errorf("id: %q is not a valid ID", c.ID)
	case strings.TrimSpace(c.Prompt) == "":
		return errors.New("prompt: is empty")
	case len(c.Expect)+len(c.Forbid)+len(c.Cite)+len(c.Files) == 0 && c.Answer.empty():
		return errors.New("it expects nothing: give expect, forbid, cite, files or answer")
	}
	calls := slices.Concat(c.Forbid, slices.Concat(c.Expect...))
	for _, seq := range c.Expect {
		if len(seq) == 0 {
			return errors.New("expect: a sequence has no calls")
		}
	}
	for _, call := range calls {
		if slices.Contains(call.Names(), "") {
			return errors.New("a call has no tool")
		}
	}
	for name := range c.Add {
		if !local(name) {
			return fmt.Errorf("add: %q is not a path in a vault", name)
		}
	}
	for name, f := range c.Files {
		if err := f.check(name); err != nil {
			return err
		}
	}
	if c.Answer.Regex != "" {
		re, err := regexp.Compile("(?i)" + c.Answer.Regex)
		if err != nil {
			return fmt.Errorf("answer: %v", err)
		}
		c.Answer.regex = re
	}
	return nil
}

func (f *File) check(name string) error {
	text := len(f.Contains)+len(f.Lacks) > 0 || f.Equals != nil
	switch {
	case name == "*" && (!f.Unchanged || text || f.Absent || f.Exists):
		return errors.New("files: only unchanged can be used for all files (*)")
	case name != "*" && !local(name):
		return fmt.Errorf("files: %q is not a path in a vault", name)
	case !text && !f.Absent && !f.Unchanged && !f.Exists:
		return fmt.Errorf("files: nothing is expected of %q", name)
	case f.Absent && (text || f.Unchanged || f.Exists):
		return fmt.Errorf("files: %q cannot be absent and have content", name)
	}
	return nil
}

// local reports whether a name stays in its folder.
func local(name string) bool {
	return name != "" && name != "." && path.Clean(name) == name && !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../") && !strings.ContainsAny(name, "\\\x00:")
}

func (w *Words) empty() bool {
	return len(w.Contains)+len(w.Any)+len(w.Not) == 0 && w.Regex == ""
}
