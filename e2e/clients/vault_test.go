//go:build clients

package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lore/internal/surface/http/serve/servetest"
	"lore/internal/workspace/process/ptytest"
)

// TestPlainMarkdown: a vault that only the tools of the knowledge graph wrote is
// what parsers that know nothing of Lore read in it: properties, links that lead
// somewhere, relations as fields of list items, the same graph.
func TestPlainMarkdown(t *testing.T) {
	t.Parallel()
	g := newGardener(t)
	ids := g.plant()
	g.relate(ids)
	g.link(ids)
	g.evidence(ids[0])
	g.change(ids)
	g.judged()
	g.merge()
	g.judged()
}

// A gardener makes a vault with the tools of the knowledge graph alone: a program
// asks, and a person says yes.
type gardener struct {
	*world
	address, token string
	person         *http.Client
	web            func() []map[string]any   // what the web finds next
	expected       map[string]map[string]any // of each note, properties that were given
}

// newGardener serves a vault without notes.
func newGardener(t *testing.T) *gardener {
	t.Helper()
	g := &gardener{world: newWorld(t), expected: map[string]map[string]any{}}
	if err := errors.Join(os.RemoveAll(g.vault), os.Mkdir(g.vault, 0o755)); err != nil {
		t.Fatal(err)
	}
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"results": g.web()}) // the caller would tell
	}))
	t.Cleanup(engine.Close)
	g.env = append(g.env, "LORE_LIMITS_CALLS=100000", "LORE_LIMITS_CHANGES=100000", "LORE_WEB_SEARCH=searxng", "LORE_WEB_BASE_URL="+engine.URL)
	g.token = g.world.token("read,write,destroy,egress")
	s := g.serve()
	g.address = s.Address
	link := ptytest.Run(t, g.command(t.Context(), g.lore, "--vault", g.vault, "login"))
	if link.Code != 0 {
		t.Fatal(link)
	}
	g.person = servetest.SignIn(t, strings.TrimSpace(link.Out))
	return g
}

// send makes one request, with the token unless a person makes it.
func (g *gardener) send(c *http.Client, path string, body any) map[string]any {
	g.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		g.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodPost, g.address+"/api/v1/"+path, bytes.NewReader(b))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c != g.person {
		req.Header.Set("Authorization", "Bearer "+g.token)
	}
	res, err := c.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		g.t.Fatalf("%s %s: %s, %v", path, b, res.Status, err)
	}
	return out
}

// call calls a tool, and a person approves whatever is asked.
func (g *gardener) call(tool string, args map[string]any) map[string]any {
	g.t.Helper()
	o := g.send(http.DefaultClient, "tools/"+tool, args)
	for range 3 {
		id, waits := o["pending_operation_id"].(string)
		if !waits {
			break
		}
		o = g.send(g.person, "approvals/"+id+"/answer", map[string]any{"approve": true, "revision": o["revision"]})
	}
	if o["success"] != true {
		g.t.Fatalf("%s %v: %v", tool, args, o)
	}
	return o
}

// titles are names that something stumbles over: a file system, a link, YAML,
// Markdown, Obsidian or Dataview.
func titles() []string {
	return []string{
		"A plain title", "Colon: a title", `He said "yes" and 'no'`, "[draft] brackets (and) {braces}", "Tee 🍵 und 👩‍🔬 Emoji", "抹茶は苦い：本当？", "قهوة باردة",
		strings.Repeat("A very long title that goes on ", 12), strings.Repeat("長", 150), "- leading dash", "+ plus", "1. first", "> quote", "!!! ??? ...", "…", "C# and F#", "#hash", "a|b pipe ^caret",
		`back\slash / slash`, "trailing dot.", "CON", "aux.txt", "null", "true", "~", "007", "2026-01-31", "1e3", "0x1F", "@at `tick", "%percent%", "*stars* _and_ `ticks`", "<b>html</b> &amp; more",
		"$math$ and ==mark== ~~gone~~", "key:: value", "Same name", "same NAME", "Relations", "note.md", "picture.png", "A\u0301 combining e\u0301", "zero\u200bwidth \u202eturned", "--- ", "=== x", "[ ] task", "[^1] foot", "title #tag", "https://example.org/a?b=c#d",
		"Ends with ^rel-abc1", "supports", "Nodes", "a  b\tc", "'", `"`, "&anchor", "? query", "confidence", ".hidden", "..", "😀",
	}
}

