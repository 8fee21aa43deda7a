// Package workflow reads workflows: steps in YAML whose results feed the next ones.
// It checks them, draws them and walks through their steps; what a step does is for
// its caller, who makes the calls.
package workflow

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The bounds of a workflow.
const (
	MaxSteps  = 50
	MaxCalls  = 200
	MaxRepeat = 100 // of one loop
	usual     = 20  // repeats of a loop that names no bound
	maxBytes  = 64 << 10
)

// A Workflow is one file, checked.
type Workflow struct {
	Name        string
	Description string
	Inputs      []Input
	Steps       []Step
	Outputs     []Output
	On          Trigger
	Allow       Allowance
	// Text is what the workflow was read from, and Hash identifies it.
	Text string
	Hash string
}

// An Input is a value that whoever runs the workflow gives.
type Input struct {
	Name        string `json:"name"`
	Type        string `json:"type"` // text, number, boolean, list or any
	Description string `json:"description,omitempty"`
	Default     any    `json:"default,omitempty"`
	Required    bool   `json:"required"`
}

// A Step is one call, or one for each item of a list.
type Step struct {
	ID        string
	Tool      string
	Arguments map[string]any // texts may hold {{ expressions }}
	If        *Expression    // nil: always
	ForEach   *Expression    // nil: once
	Max       int            // repeats of a loop
	Line      int
}

// An Output is a value that the workflow answers.
type Output struct {
	Name  string
	Value any
}

// A Problem is what is wrong with a workflow, and what to write.
type Problem struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// String is the problem in one line.
func (p Problem) String() string {
	text := fmt.Sprintf("line %d: %s", p.Line, p.Message)
	if p.Fix != "" {
		text += "; " + p.Fix
	}
	return text
}

// IsFile reports whether a file can hold a workflow by its name.
func IsFile(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".md"}, strings.ToLower(path.Ext(name)))
}

// A parser collects what is wrong.
type parser struct {
	offset   int // lines before the YAML
	problems []Problem
	ids      []string // of the steps so far
	inputs   []string
	looping  bool
}

func (p *parser) wrong(n *yaml.Node, fix, format string, args ...any) {
	line := p.offset + 1
	if n != nil {
		line = p.offset + n.Line
	}
	p.problems = append(p.problems, Problem{line, fmt.Sprintf(format, args...), fix})
}

// Parse reads a workflow from the text of a file: YAML, or a note with a block of
// YAML. With problems, the workflow holds what could be read.
func Parse(file, text string) (Workflow, []Problem) {
	sum := sha256.Sum256([]byte(text))
	w := Workflow{Name: strings.TrimSuffix(path.Base(file), path.Ext(file)), Text: text, Hash: hex.EncodeToString(sum[:])}
	p := &parser{}
	if len(text) > maxBytes {
		p.wrong(nil, "make it shorter", "the file has %d bytes; the limit is %d", len(text), maxBytes)
		return w, p.problems
	}
	source := text
	if strings.EqualFold(path.Ext(file), ".md") {
		var ok bool
		if source, p.offset, ok = block(text); !ok {
			p.wrong(nil, "write the workflow in a block that begins with ```yaml", "the note has no block of YAML")
			return w, p.problems
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(source), &doc); err != nil {
		p.wrong(nil, "check the indentation and the quotes", "this is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return w, p.problems
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		p.wrong(nil, "begin with steps:", "the workflow is empty")
		return w, p.problems
	}
	p.workflow(doc.Content[0], &w)
	return w, p.problems
}

// block is the first block of YAML in a note, and how many lines precede it.
func block(text string) (source string, before int, ok bool) {
	fence := ""
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case ok && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "":
			return b.String(), before, true
		case ok:
			b.WriteString(line + "\n")
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			word := strings.ToLower(strings.TrimSpace(strings.TrimLeft(trimmed, "`~")))
			if word == "yaml" || word == "yml" || word == "workflow" {
				ok, before = true, i+1
				fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
			}
		}
	}
	return b.String(), before, ok
}

