package conversation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
)

// ModelsCommand lists what can be talked with.
func ModelsCommand(minds func() (llm.Providers, error), term func(cmd *cobra.Command) Terminal) *cobra.Command {
	return &cobra.Command{
		Use: "models [PROVIDER]", Short: "List available models", Args: argv.Between(0, 1),
		Long: `Lists the models from every provider that Lore can reach. A remote provider needs an
API key (lore key set, or an environment variable); a local one needs none. Choose
your default with lore config set model PROVIDER/NAME.`,
		Example: "lore models                                list all models\nlore models ollama                         list the models from one provider\nlore config set model ollama/qwen3:8b      choose the default model",
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
		t.Screen.Table(&b, []string{"model", "context", "supports"}, rows)
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
		fmt.Fprintln(t.Err, "No models available. Start Ollama, or store an API key with lore key set. Without a model, Lore quotes your notes.")
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
	}{{"tools", m.Tools}, {"thinking", m.Thinking}, {"images", m.Vision}, {"embeddings", m.Embedding}} {
		if c.yes != nil && *c.yes {
			out = append(out, c.name)
		}
	}
	return strings.Join(out, ", ")
}
