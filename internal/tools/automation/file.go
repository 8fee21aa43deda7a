package automation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
	"lore/internal/tools/automation/workflow"
	"lore/internal/vault/visibility"
)

// A workflowFile is a workflow as it is in the vault.
type workflowFile struct {
	workflow.Workflow
	path      string
	untrusted bool
	problems  []workflow.Problem
}

// open reads a workflow by its path, or by its name in the folder.
func (env Env) open(ctx context.Context, name string) (workflowFile, error) {
	name = strings.TrimSpace(name)
	if _, ok := builtin(name); ok {
		return env.read(ctx, name)
	}
	tries := []string{name}
	if !strings.Contains(name, "/") {
		tries = nil
		for _, ext := range []string{"", ".yaml", ".yml", ".md"} {
			if ext != "" || workflow.IsFile(name) {
				tries = append(tries, path.Join(env.Folder, name+ext))
			}
		}
	}
	for _, p := range tries {
		w, err := env.read(ctx, p)
		if fault.Of(err) != fault.NotFound {
			return w, err
		}
	}
	all, err := env.files(ctx)
	if err != nil {
		return workflowFile{}, err
	}
	var names []string
	for _, p := range append(all, builtins()...) {
		w, err := env.read(ctx, p)
		if err == nil && strings.EqualFold(w.Name, name) {
			return w, nil
		}
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(path.Base(p), builtinFolder), path.Ext(p)))
	}
	fix := "write a file into the folder " + env.Folder
	if len(names) > 0 {
		fix = "workflows: " + strings.Join(names, ", ")
		if near := schema.Nearest(name, names, 3); len(near) > 0 {
			fix = "did you mean " + strings.Join(near, ", ") + "?"
		}
	}
	return workflowFile{}, &fault.Report{Kind: fault.NotFound, Field: "workflow", Message: fmt.Sprintf("there is no workflow %q", name), Fix: fix}
}

func (env Env) read(ctx context.Context, p string) (workflowFile, error) {
	if text, ok := builtin(p); ok {
		w, problems := workflow.Parse(p, text)
		w.Name = strings.TrimPrefix(w.Name, builtinFolder)
		return workflowFile{Workflow: w, path: p, problems: problems}, nil
	}
	f, err := env.Vault.Read(ctx, p)
	if err != nil {
		return workflowFile{}, err
	}
	if !workflow.IsFile(f.Path) || !strings.HasPrefix(strings.ToLower(f.Path), strings.ToLower(env.Folder)+"/") {
		return workflowFile{}, fault.Field("workflow", "move it there", "workflows are YAML files or notes in the folder %s", env.Folder)
	}
	w, problems := workflow.Parse(f.Path, string(f.Data))
	return workflowFile{w, f.Path, note.IsUntrusted(f.Data), append(problems, env.checkTools(&w, problems)...)}, nil
}

// files are the paths of all workflows that the caller may see.
func (env Env) files(ctx context.Context) ([]string, error) {
	list, err := env.filesIn(env.Folder)
	return visibility.Filter(visibility.From(ctx), list, func(p string) string { return p }), err
}

// filesIn are the files of a folder that can hold workflows or tools. The folder is
// listed as it is now, without the index.
func (env Env) filesIn(folder string) ([]string, error) {
	root, err := env.Vault.Handle()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dir, err := root.Open(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the folder %s cannot be read", folder)
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the folder %s cannot be read", folder)
	}
	var out []string
	for _, e := range entries {
		key, err := env.Vault.Visible(path.Join(folder, e.Name()), false)
		if err == nil && workflow.IsFile(key) && e.Type().IsRegular() {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out, nil
}

// checkTools finds steps whose tool or arguments are not known.
func (env Env) checkTools(w *workflow.Workflow, before []workflow.Problem) []workflow.Problem {
	if env.Registry == nil || env.Registry() == nil || len(before) > 0 {
		return nil
	}
	var out []workflow.Problem
	for _, s := range w.Steps {
		t, err := env.Registry().Find(toolName(s.Tool))
		if err != nil {
			r := fault.Report{Message: err.Error()}
			out = append(out, workflow.Problem{Line: s.Line, Message: r.Message})
			continue
		}
		if t.Effect == access.Acts || t.Gathers() {
			out = append(out, workflow.Problem{Line: s.Line, Message: fmt.Sprintf("%s cannot be a step, because it reaches outside the vault or makes calls itself", t.Name), Fix: "call it alone"})
		}
		out = append(out, checkArguments(s, t)...)
	}
	return out
}

func checkArguments(s workflow.Step, t *tool.Tool) []workflow.Problem {
	var out []workflow.Problem
	in := t.Input()
	known := slices.Sorted(maps.Keys(in.Properties))
	for _, name := range slices.Sorted(maps.Keys(s.Arguments)) {
		if in.Properties[name] == nil || name == tool.DryRun {
			out = append(out, workflow.Problem{Line: s.Line, Message: fmt.Sprintf("%s has no argument %q", t.Name, name), Fix: "arguments: " + strings.Join(known, ", ")})
		}
	}
	for _, name := range in.Required {
		if _, ok := s.Arguments[name]; !ok {
			out = append(out, workflow.Problem{Line: s.Line, Message: fmt.Sprintf("%s needs the argument %s", t.Name, name), Fix: "add it to arguments"})
		}
	}
	return out
}

// content is the workflow as a person allows it.
func (w workflowFile) content() tool.Content {
	c := tool.Content{Name: "workflow " + w.path, Hash: w.Hash, Summary: fmt.Sprintf("Allow the workflow %s (%s)", w.Name, w.path)}
	if w.untrusted {
		c.Lines = append(c.Lines, "This note is marked untrusted: its text comes from outside.")
	}
	c.Lines = append(c.Lines, strings.Split(strings.TrimRight(w.Text, "\n"), "\n")...)
	c.Lines = append(c.Lines, "sha256 "+w.Hash)
	return c
}

// problem is the error of a workflow that cannot run.
func (w workflowFile) problem() error {
	if len(w.problems) == 0 {
		return nil
	}
	text := fmt.Sprintf("%s, %s", w.path, w.problems[0])
	if n := len(w.problems) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return fault.Fix(fault.Invalid, "see all: lore workflow show "+w.Name, "%s", text)
}
