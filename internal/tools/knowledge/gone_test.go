package knowledge_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/embed"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
)

// A moody model stops answering, as a server does that went away.
type moody struct {
	tooltest.Words
	down *bool
}

func (m moody) Embed(ctx context.Context, role embed.Role, texts []string) ([][]float32, error) {
	if *m.down {
		return nil, errors.New("nobody listens")
	}
	return m.Words.Embed(ctx, role, texts)
}

// A node is made whether or not what is near to it can be told: a neighbour may
// be gone that the index still has, and the model may not answer.
func TestNodeIsMadeWithoutItsNeighbours(t *testing.T) {
	for _, name := range []string{"neighbour gone", "model down"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			near := filepath.Join(dir, "Cold brew is mild.md")
			if err := os.WriteFile(near, []byte("---\ntype: Claim\n---\n# Cold brew is mild\n\nCold brew tastes less acidic.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			down := false
			place := tooltest.Open(t, dir, moody{down: &down})
			reg := tool.NewRegistry(place.Deps(), open(place))
			who := access.Terminal()
			who.Explicit = true
			create := func(title string) tool.Result {
				args, err := json.Marshal(map[string]any{"type": "Claim", "content": map[string]any{"title": title, "text": "Cold brew tastes less acidic."}})
				if err != nil {
					t.Fatal(err)
				}
				res, err := reg.Call(t.Context(), who, "create_node", args)
				if err != nil || !res.Success {
					t.Fatalf("%s: %+v, %v", title, res, err)
				}
				return res
			}
			if out, err := json.Marshal(create("Cold brew is mild indeed").Value); err != nil || !strings.Contains(string(out), "Cold brew is mild.md") {
				t.Fatalf("nothing is near: %s, %v", out, err)
			}
			if down = name == "model down"; !down {
				if err := os.Remove(near); err != nil {
					t.Fatal(err)
				}
			}
			create("Cold brew is mild again")
			if down {
				return
			}
			for name, args := range map[string]string{
				"find_related_nodes":   `{"node_id": "Cold brew is mild again"}`,
				"find_contradictions":  `{"node_id": "Cold brew is mild again", "suspect": true}`,
				"find_duplicate_nodes": `{"node_id": "Cold brew is mild again", "min_similarity": 0.5}`,
			} {
				if _, err := reg.Call(t.Context(), who, name, json.RawMessage(args)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// What may ask a model several times has the time for it.
func TestTimeForModels(t *testing.T) {
	for _, tl := range open(tooltest.Place{}) {
		switch tl.Name {
		case "create_node", "update_node", "find_related_nodes", "summarize_node", "reclassify_relationship":
			if tl.Timeout < 5*time.Minute {
				t.Errorf("%s has %s", tl.Name, tl.Timeout)
			}
		}
	}
}
