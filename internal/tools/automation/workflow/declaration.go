package workflow

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A Declaration is a tool that a person wrote: a command, a request or a workflow,
// with the arguments that it takes.
type Declaration struct {
	Name        string
	Description string
	Inputs      []Input
	Command     []any // program and arguments; texts may hold {{ inputs.name }}
	HTTP        *HTTP
	Workflow    string
	Seconds     int
	Text        string
	Hash        string
}

// HTTP is a request. The host is fixed: only what comes after it can be filled in.
type HTTP struct {
	Method  string
	url     any
	headers map[string]any
	body    any
}

// A Request is an HTTP request, filled in.
type Request struct {
	Method, URL string
	Header      map[string]string
	Body        string
}

var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

const maxSeconds = 600

// ParseTool reads the declaration of a tool.
func ParseTool(file, text string) (Declaration, []Problem) {
	w, problems := Parse(file, text) // for its name, its hash and whether it is YAML at all
	d := Declaration{Name: w.Name, Text: text, Hash: w.Hash, Seconds: 60}
	p := &parser{}
	root := p.root(file, text)
	if root == nil {
		return d, problems
	}
	var kinds []string
	p.fields(root, "the tool", []string{"name", "description", "inputs", "command", "http", "workflow", "seconds"}, func(key string, k, v *yaml.Node) {
		switch key {
		case "name":
			d.Name = p.text(v, "name")
		case "description":
			d.Description = p.text(v, "description")
		case "inputs":
			p.fields(v, "inputs", nil, func(name string, k, v *yaml.Node) { d.Inputs = append(d.Inputs, p.input(name, k, v)) })
		case "seconds":
			if err := v.Decode(&d.Seconds); err != nil || d.Seconds < 1 || d.Seconds > maxSeconds {
				p.wrong(v, fmt.Sprintf("write a number from 1 to %d", maxSeconds), "seconds must be a number")
			}
		default:
			kinds = append(kinds, key)
			p.kind(&d, key, v)
		}
	})
	if !toolName.MatchString(d.Name) {
		p.wrong(root, "use lower-case letters, digits and _, at most 40", "%q is not a name for a tool", d.Name)
	}
	if d.Description == "" {
		p.wrong(root, "add description: with one sentence for models and people", "the tool has no description")
	}
	if len(kinds) != 1 {
		p.wrong(root, "write one of command:, http: and workflow:", "the tool must do one thing")
	}
	return d, p.problems
}

// root is the mapping that a file holds; nil where it holds none.
func (p *parser) root(file, text string) *yaml.Node {
	source := text
	if strings.HasSuffix(strings.ToLower(file), ".md") {
		source, p.offset, _ = block(text)
	}
	var doc yaml.Node
	if len(text) > maxBytes || yaml.Unmarshal([]byte(source), &doc) != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	return doc.Content[0]
}

// kind reads what the tool does. Inputs must stand above it.
func (p *parser) kind(d *Declaration, key string, v *yaml.Node) {
	switch key {
	case "workflow":
		d.Workflow = p.text(v, "workflow")
	case "command":
		list, _ := p.value(v).([]any)
		if d.Command = list; len(list) == 0 {
			p.wrong(v, `write a list such as ["wc", "-w", "{{ inputs.path }}"]`, "command must be a list of program and arguments")
		} else if _, fixed := list[0].(string); !fixed {
			p.wrong(v, "write its name", "the program cannot be filled in")
		}
	case "http":
		d.HTTP = p.http(v)
	}
}

func (p *parser) http(n *yaml.Node) *HTTP {
	h := &HTTP{Method: "GET"}
	p.fields(n, "http", []string{"method", "url", "headers", "body"}, func(key string, _, v *yaml.Node) {
		switch key {
		case "method":
			if h.Method = p.text(v, "method"); !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, h.Method) {
				p.wrong(v, "use GET, POST, PUT, PATCH or DELETE", "%q is not a method", h.Method)
			}
		case "url":
			h.url = p.value(v)
			p.checkHost(v, h.url)
		case "headers":
			h.headers, _ = p.value(v).(map[string]any)
		case "body":
			h.body = p.value(v)
		}
	})
	if h.url == nil {
		p.wrong(n, "add url:", "http has no address")
	}
	return h
}

// checkHost refuses an address whose host can be filled in.
func (p *parser) checkHost(n *yaml.Node, v any) {
	fixed := ""
	switch v := v.(type) {
	case string:
		fixed = v
	case *template:
		fixed = v.parts[0].text
	}
	u, err := url.Parse(fixed)
	_, rest, _ := strings.Cut(fixed, "://")
	_, isTemplate := v.(*template)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || isTemplate && !strings.ContainsAny(rest, "/?") {
		p.wrong(n, "begin with a whole host, such as https://example.com/", "the address must name its host, which cannot be filled in")
	}
}

// Argv is the command of a call.
func (d *Declaration) Argv(inputs map[string]any) ([]string, error) {
	filled, err := fill(d.Command, map[string]any{"inputs": inputs})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, a := range filled.([]any) {
		out = append(out, Text(a))
	}
	return out, nil
}

// Request is the request of a call. Values in the address are escaped.
func (d *Declaration) Request(inputs map[string]any) (Request, error) {
	escaped := map[string]any{}
	for k, v := range inputs {
		escaped[k] = url.QueryEscape(Text(v))
	}
	r := Request{Method: d.HTTP.Method, Header: map[string]string{}}
	at, err := fill(d.HTTP.url, map[string]any{"inputs": escaped})
	if err != nil {
		return r, err
	}
	r.URL = Text(at)
	headers, err := fill(d.HTTP.headers, map[string]any{"inputs": inputs})
	if err != nil {
		return r, err
	}
	for k, v := range headers.(map[string]any) {
		r.Header[k] = Text(v)
	}
	body, err := fill(d.HTTP.body, map[string]any{"inputs": inputs})
	if body != nil {
		if _, isText := body.(string); !isText && r.Header["Content-Type"] == "" {
			r.Header["Content-Type"] = "application/json"
		}
		r.Body = Text(body)
	}
	return r, err
}

// Given are the inputs of a call, checked.
func (d *Declaration) Given(inputs map[string]any) (map[string]any, error) {
	return (&Workflow{Name: d.Name, Inputs: d.Inputs}).Given(inputs)
}
