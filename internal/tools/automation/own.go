package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/outside/egress"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tools/automation/workflow"
	"lore/internal/tools/toolkit"
)

// maxOwn is how many tools a person can write.
const maxOwn = 50

// A declared is a tool that a person wrote, as it is in the vault.
type declared struct {
	workflow.Declaration
	path      string
	untrusted bool
	problems  []workflow.Problem
}

// declarations reads the tools in the folder. They are read for the vault, not for
// a caller: who may call them is decided at the call.
func (env Env) declarations(ctx context.Context) ([]declared, error) {
	files, err := env.filesIn(env.ToolFolder)
	if err != nil {
		return nil, err
	}
	var out []declared
	for _, p := range files[:min(len(files), maxOwn)] {
		if d, err := env.declaration(ctx, p); err == nil {
			out = append(out, d)
		}
	}
	return out, nil
}

func (env Env) declaration(ctx context.Context, p string) (declared, error) {
	f, err := env.Vault.Read(ctx, p)
	if err != nil {
		return declared{}, err
	}
	d, problems := workflow.ParseTool(f.Path, string(f.Data))
	return declared{d, f.Path, note.IsUntrusted(f.Data), problems}, nil
}

// content is the declaration as a person allows it.
func (d declared) content() tool.Content {
	c := tool.Content{Name: "tool " + d.path, Hash: d.Hash, Summary: fmt.Sprintf("Allow the tool %s (%s)", tool.OwnPrefix+d.Name, d.path)}
	if d.untrusted {
		c.Lines = append(c.Lines, "This note is marked untrusted: its text comes from outside.")
	}
	c.Lines = append(c.Lines, strings.Split(strings.TrimRight(d.Text, "\n"), "\n")...)
	c.Lines = append(c.Lines, "sha256 "+d.Hash)
	return c
}

// kind says what it does.
func (d declared) kind() string {
	switch {
	case d.HTTP != nil:
		return "http"
	case d.Workflow != "":
		return "workflow"
	}
	return "command"
}

// RefreshOwn registers the tools in the folder that a person allowed as they are
// now, and takes the others away.
func (env Env) RefreshOwn(ctx context.Context, r *tool.Registry, off []string) error {
	list, err := env.declarations(ctx)
	if err != nil {
		return err
	}
	var tools []*tool.Tool
	var errs []error
	for _, d := range list {
		if len(d.problems) > 0 {
			continue
		}
		ok, err := r.IsAllowed(ctx, d.content())
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		t, err := env.ownTool(d)
		if errs = append(errs, err); err == nil {
			tools = append(tools, t)
		}
	}
	return errors.Join(append(errs, r.ReplaceOwn(tools, off))...)
}

// ownTool makes a tool of a declaration. Each call looks whether the file is still
// the one that was allowed.
func (env Env) ownTool(d declared) (*tool.Tool, error) {
	f := tool.ForeignTool{
		Name: tool.OwnPrefix + d.Name, Title: toolkit.Sentence(strings.ReplaceAll(d.Name, "_", " ")), Doc: d.Description, Set: tool.Own,
		Input: d.schema(), Definition: d.Hash, Within: time.Duration(d.Seconds)*time.Second + time.Minute,
	}
	switch d.kind() {
	case "command":
		f.Needs = access.Exec
		f.Foresee = func(args json.RawMessage) (tool.Preview, error) { return d.foreseeCommand(args) }
		f.Plan = func(ctx context.Context, args json.RawMessage) (any, change.Set, error) {
			return env.runOwn(ctx, d, args)
		}
	case "http":
		f.Needs, f.Untrusted = access.Egress, true
		f.Foresee = func(args json.RawMessage) (tool.Preview, error) { return d.foreseeRequest(args) }
		f.Run = func(ctx context.Context, args json.RawMessage) (any, error) { return env.request(ctx, d, args) }
	case "workflow":
		f.Gather = func(ctx context.Context, args json.RawMessage, calls *tool.Calls) (any, error) {
			given, err := env.given(d, args)
			if err != nil {
				return nil, err
			}
			return RunWorkflow{Workflow: d.Workflow, Inputs: given}.Gather(ctx, env, calls)
		}
	}
	return tool.Foreign(f)
}

