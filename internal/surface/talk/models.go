package talk

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/surface/draw"
)

// ModelsCommand lists what can be talked with.
func ModelsCommand(minds func() (llm.Minds, error), term func(cmd *cobra.Command) Terminal) *cobra.Command {
	return &cobra.Command{
		Use: "models [PROVIDER]", Short: "List the models that can be talked with", Args: cobra.MaximumNArgs(1),
		Long:    "Asks every provider that can be reached what it serves. A provider needs its key in the environment, or nothing when it runs here. Set one with lore config set model PROVIDER/NAME.",
		Example: "lore models\nlore models ollama\nlore config set model ollama/qwen3:8b",
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := minds()
			if err != nil {
				return err
			}
			names := m.Names()
			if len(args) == 1 {
				names = args
			}
			return term(cmd).models(llm.List(cmd.Context(), m, names), len(args) == 1)
		},
	}
}

// models shows the lists.
func (t Terminal) models(list []llm.Listing, one bool) error {
	if t.JSON {
		return t.Encode(struct {
			Providers []llm.Listing `json:"providers"`
		}{list})
	}
	var rows [][]string
	for _, p := range list {
		for _, m := range p.Models {
			rows = append(rows, []string{draw.OneLine(p.Provider + "/" + m.Name), tokens(m.Context), can(&m)})
		}
	}
	if len(rows) > 0 {
		var b strings.Builder
		t.Screen.Table(&b, []string{"model", "context", "can"}, rows)
		fmt.Fprint(t.Out, b.String())
	}
	for _, p := range list {
		if p.Error == "" {
			continue
		}
		if one {
			return fault.New(fault.Unavailable, "%s: %s", p.Provider, p.Error)
		}
		fmt.Fprintln(t.Err, t.Notice.Dim(draw.OneLine(p.Provider+": "+p.Error)))
	}
	if len(rows) == 0 && !one {
		fmt.Fprintln(t.Err, "No model can be reached. Without one, lore quotes your notes. Start Ollama, or put a key into the environment.")
	}
	return nil
}

func tokens(n int) string {
	if n == 0 {
		return "?"
	}
	return strconv.Itoa(n)
}

// can lists what a model is known to do.
func can(m *llm.Info) string {
	var out []string
	for _, c := range []struct {
		name string
		yes  *bool
	}{{"tools", m.Tools}, {"thinking", m.Thinking}, {"images", m.Vision}, {"vectors", m.Embedding}} {
		if c.yes != nil && *c.yes {
			out = append(out, c.name)
		}
	}
	return strings.Join(out, ", ")
}