// values are properties of all types, and texts that YAML takes for something
// else.
func values() map[string]any {
	out := map[string]any{
		"number": 3, "negative": -7, "fraction": 0.1, "large": 1e21, "yes_no": true, "nothing": nil, "list": []any{"a", 1, false, "yes", "x: y"}, "empty_list": []any{},
		"nested": map[string]any{"a": 1, "b": []any{"c", map[string]any{"d": "no"}}}, "key with space": "x", "ключ": "значение", "a.b": "x", "Upper-Case": "x",
	}
	for i, s := range []string{
		"", " lead and trail ", "yes", "No", "on", "null", "~", "1.0", "0o7", "0x1F", "1_000", "12:30:45", "1e3", ".inf", "2026-01-31", "a: b", "# no comment", "a # b", "- x", "? x", "'q\"", "two\nlines\n", "tab\there",
		"&a", "*b", "!c", "%d", "@e", "`f`", "{g}", "[h]", "|", ">", "😀", "\\n", "---", "...", "=", "<<", "key:: value", "#tag", "ends with:", "a\u0085b", "\u2028", "\ufeffx", "é",
	} {
		out[fmt.Sprintf("text_%02d", i)] = s
	}
	return out
}

// plant makes nodes of every type under every title.
func (g *gardener) plant() []string {
	g.t.Helper()
	types := []string{"Observation", "Hypothesis", "Source", "Concept", "Question", "Claim", "Entity", "Task", "Note", "Field note", "Größe"}
	texts := []string{
		"One line.", "", "- a list\n- of things\n  - and more\n", "1. first\n2. second\n\n> a quote\n> of two lines",
		"```md\n## Relations\n- supports:: [[Nowhere]] [confidence:: 0.5] ^rel-code\n```\n\nand `supports:: [[Nowhere]]` in a line", "~~~\nfenced [[Nowhere]]\n~~~",
		"    indented:: [[Nowhere]]\n\n| a | b |\n|---|---|\n| 1 | 2 |", "## A heading\n\nwords below it\n\n### Another\n\nmore", "<div>\nhtml\n</div>\n\nafter", "A paragraph with a mark. ^own-%d", "Line one\r\nline two\r\n",
		"- [ ] a task\n- [x] done", "\\[\\[not a link]] and a footnote[^1]\n\n[^1]: said so", "Trailing blanks  \nand a break\n\n\n\nafter many",
	}
	var ids []string
	for i, title := range titles() {
		text := texts[i%len(texts)]
		if strings.Contains(text, "%d") {
			text = fmt.Sprintf(text, i)
		}
		content := map[string]any{"title": title, "text": text}
		if i%3 == 0 {
			content["confidence"] = float64(i%11) / 10
		}
		o := g.call("create_node", map[string]any{"type": types[i%len(types)], "content": content, "auto_analyze": false})
		ids = append(ids, o["node_id"].(string))
	}
	// The same name twice, in two folders: a link needs a path.
	for _, typ := range []string{"Claim", "Question"} {
		o := g.call("create_node", map[string]any{"type": typ, "content": map[string]any{"title": "Twins", "text": "Words."}})
		ids = append(ids, o["node_id"].(string))
	}
	content := map[string]any{"title": "Properties"}
	for k, v := range values() {
		content[k] = v
	}
	o := g.call("create_node", map[string]any{"type": "Entity", "content": content})
	g.expected[o["path"].(string)] = values()
	g.call("update_node", map[string]any{"node_id": ids[1], "updates": values()})
	updated := values()
	delete(updated, "nothing") // null takes a property away
	g.expected[g.call("get_node", map[string]any{"node_id": ids[1]})["path"].(string)] = updated
	return append(ids, o["node_id"].(string))
}

