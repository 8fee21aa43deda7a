package attacks

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestSecretsStayInside: H01. Keys in the environment, the settings and headers
// come out nowhere, whatever goes wrong.
func TestSecretsStayInside(t *testing.T) {
	long(t)
	var refused atomic.Int32
	// A server of embeddings that repeats the key it was sent, as some do.
	echo := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		refused.Add(1)
		rw.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(rw, `{"error":{"message":"Incorrect API key provided: %s"}}`, r.Header.Get("Authorization"))
	}))
	defer echo.Close()
	w := newWorld(t, func(w *world) {
		w.env = append(w.env, "OPENAI_API_KEY="+w.canary, "LORE_EMBED_MODEL=openai:x", "LORE_EMBED_BASE_URL="+echo.URL+"/v1")
	})
	w.put("vault/New.md", "# New\n\nA passage that has no vector yet.\n")
	for i := 0; i < 3000 && refused.Load() == 0; i++ {
		time.Sleep(20 * time.Millisecond) // another process is on its way
	}
	for _, h := range w.hands() {
		for _, c := range [][2]string{
			{"search_notes", `{"query":"tea","mode":"semantic"}`}, {"search_notes", `{"query":"tea"}`}, {"find_similar", `{"path":"Tea.md"}`}, {"read_note", `{"path":"$OPENAI_API_KEY"}`},
			{"get_activity", `{"limit":200}`}, {"vault_health", `{}`}, {"nothing", `{}`},
		} {
			if a := h.call(c[0], c[1]); a.has(w.canary) {
				t.Errorf("%s: %s: %s", h.name, c[0], a.text)
			}
		}
	}
	for _, args := range [][]string{{"config"}, {"config", "--json"}, {"doctor"}, {"doctor", "--json"}, {"index"}, {"activity", "--json"}, {"--version"}, {"token", "list", "--json"}} {
		if out, _ := w.lore(args...); strings.Contains(out, w.canary) || strings.Contains(out, w.tokens["all"]) {
			t.Errorf("%v: %s", args, out)
		}
	}
	for _, path := range everywhere[:4] {
		if _, _, body := w.send(w.person, "GET", path, "", nil); strings.Contains(body, w.canary) {
			t.Errorf("%s: %s", path, body)
		}
	}
	if refused.Load() == 0 {
		t.Error("the key was never sent, so that nothing could come out")
	}
	w.silent()
	for name, token := range w.tokens {
		w.canary = token
		w.silent()
		if t.Failed() {
			t.Fatalf("the token %s is kept", name)
		}
	}
}

// TestNotesThatAreBombs: H12, F14. A note that was made to hurt is read, or said
// to be unreadable; it is never changed, and the others are found.
func TestNotesThatAreBombs(t *testing.T) {
	long(t)
	laughs := "---\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'k'; c++ {
		laughs += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	bombs := map[string]string{
		"laughs.md":  laughs + "---\n",
		"deep.md":    "---\na: " + strings.Repeat("[", 100_000) + "\n---\n",
		"tag.md":     "---\na: !!js/function 'function(){}'\nb: !!python/object:os.system x\n---\n",
		"merge.md":   "---\na: &a\n  <<: *a\n  b: 1\n---\n",
		"links.md":   strings.Repeat("[[x]]", 200_000),
		"open.md":    strings.Repeat("[[", 200_000),
		"quotes.md":  strings.Repeat(">", 10_000) + " x\n",
		"lists.md":   strings.Repeat("- ", 10_000) + "x\n",
		"stars.md":   strings.Repeat("*a_", 100_000),
		"ticks.md":   strings.Repeat("`a``", 100_000),
		"tags.md":    strings.Repeat("#a/b", 100_000),
		"escape.md":  "\x1b]52;c;cHduZWQ=\x07\x1b]0;pwned\x07\x1b[2Jzebra\x1b]8;;http://evil.test\x07link\x1b]8;;\x07\n",
		"nul.md":     "a\x00b zebra\n",
		"wide.md":    strings.Repeat("\u0300", 100_000),
		"tables.md":  strings.Repeat("|", 100_000) + "\n" + strings.Repeat("|-", 100_000) + "\n",
		"html.md":    strings.Repeat("<div ", 50_000),
		"invalid.md": "\xff\xfe\xfd zebra",
	}
	w := newWorld(t, func(w *world) {
		for name, text := range bombs {
			w.put("vault/"+name, text)
		}
		w.put("vault/good.md", "zebra in the meadow\n")
	})
	for _, h := range w.hands() {
		if a := h.call("search_notes", `{"query":"zebra meadow","mode":"lexical"}`); a.refused || !a.has("good.md") {
			t.Errorf("%s: %.300s", h.name, a.text)
		}
		for name := range bombs {
			if a := h.call("get_note_metadata", fmt.Sprintf(`{"path":%q}`, name)); a.refused && a.has("internal") {
				t.Errorf("%s: %s: %.300s", h.name, name, a.text)
			}
		}
	}
	for _, args := range [][]string{{"search", "zebra"}, {"doctor"}, {"activity"}, {"links", "escape.md"}} {
		out, _ := w.lore(args...)
		if strings.ContainsAny(out, "\x1b\x07\x00") {
			t.Errorf("%v: %q", args, out)
		}
	}
	for name, text := range bombs {
		if b, err := os.ReadFile(filepath.Join(w.vault, name)); err != nil || string(b) != text {
			t.Errorf("%s was changed: %v", name, err)
		}
	}
}
