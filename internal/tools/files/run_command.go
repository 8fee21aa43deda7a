package files

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tools/files/jail"
	"lore/internal/tools/toolkit"
)

// RunCommand: Run a command in a sandbox without network, on a copy of the
// files. Its changes to text files are shown to the person and then applied.
type RunCommand struct {
	// For a shell.
	Command string `json:"command,omitempty" size:"prose" word:"true"`
	// Instead: program and arguments, without a shell.
	Argv []string `json:"argv,omitempty"`
	// Max seconds.
	Timeout int `json:"timeout,omitempty" default:"60" min:"1" max:"600"`
}

// Help is the text for people.
func (RunCommand) Help() tool.Help {
	return tool.Help{
		Short: "Run a command in a sandbox",
		Long: "Off by default; you turn it on in the settings. The command runs on a copy of the files, with no access to the network or to the rest of your disk. " +
			"Lore shows what it changed and asks before it applies the changes. The exit code is that of the command.",
		Flags: map[string]string{
			"command": "command for the shell",
			"argv":    "program and arguments, without a shell",
			"timeout": "seconds after which the command is stopped",
		},
		Examples: []string{`"grep -rc tea Notes"`},
	}
}

// CommandResult is how a command ended.
type CommandResult struct {
	Command  string `json:"command"`
	ExitCode int    `json:"exit_code"`
	// Stopped says which limit ended the command: "time" or "memory".
	Stopped string `json:"stopped,omitempty"`
	// Duration in milliseconds.
	Duration int64  `json:"duration_ms"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	// Output is both as they arrived, when there are both; lines of the same moment may be swapped.
	Output string `json:"output,omitempty"`
	// Cut says how much of the output is missing.
	Cut string `json:"cut,omitempty"`
	// Files that the command changed.
	Files int `json:"files_changed"`
	// NotApplied are changes that are dropped.
	NotApplied []NotApplied `json:"not_applied,omitempty"`
	// NotCopied is how many files the command could not see: too large, or hard links.
	NotCopied int `json:"not_copied,omitempty"`
	// UntrustedFiles are files with text from outside that the command could read.
	UntrustedFiles []string `json:"untrusted_files,omitempty"`
}

// NotApplied is a change that is dropped.
type NotApplied struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// argv is what runs.
func (in RunCommand) argv() ([]string, error) {
	switch {
	case in.Command != "" && len(in.Argv) > 0:
		return nil, fault.Field("command", "give one of them", "command and argv were both given")
	case len(in.Argv) > 0 && in.Argv[0] != "":
		return in.Argv, nil
	case strings.TrimSpace(in.Command) != "":
		return []string{"/bin/sh", "-c", in.Command}, nil
	}
	return nil, fault.Field("command", `give a command such as "ls -l"`, "is missing")
}

// shown is the command as a person reads it.
func (in RunCommand) shown() string {
	if in.Command != "" {
		return in.Command
	}
	var words []string
	for _, a := range in.Argv {
		if a == "" || strings.ContainsAny(a, " \t\n\"'`$\\;&|<>()*?[]{}~#!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// Foresee shows the command.
func (in RunCommand) Foresee(_ context.Context, env Env) (tool.Preview, error) {
	argv, err := in.argv()
	if err != nil {
		return tool.Preview{}, err
	}
	return tool.Preview{
		Summary: "Run " + toolkit.Truncate(toolkit.OneLine(in.shown()), 200),
		Details: map[string]any{
			"command": in.shown(), "argv": argv, "folder": cmp.Or(env.Folder, "the whole vault"), "network": "none", "seconds": in.Timeout,
		},
	}, nil
}

// Run runs it on a copy and plans what it changed.
func (in RunCommand) Run(ctx context.Context, env Env) (CommandResult, change.Set, error) {
	argv, err := in.argv()
	if err != nil {
		return CommandResult{}, nil, err
	}
	tool.Progress(ctx, 0, 0, "Copying the files")
	staged, err := env.stage(ctx)
	if err != nil {
		return CommandResult{}, nil, err
	}
	limits := jail.DefaultLimits()
	limits.Time = time.Duration(in.Timeout) * time.Second
	said := newOutput(ctx)
	began := time.Now()
	o, err := jail.Run(ctx, jail.Command{Argv: argv, Files: staged.files, Limits: limits}, said.write)
	if err != nil {
		return CommandResult{}, nil, err
	}
	out := CommandResult{
		Command: in.shown(), ExitCode: o.Exit, Stopped: o.Stopped, Duration: time.Since(began).Milliseconds(), NotCopied: staged.left, UntrustedFiles: staged.untrusted,
	}
	said.into(&out)
	set := staged.changes(ctx, env, o, &out)
	out.Files = len(set)
	return out, set, nil
}

// Preview says how it ended.
func (r CommandResult) Preview() tool.Preview {
	text := fmt.Sprintf("%s ended with exit code %d", toolkit.Truncate(toolkit.OneLine(r.Command), 100), r.ExitCode)
	if r.Stopped != "" {
		text = fmt.Sprintf("%s was stopped: it used too much %s", toolkit.Truncate(toolkit.OneLine(r.Command), 100), r.Stopped)
	}
	if r.Files > 0 {
		text += " and changed " + toolkit.Count(r.Files, "file")
	}
	p := tool.Preview{Summary: text}
	for _, n := range r.NotApplied[:min(len(r.NotApplied), 20)] {
		p.Warnings = append(p.Warnings, "not applied: "+n.Path+": "+n.Reason)
	}
	return p
}

// View shows the output as it came.
func (r CommandResult) View() tool.View {
	text := cmp.Or(r.Output, r.Stdout+r.Stderr)
	var remarks []string
	if r.ExitCode != 0 || r.Stopped != "" {
		remarks = append(remarks, fmt.Sprintf("Exit code: %d", r.ExitCode))
	}
	if r.Stopped != "" {
		remarks = append(remarks, "stopped: too much "+r.Stopped)
	}
	if r.Cut != "" {
		remarks = append(remarks, r.Cut)
	}
	if r.NotCopied > 0 {
		remarks = append(remarks, toolkit.Count(r.NotCopied, "file")+" not copied")
	}
	for _, n := range r.NotApplied[:min(len(r.NotApplied), 5)] {
		remarks = append(remarks, "not applied: "+n.Path+": "+n.Reason)
	}
	return tool.View{Text: text, Foot: strings.Join(remarks, "; "), Exit: r.ExitCode}
}