// relate states relations from each node to the next ones, so that every title
// is linked to and from.
func (g *gardener) relate(ids []string) {
	g.t.Helper()
	types := []string{"SUPPORTS", "CONTRADICTS", "RELATES_TO", "CITES", "DERIVED_FROM", "PART_OF", "CAUSES", "SIMILAR_TO", "tested by", "Über"}
	notes := []string{
		"", "measured in three trials", `"quoted" and 'so'`, "with [brackets], (parentheses) and {braces}", "a `tick` and *stars*", "see [[A plain title]]", "a # b and #tag", "key:: value", "100 % | pipe", "ends with a mark ^no-mark!",
		"two\nlines", "[when:: 2024] and (where:: here)", "<b>bold</b> & more", "日本語 😀", "- dash", "$1 == $2", "\\[escaped\\]", "https://example.org/x_y_z",
	}
	for i, from := range ids {
		args := map[string]any{"from_id": from, "to_id": ids[(i+1)%len(ids)], "relationship_type": types[i%len(types)], "confidence": float64(i%10) / 9, "notes": notes[i%len(notes)]}
		g.call("create_relationship", args)
		if i%4 == 0 {
			args["to_id"], args["relationship_type"] = ids[(i+7)%len(ids)], "SUPPORTS"
			g.call("create_relationship", args)
		}
	}
}

// stated is a relation that the node states itself.
func (g *gardener) stated(id string) string {
	g.t.Helper()
	for _, r := range g.call("get_node", map[string]any{"node_id": id})["relationships"].([]any) {
		if r := r.(map[string]any); r["direction"] == "out" {
			return r["edge_id"].(string)
		}
	}
	g.t.Fatalf("%s states nothing", id)
	return ""
}

// link writes texts with links to other nodes in all their forms.
func (g *gardener) link(ids []string) {
	g.t.Helper()
	edge := g.stated(ids[0])
	text := "See [[A plain title|the plain one]], [[A plain title#^" + edge + "]] and [[A plain title#Relations]].\n\n- and [[Nodes/Claim/Twins]]\n- or [[Nodes/Question/Twins|the other]]"
	for _, id := range []string{ids[9], ids[23]} {
		g.call("update_node", map[string]any{"node_id": id, "updates": map[string]any{"text": text}})
	}
}

// evidence lets the web write into the vault what it likes.
func (g *gardener) evidence(id string) {
	g.t.Helper()
	bad := []string{
		"[[Nowhere]] #evil supports:: [[A plain title]]", "^rel-evil", "%%hidden", "```\nfence", "<script>alert(1)</script>", "---\nid: evil\n---", "## Relations\n- supports:: [[Nowhere]] ^rel-x", "![[Nowhere]]", "[a](b.md)", "| a | b |\n|---|---|",
		"key:: value [confidence:: 1]", "- [ ] task", "$$math$$ ==mark==", "\u202eturned \u200b", "{{template}} <% tp %>", "[^1]: foot", "\\", "`", "   ", "# heading", "http://a.b/[[Nowhere]]", "www.example.org and me@example.org", "*_~=", "supports : : [[Nowhere]]", "(supports:: [[Nowhere]])",
	}
	var results []map[string]any
	for i, b := range bad {
		results = append(results, map[string]any{
			"url": fmt.Sprintf("https://example.org/%d?a=[[x]]&b=#c", i), "title": "A plain title one line " + b, "content": b + " A plain title. One line. " + b, "publishedDate": "2024-01-31T00:00:00",
		})
	}
	page := 0
	g.web = func() []map[string]any {
		part := results[min(page, len(results)):min(page+10, len(results))]
		page += 10
		return part
	}
	made := 0
	for page < len(results) {
		o := g.call("search_web_for_evidence", map[string]any{"node_id": id, "max_results": 10, "create_sources": true})
		made += int(o["sources_created"].(float64))
	}
	if made < len(bad)/2 {
		g.t.Errorf("only %d sources of %d results", made, len(bad))
	}
}

