package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// node makes a node as a person does and returns its id and path.
func node(t *testing.T, vault, typ string, content ...string) (id, path string) {
	t.Helper()
	args := []string{"node", "create", typ, "--yes", "--json"}
	for _, c := range content {
		args = append(args, "--content", c)
	}
	out, code := run(t, vault, args...)
	var made struct {
		ID   string `json:"node_id"`
		Path string
	}
	if err := json.Unmarshal([]byte(out), &made); err != nil || code != 0 || made.ID == "" {
		t.Fatalf("exit code %d, %v\n%s", code, err, out)
	}
	return made.ID, made.Path
}

// TestANodeIsDeletedAtATerminal: a prompt shows what the deletion touches, --yes
// does not answer it, and only y does it.
func TestANodeIsDeletedAtATerminal(t *testing.T) {
	vault := home(t)
	claim, path := node(t, vault, "Observation", "title=Steam burns", "text=This observation discusses steam.")
	other, otherPath := node(t, vault, "Claim", "title=Steam is hot")
	if out, code := run(t, vault, "relationship", "create", other, claim, "SUPPORTS", "--yes"); code != 0 {
		t.Fatal(out)
	}
	before, otherBefore := fileText(t, vault, path), fileText(t, vault, otherPath)
	remove := []string{"node", "delete", claim, "--cascade", "--yes"}

	tm := onTerminal(t, vault, remove...)
	tm.await(prompt)
	if s := tm.seen(); !strings.Contains(s, "Delete Observation Steam burns (1 relationship)") || !strings.Contains(s, "This observation discusses steam.") || !strings.Contains(s, "-- supports:: [[Steam burns]]") {
		t.Errorf("it does not show what goes:\n%q", s)
	}
	tm.enter("n\n")
	if code := tm.exit(); code != 4 || fileText(t, vault, path) != before || fileText(t, vault, otherPath) != otherBefore {
		t.Errorf("no: exit code %d\n%s", code, tm.seen())
	}
	tm = onTerminal(t, vault, remove...)
	tm.await(prompt)
	tm.enter("y\n")
	if code := tm.exit(); code != 0 || fileText(t, vault, path) != "(none)" || strings.Contains(fileText(t, vault, otherPath), "supports::") {
		t.Errorf("yes: exit code %d\n%s\n%s", code, tm.seen(), fileText(t, vault, otherPath))
	}
	if out, code := run(t, vault, "undo", "--yes"); code != 0 || fileText(t, vault, path) != before || fileText(t, vault, otherPath) != otherBefore {
		t.Errorf("undo: %d %s", code, out)
	}
}

// TestEvidenceAtATerminal: one prompt before something leaves the machine, one
// before it is written down.
func TestEvidenceAtATerminal(t *testing.T) {
	vault := home(t)
	asked := make(chan string, 10)
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.FormValue("q")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"results": [{"url": "https://example.org/s", "title": "A study shows that steam burns", "content": "It confirms that steam burns the skin."}]}`))
	}))
	t.Cleanup(engine.Close)
	t.Setenv("LORE_WEB_SEARCH", "searxng")
	t.Setenv("LORE_WEB_BASE_URL", engine.URL)
	claim, _ := node(t, vault, "Claim", "title=Steam burns the skin of hands")
	search := []string{"node", "evidence", claim, "--create-sources"}

	tm := onTerminal(t, vault, search...)
	tm.await(prompt)
	tm.enter("n\n")
	if code := tm.exit(); code != 4 || len(asked) != 0 {
		t.Errorf("no: exit code %d, asked %d times\n%s", code, len(asked), tm.seen())
	}
	tm = onTerminal(t, vault, search...)
	tm.await(prompt)
	if s := tm.seen(); !strings.Contains(s, `Search the web with searxng for "Steam burns the skin of hands"`) || len(asked) != 0 {
		t.Errorf("asked %d times:\n%s", len(asked), s)
	}
	tm.enter("y\n")
	tm.asked("Add 1 source from the web to Steam burns the skin of hands")
	source := "Nodes/Source/A study shows that steam burns.md"
	if len(asked) != 1 || fileText(t, vault, source) != "(none)" {
		t.Errorf("written before it was asked about, or asked %d times", len(asked))
	}
	tm.enter("y\n")
	if code := tm.exit(); code != 0 || !strings.Contains(fileText(t, vault, source), ":: [[Steam burns the skin of hands]] [confidence:: ") {
		t.Errorf("yes: exit code %d\n%s\n%s", code, tm.seen(), fileText(t, vault, source))
	}
}
