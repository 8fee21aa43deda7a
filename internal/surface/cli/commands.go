package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/access"
	"lore/internal/fault"
	"lore/internal/tool"
)

// commands are those that look after Lore itself.
func (p *program) commands() []*cobra.Command {
	out := []*cobra.Command{
		p.indexCommand(), p.toolsCommand(), p.callCommand(), p.doctorCommand(), p.configCommand(),
		p.demoCommand(), p.benchCommand(), p.versionCommand(),
	}
	for _, c := range out {
		c.GroupID = "lore"
	}
	return out
}

// noWords refuses words after a command that takes none.
func noWords(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.Fix(fault.Invalid, fmt.Sprintf("see %s --help", cmd.CommandPath()), "%s takes no words, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

func (p *program) indexCommand() *cobra.Command {
	var rebuild, text, watch bool
	cmd := &cobra.Command{
		Use: "index", Short: "Bring the index up to date with the vault", Args: noWords,
		Long: `Compares the vault with the index, reads what changed, and gives every passage
its vector, so that it can be found by its meaning. It may be interrupted at any
moment and goes on where it was. Searching does the first part by itself.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withSession(cmd.Context(), OpenOptions{Wait: true, Embed: !text, Rebuild: rebuild}, func(s *Session) error {
				r, err := s.Report(cmd.Context())
				if err != nil {
					return err
				}
				if err := p.showReport(r); err != nil || !watch {
					return err
				}
				return s.Follow(cmd.Context())
			})
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "stay, and follow the vault as it changes, until interrupted")
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "throw the index away and build it anew (vectors are kept)")
	cmd.Flags().BoolVar(&text, "text-only", false, "leave the vectors for later")
	return cmd
}

func (p *program) withSession(ctx context.Context, o OpenOptions, f func(*Session) error) error {
	o.Progress = p.progress()
	s, err := p.host.Open(ctx, p.g, o)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

func (p *program) showReport(r Report) error {
	if p.g.JSON {
		return p.encode(r)
	}
	var b strings.Builder
	pairs := [][2]string{
		{"vault", r.Vault},
		{"notes", fmt.Sprintf("%d, with %d links and %d attachments", r.Notes, r.Links, r.Attachments)},
		{"passages", fmt.Sprintf("%d, %d of them with a vector", r.Passages, r.Embedded)},
		{"this run", fmt.Sprintf("%d added, %d changed, %d removed in %.1f s", r.Added, r.Changed, r.Dropped, r.Seconds)},
		{"index", r.Index},
	}
	if r.Model != "" {
		pairs = append(pairs, [2]string{"model", r.Model})
	}
	if r.Rebuilt != "" {
		pairs = append(pairs, [2]string{"built anew", "the index was " + r.Rebuilt})
	}
	if r.Problems > 0 {
		pairs = append(pairs, [2]string{"problems", fmt.Sprintf("%d notes; lore doctor lists them", r.Problems)})
	}
	if !r.Fresh {
		pairs = append(pairs, [2]string{"not fresh", r.Reason})
	}
	p.pairs(&b, pairs)
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (p *program) toolsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "tools [TOOL]", Short: "List the tools, or show one with its arguments",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				t, err := tool.NewRegistry(tool.Deps{}, p.host.Tools).Find(args[0])
				if err != nil {
					return err
				}
				return p.showTool(t)
			}
			return p.listTools()
		},
	}
}

// toolInfo is the JSON of one tool, the same facts as its schema.
type toolInfo struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Set         string   `json:"toolset"`
	Description string   `json:"description"`
	Effect      string   `json:"effect"`
	Aliases     []string `json:"aliases,omitempty"`
	Input       any      `json:"input_schema,omitempty"`
	Output      any      `json:"output_schema,omitempty"`
}

func describeTool(t *tool.Tool, schemas bool) toolInfo {
	i := toolInfo{Name: t.Name, Title: t.Title, Set: t.Set, Description: t.Doc, Effect: string(t.Effect), Aliases: t.Aliases}
	if schemas {
		i.Input, i.Output = t.Input(), t.Output()
	}
	return i
}

func (p *program) listTools() error {
	tools := slices.Clone(p.host.Tools)
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
		rows = append(rows, []string{t.Set, t.Name, string(t.Effect), firstSentence(t.Doc)})
	}
	var b strings.Builder
	p.table(&b, []string{"set", "tool", "effect", "what it does"}, rows)
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (p *program) showTool(t *tool.Tool) error {
	if p.g.JSON {
		return p.encode(describeTool(t, true))
	}
	schema, err := json.MarshalIndent(t.Input(), "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s (%s, %s)\n\n%s\n\narguments: %s\n", t.Name, t.Set, t.Effect, t.Doc, schema)
	return err
}

func (p *program) callCommand() *cobra.Command {
	var raw string
	cmd := &cobra.Command{
		Use: "call TOOL [JSON]", Short: "Call a tool with arguments written as JSON",
		Long: `Calls any tool with one JSON object, as a program would, and prints its answer as
JSON. Without JSON, or with "-", the object is read from standard input.

  lore call search_notes '{"query": "cold brew", "top_k": 3}'`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.g.JSON = true
			t, err := tool.NewRegistry(tool.Deps{}, p.host.Tools).Find(args[0])
			if err != nil {
				return err
			}
			if len(args) == 2 {
				raw = args[1]
			}
			if raw == "" || raw == "-" {
				b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 16<<20))
				if err != nil {
					return fmt.Errorf("read arguments: %w", err)
				}
				raw = string(b)
			}
			return p.call(cmd.Context(), t, json.RawMessage(raw))
		},
	}
	cmd.Flags().StringVar(&raw, "args", "", "the arguments, as one JSON object")
	return cmd
}

func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look for everything that is wrong with the vault or the set-up", Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withSession(cmd.Context(), OpenOptions{Wait: true}, func(s *Session) error {
				fs, err := s.Doctor(cmd.Context())
				if err != nil {
					return err
				}
				return p.showFindings(fs)
			})
		},
	}
}

func (p *program) showFindings(fs []Finding) error {
	if p.g.JSON {
		return p.encode(struct {
			Findings []Finding `json:"findings"`
		}{fs})
	}
	s := p.screen
	paint := map[string]func(string) string{"ok": s.green, "note": s.dim, "warning": s.mark, "error": s.red}
	var b strings.Builder
	for _, f := range fs {
		where := ""
		if f.Path != "" {
			where = s.path(harmless(f.Path))
			if f.Line > 0 {
				where += fmt.Sprintf(":%d", f.Line)
			}
			where += "  "
		}
		fmt.Fprintf(&b, "%s  %-9s %s%s\n", paint[f.Level](fmt.Sprintf("%-7s", f.Level)), f.Topic, where, harmless(f.Text))
		if f.Fix != "" {
			fmt.Fprintf(&b, "%s  %s\n", strings.Repeat(" ", 18), s.dim("→ "+harmless(f.Fix)))
		}
	}
	_, err := io.WriteString(p.out, b.String())
	return err
}

func (p *program) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Show every setting in force and where it comes from", Args: noWords,
		RunE: func(*cobra.Command, []string) error {
			settings, err := p.host.Settings(p.g)
			if err != nil {
				return err
			}
			if p.g.JSON {
				return p.encode(struct {
					Settings []Setting `json:"settings"`
				}{settings})
			}
			var rows [][]string
			for _, s := range settings {
				rows = append(rows, []string{s.Key, s.Value, s.Source, s.Doc})
			}
			var b strings.Builder
			p.table(&b, []string{"setting", "value", "from", "meaning"}, rows)
			_, err = io.WriteString(p.out, b.String())
			return err
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting in the configuration file", Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return p.host.Set(args[0], args[1]) },
	})
	return cmd
}

func (p *program) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo [FOLDER]", Short: "Copy a sample vault to a folder and look around in it",
		Long: `Copies a small vault about tea to FOLDER (default: lore-demo), indexes it, and
shows what can be asked. Nothing is written over: an existing folder is opened as
it is.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "lore-demo"
			if len(args) == 1 {
				dir = args[0]
			}
			dir, err := p.host.Demo(dir)
			if err != nil {
				return err
			}
			p.g.Vault = dir
			return p.withSession(cmd.Context(), OpenOptions{Wait: true, Embed: true}, func(s *Session) error { return p.tour(cmd.Context(), s) })
		},
	}
}

// tour asks the sample vault what its index note lists under "Try", and shows
// the answers.
func (p *program) tour(ctx context.Context, s *Session) error {
	r, err := s.Report(ctx)
	if err != nil {
		return err
	}
	if p.g.JSON {
		return p.encode(r)
	}
	fmt.Fprintf(p.out, "%s  %d notes, %d links, %d passages with vectors\n", p.screen.bold(s.Dir), r.Notes, r.Links, r.Embedded)
	for _, t := range p.host.Tools {
		for _, example := range t.Examples {
			fmt.Fprintf(p.out, "\n%s\n", p.screen.dim("$ lore "+t.Short+" "+example.Words+" --vault "+s.Dir))
			res, err := s.Registry.Call(ctx, access.Terminal(), t.Name, json.RawMessage(example.Args))
			if err != nil {
				return err
			}
			if err := p.show(res, s.Dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *program) benchCommand() *cobra.Command {
	return &cobra.Command{
		Use: "bench", Short: "Measure how fast Lore is on this machine and this vault", Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withSession(cmd.Context(), OpenOptions{Wait: true}, func(s *Session) error {
				ms, err := p.host.Bench(cmd.Context(), s)
				if err != nil {
					return err
				}
				if p.g.JSON {
					return p.encode(struct {
						Measures []Measure `json:"measures"`
					}{ms})
				}
				var pairs [][2]string
				for _, m := range ms {
					pairs = append(pairs, [2]string{m.Name, m.Value})
				}
				var b strings.Builder
				p.pairs(&b, pairs)
				_, err = io.WriteString(p.out, b.String())
				return err
			})
		},
	}
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noWords,
		RunE: func(*cobra.Command, []string) error {
			if p.g.JSON {
				return p.encode(map[string]string{"version": p.host.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			_, err := fmt.Fprintf(p.out, "lore %s (%s, %s/%s)\n", p.host.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// interactive reports whether a person watches standard error.
func interactive(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && newScreen(f, false).terminal
}
