package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
)

func (p *program) toolsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "tools [TOOL]", Short: "List the tools, or show one with its arguments",
		Long: `Lists all tools. Each tool is also a command, and programs can call it with lore call
or over MCP and REST.`,
		Example:           "lore tools                 list all tools\nlore tools search_notes    show one tool and its arguments",
		ValidArgsFunction: p.completeTools,
		Args:              argv.Between(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				t, err := p.findTool(args[0])
				if err != nil {
					return err
				}
				return p.showTool(t)
			}
			return p.listTools()
		},
	}
}

// findTool finds a tool by its name, by an alias, or by what a person types.
func (p *program) findTool(name string) (*tool.Tool, error) {
	for _, t := range p.tools {
		if name == t.Short || name == strings.ReplaceAll(t.Name, "_", "-") {
			return t, nil
		}
	}
	more, err := p.external(name)
	if err != nil {
		return nil, err
	}
	t, err := tool.NewRegistry(tool.Deps{}, p.tools, more).Find(name)
	if err != nil && tool.IsExternal(name) {
		return &tool.Tool{Name: name}, nil // never seen; its server or the vault is asked
	}
	var r *fault.Report
	if errors.As(err, &r) && r.Fix == "" {
		r.Fix = "run lore tools to list them"
	}
	return t, err
}

// external are the tools of other servers; none when the name is of no such one.
func (p *program) external(name string) ([]*tool.Tool, error) {
	if p.host.External == nil || !strings.HasPrefix(name, tool.ExternalPrefix) {
		return nil, nil
	}
	return p.host.External(p.g.Vault)
}

// toolInfo is the JSON of one tool, the same facts as its schema.
type toolInfo struct {
	Name        string   `json:"name"`
	Command     string   `json:"command"`
	Title       string   `json:"title"`
	Set         string   `json:"toolset"`
	Description string   `json:"description"`
	Effect      string   `json:"effect"`
	Aliases     []string `json:"aliases,omitempty"`
	Input       any      `json:"input_schema,omitempty"`
	Output      any      `json:"output_schema,omitempty"`
}

func describeTool(t *tool.Tool, schemas bool) toolInfo {
	i := toolInfo{Name: t.Name, Command: t.Command(), Title: t.Title, Set: t.Set, Description: t.Doc, Effect: string(t.Effect), Aliases: t.Aliases}
	if schemas {
		i.Input, i.Output = t.Input(), t.Output()
	}
	return i
}

func (p *program) listTools() error {
	more, err := p.external(tool.ExternalPrefix)
	if err != nil {
		return err
	}
	tools := slices.Concat(p.tools, more)
	slices.SortStableFunc(tools, func(a, b *tool.Tool) int { return strings.Compare(a.Set+" "+a.Name, b.Set+" "+b.Name) })
	if p.g.JSON {
		list := []toolInfo{}
		for _, t := range tools {
			list = append(list, describeTool(t, true))
		}
		return p.encode(struct {
			Tools []toolInfo `json:"tools"`
		}{list})
	}
	var rows [][]string
	for _, t := range tools {
		rows = append(rows, []string{t.Command(), t.Name, t.Set, string(t.Effect), t.Summary()})
	}
	var b strings.Builder
	p.screen.Table(&b, []string{"command", "tool", "set", "effect", "what it does"}, rows)
	_, err = io.WriteString(p.out, b.String())
	return err
}

func (p *program) showTool(t *tool.Tool) error {
	if t.Set == "" && strings.HasPrefix(t.Name, tool.OwnPrefix) {
		return fault.Fix(fault.Invalid, "run lore own list to see its file", "%s is a tool that you wrote", t.Name)
	}
	if t.Set == "" {
		return fault.Fix(fault.NotFound, "run lore servers tools NAME to list a server's tools", "no connected server has offered the tool %s", t.Name)
	}
	if p.g.JSON {
		return p.encode(describeTool(t, true))
	}
	schema, err := json.MarshalIndent(t.Input(), "", "  ")
	if err != nil {
		return err
	}
	var b strings.Builder
	p.screen.Pairs(&b, [][2]string{{"tool", t.Name}, {"command", "lore " + t.Command()}, {"set", t.Set}, {"effect", string(t.Effect)}})
	b.WriteByte('\n')
	for _, l := range p.screen.Wrap(t.Doc, "") {
		b.WriteString(l + "\n")
	}
	_, err = fmt.Fprintf(p.out, "%s\n%s\n%s\n", b.String(), p.screen.Bold("Arguments (JSON schema):"), schema)
	return err
}

func (p *program) callCommand() *cobra.Command {
	var raw string
	var w will
	cmd := &cobra.Command{
		Use: "call TOOL [JSON]", Short: "Call a tool with JSON arguments",
		Long: `Calls a tool with one JSON object and prints the result as JSON. Without JSON, or
with "-", the object is read from standard input.`,
		Example: `lore call search_notes '{"query": "cold brew", "top_k": 3}'
echo '{"path": "Tea.md"}' | lore call read_note -`,
		Args: argv.Between(1, 2), ValidArgsFunction: p.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			p.g.JSON = true
			t, err := p.findTool(args[0])
			if err != nil {
				return err
			}
			if len(args) == 2 {
				if raw != "" {
					return fault.Fix(fault.Invalid, "give them once", "the arguments are given both in --args and after the tool")
				}
				raw = args[1]
			}
			if raw == "" && draw.AtTerminal(cmd.InOrStdin()) {
				raw = "{}" // nobody knows that something is waited for
			}
			if raw == "" || raw == "-" {
				if raw, err = readAll(cmd.Context(), cmd.InOrStdin()); err != nil {
					return err
				}
			}
			return p.call(cmd.Context(), cmd.InOrStdin(), t, json.RawMessage(raw), w)
		},
	}
	cmd.Flags().StringVar(&raw, "args", "", "arguments, as one JSON object")
	cmd.Flags().BoolVar(&w.yes, "yes", false, yesHelp)
	return cmd
}

// mostInput is how much is read from standard input.
const mostInput = 16 << 20

// readAll reads standard input until it ends or ctx does. A read that waits for
// a person cannot be stopped, so it is left behind; the program ends anyway.
func readAll(ctx context.Context, r io.Reader) (string, error) {
	type answer struct {
		text []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		b, err := io.ReadAll(io.LimitReader(r, mostInput+1))
		done <- answer{b, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case a := <-done:
		switch {
		case a.err != nil:
			return "", fmt.Errorf("read the arguments from standard input: %w", a.err)
		case len(a.text) > mostInput:
			return "", fault.New(fault.TooLarge, "the arguments on standard input are larger than %d MB", mostInput>>20)
		}
		return string(a.text), nil
	}
}