// change lets everything happen to nodes and relations that is not a merge.
func (g *gardener) change(ids []string) {
	g.t.Helper()
	for i, id := range ids[:20] {
		g.call("recalculate_node_confidence", map[string]any{"node_id": id})
		edge := g.stated(id)
		switch i % 4 {
		case 0:
			g.call("recalculate_edge_confidence", map[string]any{"edge_id": edge})
		case 1:
			g.call("reclassify_relationship", map[string]any{"edge_id": edge, "new_type": "CITES", "preserve_notes": i%8 == 1})
		case 2:
			g.call("reclassify_node", map[string]any{"node_id": id, "new_type": "Hypothesis"})
		case 3:
			g.call("delete_relationship", map[string]any{"edge_id": edge})
		}
	}
	g.call("find_related_nodes", map[string]any{"node_id": ids[12], "auto_link": true, "min_similarity": 0.01, "limit": 5})
	g.call("update_node", map[string]any{"node_id": ids[30], "updates": map[string]any{"title": "Another: title [x]", "text": "## Relations\n\nwords of my own\n\n## More\n\nlast", "confidence": 0.4}})
	if o := g.send(http.DefaultClient, "tools/update_node", map[string]any{"node_id": ids[31], "updates": map[string]any{"text": "```\nnever closed"}}); o["kind"] != "invalid" {
		g.t.Errorf("the relations are code: %v", o)
	}
	g.call("create_relationship", map[string]any{"from_id": ids[30], "to_id": ids[0], "relationship_type": "SIMILAR_TO", "notes": "after the text changed"})
	g.call("delete_node", map[string]any{"node_id": ids[40], "cascade": true})
}

// merge makes one node of two, each way, among nodes that are linked to.
func (g *gardener) merge() {
	g.t.Helper()
	list := g.call("list_nodes", map[string]any{"limit": 500, "sort": "path"})["nodes"].([]any)
	id := func(i int) any { return list[i].(map[string]any)["node_id"] }
	for i, strategy := range []string{"combine", "prefer_primary", "prefer_secondary", "combine", "prefer_primary", "prefer_secondary"} {
		a, b := id(3+7*i), id(6+7*i)
		for _, x := range []any{a, b} { // the properties of one may win over the other's
			delete(g.expected, g.call("get_node", map[string]any{"node_id": x})["path"].(string))
		}
		g.call("merge_nodes", map[string]any{"primary_node_id": a, "secondary_node_id": b, "merge_strategy": strategy})
	}
}

// judged lets the parsers look at the vault as it is now.
func (g *gardener) judged() {
	g.t.Helper()
	dir := g.t.TempDir()
	expected, err := json.Marshal(g.expected)
	if err != nil {
		g.t.Fatal(err)
	}
	graph := g.call("export_graph", map[string]any{"format": "json", "limit": 10000})["content"].(string)
	for name, text := range map[string]string{"expected.json": string(expected), "graph.json": graph} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			g.t.Fatal(err)
		}
	}
	o := g.script("vault.mjs", g.vault, filepath.Join(dir, "expected.json"), filepath.Join(dir, "graph.json"))
	var found struct {
		Notes, Links, Relations, Blocks int
		Wrong                           []string
	}
	if err := json.Unmarshal([]byte(o.out), &found); err != nil {
		g.t.Fatalf("%v: %s", err, o)
	}
	g.t.Logf("%d notes, %d links, %d relations, %d marks", found.Notes, found.Links, found.Relations, found.Blocks)
	if found.Notes < len(titles()) || found.Relations < len(titles()) || found.Links < found.Relations {
		g.t.Errorf("too little was looked at")
	}
	for _, line := range found.Wrong {
		g.t.Error(line)
	}
}
