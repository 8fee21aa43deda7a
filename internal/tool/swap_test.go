package tool

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/fault"
	"lore/internal/tool/access"
)

func foreign(t *testing.T, source, name string) *Tool {
	t.Helper()
	f, err := Foreign(ForeignTool{
		Name: name, Doc: "Does.", Set: External, Input: &jsonschema.Schema{Type: "object"}, Needs: access.Egress, Source: source,
		Run: func(context.Context, json.RawMessage) (any, error) { return map[string]any{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSwap replaces the tools of one source, and no others: names say nothing
// about whose a tool is.
func TestSwap(t *testing.T) {
	own := foreign(t, "", "mcp_git_own")
	r := NewRegistry(Deps{}, []*Tool{own})
	swap := func(source string, names ...string) error {
		var list []*Tool
		for _, n := range names {
			list = append(list, foreign(t, source, n))
		}
		return r.Swap(source, list)
	}
	has := func(want ...string) {
		t.Helper()
		var got []string
		for _, x := range r.All() {
			got = append(got, x.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if err := swap("git", "mcp_git_a", "mcp_git_b"); err != nil {
		t.Fatal(err)
	}
	if err := swap("git_hub", "mcp_git_hub_a"); err != nil {
		t.Fatal(err)
	}
	has("mcp_git_a", "mcp_git_b", "mcp_git_hub_a", "mcp_git_own")
	if err := swap("git", "mcp_git_c"); err != nil {
		t.Fatal(err)
	}
	has("mcp_git_c", "mcp_git_hub_a", "mcp_git_own")
	// A name that another has is not taken over.
	if err := swap("evil", "mcp_git_own", "mcp_git_hub_a", "mcp_evil"); fault.Of(err) != fault.Conflict {
		t.Errorf("%v", err)
	}
	if got, err := r.Find("mcp_git_own"); err != nil || got != own {
		t.Errorf("shadowed: %v, %v", got, err)
	}
	has("mcp_evil", "mcp_git_c", "mcp_git_hub_a", "mcp_git_own")
	for _, s := range []string{"git", "evil", "git_hub", "nobody"} {
		if err := swap(s); err != nil {
			t.Fatal(err)
		}
	}
	has("mcp_git_own")
	if err := r.Swap("", nil); err == nil {
		t.Error("Lore's own tools were swapped away")
	}
	has("mcp_git_own")
	if err := r.Swap("one", []*Tool{foreign(t, "two", "x")}); err == nil {
		t.Error("a tool came in under another's name")
	}
}
