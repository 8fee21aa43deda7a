package automation_test

import (
	"context"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/automation"
	"lore/internal/vault"
)

// open binds the tools of the package, and in a vault small ones that they call.
func open(p tooltest.Place) []*tool.Tool {
	var reg *tool.Registry
	list := automation.Tools(automation.Env{Vault: p.Vault, Folder: "Workflows", ToolFolder: "Tools", Now: tooltest.Now, Registry: func() *tool.Registry { return reg }})
	if p.Vault == nil {
		return list
	}
	docs := map[string]tool.Comment{"put": {Text: "Put text into a file."}, "show": {Text: "Show a file."}, "shift": {Text: "Move a file."}, "drop": {Text: "Delete a file."}, "reach": {Text: "Reach outside."}}
	list = append(list, tool.Toolset("test", docs,
		tool.Change[put](p.Vault), tool.Read[show](p.Vault), tool.Change[shift](p.Vault), tool.Change[drop](p.Vault), tool.Act[reach](p.Vault, tool.Needs(access.Exec)),
		tool.Change[put](p.Vault, tool.Plays(tool.TakesBack), tool.Alias("take_back"), rename("take_it_back")),
	)...)
	reg = tool.NewRegistry(p.Deps(), list)
	return list
}

func rename(name string) tool.Option { return func(t *tool.Tool) { t.Name = name } }

func TestTools(t *testing.T) { tooltest.Run(t, open) }

type (
	// put appends to a file, or makes it.
	put struct {
		Path string `json:"path"`
		Text string `json:"text"`
	}
	show struct {
		Path string `json:"path"`
	}
	shift struct {
		Path string `json:"path"`
		To   string `json:"to"`
	}
	drop struct {
		Path string `json:"path"`
	}
	reach struct{}
	said  struct {
		Text  string   `json:"text,omitempty"`
		Words []string `json:"words,omitempty"`
	}
)

func (in put) Plan(ctx context.Context, v *vault.Vault) (said, change.Set, error) {
	f, err := v.Read(ctx, in.Path)
	if fault.Of(err) == fault.NotFound {
		return said{Text: in.Text}, change.Set{change.Create(in.Path, in.Text)}, nil
	}
	if err != nil {
		return said{}, nil, err
	}
	after := string(f.Data) + in.Text
	return said{Text: after}, change.Set{change.Replace(in.Path, string(f.Data), after)}, nil
}

func (in show) Run(ctx context.Context, v *vault.Vault) (said, error) {
	f, err := v.Read(ctx, in.Path)
	return said{Text: string(f.Data), Words: []string{in.Path, "b.md"}}, err
}

func (in shift) Plan(context.Context, *vault.Vault) (said, change.Set, error) {
	return said{}, change.Set{change.Move(in.Path, in.To)}, nil
}

func (in drop) Plan(ctx context.Context, v *vault.Vault) (said, change.Set, error) {
	f, err := v.Read(ctx, in.Path)
	return said{}, change.Set{change.Delete(in.Path, string(f.Data))}, err
}

func (reach) Foresee(context.Context, *vault.Vault) (tool.Preview, error) {
	return tool.Preview{Summary: "Reach out"}, nil
}

func (reach) Run(context.Context, *vault.Vault) (said, change.Set, error) { return said{}, nil, nil }