// fields walks through a mapping. Keys that are not known or stand twice are
// problems.
func (p *parser) fields(n *yaml.Node, what string, known []string, each func(key string, k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		p.wrong(n, "write name: value lines", "%s must have fields", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case v.Kind == yaml.AliasNode || v.Anchor != "" || k.Value == "<<":
			p.wrong(k, "write the value out", "anchors and aliases are not supported")
		case seen[k.Value]:
			p.wrong(k, "keep one of them", "%s has %s twice", what, k.Value)
		case known != nil && !slices.Contains(known, k.Value):
			p.wrong(k, "known fields: "+strings.Join(known, ", "), "%s has the unknown field %q", what, k.Value)
		default:
			each(k.Value, k, v)
		}
		seen[k.Value] = true
	}
}

func (p *parser) workflow(n *yaml.Node, w *Workflow) {
	var steps, outputs *yaml.Node
	w.Allow = Allowance{Files: usualFiles, Runs: usualRuns}
	p.fields(n, "the workflow", []string{"name", "description", "on", "allow", "inputs", "steps", "outputs"}, func(key string, k, v *yaml.Node) {
		switch key {
		case "name":
			if text := p.text(v, "name"); text != "" {
				w.Name = text
			}
		case "description":
			w.Description = p.text(v, "description")
		case "on":
			w.On = p.trigger(v)
		case "allow":
			w.Allow = p.allowance(v)
		case "inputs":
			p.fields(v, "inputs", nil, func(name string, k, v *yaml.Node) { w.Inputs = append(w.Inputs, p.input(name, k, v)) })
		case "steps":
			steps = v
		case "outputs":
			outputs = v
		}
	})
	switch {
	case steps == nil:
		p.wrong(n, "add steps: with at least one - tool: line", "the workflow has no steps")
		return
	case steps.Kind != yaml.SequenceNode || len(steps.Content) == 0:
		p.wrong(steps, "begin each step with - tool:", "steps must be a list")
		return
	case len(steps.Content) > MaxSteps:
		p.wrong(steps, "split it", "the workflow has %d steps; the limit is %d", len(steps.Content), MaxSteps)
		return
	}
	for i, s := range steps.Content {
		w.Steps = append(w.Steps, p.step(i+1, s))
	}
	if outputs != nil {
		p.fields(outputs, "outputs", nil, func(name string, _, v *yaml.Node) {
			w.Outputs = append(w.Outputs, Output{name, p.value(v)})
		})
	}
}

func (p *parser) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode {
		p.wrong(n, "write one line of text", "%s must be text", what)
		return ""
	}
	return n.Value
}

var types = []string{"text", "number", "boolean", "list", "any"}

// input reads one input: a default value, or its fields.
func (p *parser) input(name string, k, v *yaml.Node) Input {
	in := Input{Name: name, Type: "any"}
	if !isName(name) {
		p.wrong(k, "use letters, digits and _", "%q is not a name", name)
	}
	p.inputs = append(p.inputs, name)
	if v.Kind != yaml.MappingNode {
		in.Default = p.value(v)
		in.Required = in.Default == nil
		return in
	}
	in.Required = true
	p.fields(v, "the input "+name, []string{"type", "description", "default", "required"}, func(key string, _, v *yaml.Node) {
		switch key {
		case "type":
			if in.Type = p.text(v, "type"); !slices.Contains(types, in.Type) {
				p.wrong(v, "use "+strings.Join(types, ", "), "%q is not a type", in.Type)
			}
		case "description":
			in.Description = p.text(v, "description")
		case "default":
			in.Default, in.Required = p.value(v), false
		case "required":
			if v.Value == "false" {
				in.Required = false
			}
		}
	})
	return in
}