// schema is that of the arguments.
func (d declared) schema() *jsonschema.Schema {
	types := map[string]string{"text": "string", "number": "number", "boolean": "boolean", "list": "array"}
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, in := range d.Inputs {
		s.Properties[in.Name] = &jsonschema.Schema{Type: types[in.Type], Description: in.Description}
		if in.Required {
			s.Required = append(s.Required, in.Name)
		}
	}
	return s
}

// given are the arguments of a call, if the file is still the one that a person
// allowed.
func (env Env) given(d declared, args json.RawMessage) (map[string]any, error) {
	// Not as the caller, who may not be allowed to read the file.
	ctx := context.Background()
	now, err := env.declaration(ctx, d.path)
	if err == nil && now.Hash == d.Hash {
		ok, err := env.Registry().IsAllowed(ctx, d.content())
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fault.Fix(fault.Denied, "a person can allow it: lore own add "+d.Name, "%s is no longer allowed", d.path)
		}
	}
	if err != nil || now.Hash != d.Hash {
		return nil, fault.Fix(fault.Denied, "a person can allow it again: lore own add "+d.Name, "%s changed since a person allowed it", d.path)
	}
	return d.inputs(args)
}

func (d declared) inputs(args json.RawMessage) (map[string]any, error) {
	var in map[string]any
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, fault.New(fault.Invalid, "arguments: %v", err)
	}
	return d.Given(in)
}

func (d declared) foreseeCommand(args json.RawMessage) (tool.Preview, error) {
	in, err := d.inputs(args)
	if err != nil {
		return tool.Preview{}, err
	}
	argv, err := d.Argv(in)
	return tool.Preview{Summary: "Run " + toolkit.Truncate(toolkit.OneLine(strings.Join(argv, " ")), 200), Steps: quoted(argv), Details: map[string]any{"argv": argv, "network": "none", "seconds": d.Seconds}}, err
}

func (d declared) foreseeRequest(args json.RawMessage) (tool.Preview, error) {
	in, err := d.inputs(args)
	if err != nil {
		return tool.Preview{}, err
	}
	r, err := d.Request(in)
	sent := []string{r.Method + " " + r.URL}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		sent = append(sent, name+": "+r.Header[name])
	}
	if r.Body != "" {
		sent = append(sent, strings.Split(r.Body, "\n")...)
	}
	return tool.Preview{Summary: fmt.Sprintf("Send %s %s", r.Method, toolkit.Truncate(r.URL, 200)), Steps: sent, Details: map[string]any{"method": r.Method, "url": r.URL, "headers": r.Header, "body": r.Body}}, err
}

// quoted is each word of a command on a line of its own, where one could be taken
// for several.
func quoted(argv []string) []string {
	var out []string
	for _, a := range argv {
		out = append(out, strconv.Quote(a))
	}
	return out
}

// runOwn runs the command in the jail.
func (env Env) runOwn(ctx context.Context, d declared, args json.RawMessage) (any, change.Set, error) {
	in, err := env.given(d, args)
	if err != nil {
		return nil, nil, err
	}
	argv, err := d.Argv(in)
	if err != nil {
		return nil, nil, err
	}
	return env.Command(ctx, argv, d.Seconds)
}

// HTTPResult is what a request answered.
type HTTPResult struct {
	Status int    `json:"status"`
	Type   string `json:"type,omitempty"`
	Text   string `json:"text"`
}

func (env Env) request(ctx context.Context, d declared, args json.RawMessage) (any, error) {
	in, err := env.given(d, args)
	if err != nil {
		return nil, err
	}
	r, err := d.Request(in)
	if err != nil {
		return nil, err
	}
	client, err := env.Client()
	if err != nil {
		return nil, err
	}
	a, err := client.Fetch(ctx, egress.Request{Method: r.Method, URL: r.URL, Header: r.Header, Body: r.Body})
	if err != nil {
		return nil, err
	}
	return HTTPResult{a.Status, a.Type, a.Text}, nil
}

// View is the text of the answer.
func (r HTTPResult) View() tool.View {
	return tool.View{Text: r.Text, Foot: fmt.Sprintf("status %d", r.Status)}
}