// step reads one step.
func (p *parser) step(number int, n *yaml.Node) Step {
	s := Step{ID: fmt.Sprintf("step%d", number), Max: usual, Line: p.offset + n.Line}
	nodes := map[string]*yaml.Node{}
	p.fields(n, fmt.Sprintf("step %d", number), []string{"id", "tool", "arguments", "if", "for_each", "max"}, func(key string, _, v *yaml.Node) { nodes[key] = v })
	if v := nodes["id"]; v != nil {
		s.ID = p.text(v, "id")
		if !isName(s.ID) {
			p.wrong(v, "use letters, digits and _", "%q is not a name", s.ID)
		}
		if slices.Contains(p.ids, s.ID) {
			p.wrong(v, "choose another id", "two steps have the id %s", s.ID)
		}
	}
	if v := nodes["tool"]; v != nil {
		s.Tool = p.text(v, "tool")
	} else {
		p.wrong(n, "add a line such as tool: read_note", "step %d names no tool", number)
	}
	if v := nodes["for_each"]; v != nil {
		s.ForEach = p.expression(v)
	}
	if v := nodes["max"]; v != nil {
		if err := v.Decode(&s.Max); err != nil || s.Max < 1 || s.Max > MaxRepeat {
			p.wrong(v, fmt.Sprintf("write a number from 1 to %d", MaxRepeat), "max must be a number")
		}
		if s.ForEach == nil {
			p.wrong(v, "add for_each, or remove max", "max is the bound of a loop")
		}
	}
	p.looping = s.ForEach != nil
	if v := nodes["if"]; v != nil {
		s.If = p.expression(v)
	}
	if v := nodes["arguments"]; v != nil {
		s.Arguments, _ = p.value(v).(map[string]any)
		if v.Kind != yaml.MappingNode {
			p.wrong(v, "write name: value lines", "arguments must have names")
		}
	}
	p.looping = false
	p.ids = append(p.ids, s.ID)
	return s
}

// value reads any value and checks the expressions in its texts.
func (p *parser) value(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		p.fields(n, "the value", nil, func(key string, _, v *yaml.Node) { out[key] = p.value(v) })
		return out
	case yaml.SequenceNode:
		out := []any{}
		for _, e := range n.Content {
			out = append(out, p.value(e))
		}
		return out
	case yaml.AliasNode:
		p.wrong(n, "write the value out", "anchors and aliases are not supported")
		return nil
	}
	if n.Tag == "!!timestamp" { // a date stays the text that it was written as
		return n.Value
	}
	var v any
	if err := n.Decode(&v); err != nil {
		p.wrong(n, "put it in quotes", "%q cannot be read", n.Value)
		return nil
	}
	if text, ok := v.(string); ok {
		t, err := parseTemplate(text)
		if err != nil {
			p.wrong(n, "write {{ steps.ID.field }} or {{ inputs.name }}", "%v", err)
			return nil
		}
		for _, e := range t.expressions() {
			p.names(n, e)
		}
		if len(t.parts) > 0 {
			return t
		}
	}
	return v
}

// expression reads a condition, or the list of a loop; braces around it are
// allowed.
func (p *parser) expression(n *yaml.Node) *Expression {
	text := strings.TrimSpace(p.text(n, "the expression"))
	if inner, ok := strings.CutPrefix(text, "{{"); ok && strings.HasSuffix(inner, "}}") && !strings.Contains(inner, "{{") {
		text = strings.TrimSuffix(inner, "}}")
	}
	e, err := ParseExpression(text)
	if err != nil {
		p.wrong(n, `write for example steps.find.total > 0`, "%v", err)
		return nil
	}
	p.names(n, e)
	return e
}

// names checks that an expression names inputs, and steps that come before it.
func (p *parser) names(n *yaml.Node, e *Expression) {
	for _, path := range e.paths() {
		switch root := path[0]; {
		case root == "inputs" && len(path) > 1:
			if !slices.Contains(p.inputs, path[1]) {
				p.wrong(n, "add it to inputs"+known(p.inputs), "there is no input %q", path[1])
			}
		case root == "steps" && len(path) > 1:
			if !slices.Contains(p.ids, path[1]) {
				p.wrong(n, "name a step that comes earlier"+known(p.ids), "there is no earlier step %q", path[1])
			}
		case (root == "item" || root == "index") && p.looping:
		case root == "item" || root == "index":
			p.wrong(n, "add for_each to the step", "%s exists only in a loop", root)
		default:
			p.wrong(n, "begin with inputs., steps. or item", "%q is not known", strings.Join(path, "."))
		}
	}
}

func known(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && !(r >= 'a' && r <= 'z') && !(r >= 'A' && r <= 'Z') && (i == 0 || r != '-' && !(r >= '0' && r <= '9')) {
			return false
		}
	}
	return s != ""
}
