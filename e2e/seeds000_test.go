package e2e

import (
	"net/http"
	"testing"
)

// TestSeed000Latent walks through the tools of a notes app with an agent.
func TestSeed000Latent(t *testing.T) {
	files := map[string]string{
		"research/quantum.md":       "---\ntags: [physics, computing]\nauthor: Alice\n---\n\n# Quantum Computing Overview\n\nQuantum computing relies on [[superposition]] and entanglement.\n",
		"concepts/superposition.md": "---\ntags: [physics]\n---\n# Superposition\n\nA state that is a sum of states.\n",
		"papers/bell.md":            "# Bell's Theorem\n\nSee [quantum superposition](../concepts/superposition.md).\n",
		"old.md":                    "# Old\n\nShort.\n",
		".obsidian/secret.md":       "hidden\n",
	}
	walk(t, files, []row{
		r("read_note returns the whole note", ask("read_note", `{"path":"research/quantum.md"}`), `author: Alice\\n---\\n\\n# Quantum Computing Overview`),
		r("read_note says which note is missing", ask("read_note", `{"path":"research/nothing.md"}`), `note not found: \\"research/nothing.md\\"`),
		r("a path outside the vault is refused", ask("read_note", `{"path":"../../etc/passwd"}`), `"kind":"unsafe_path"`, `!root:`),
		r("a path outside the vault is not written", ask("write_note", `{"path":"../evil.md","content":"x"}`), `"kind":"unsafe_path"`),
		r("an absolute path is refused", ask("read_note", `{"path":"/etc/passwd"}`), `"kind":"unsafe_path"`),
		r("hidden folders are not read", ask("read_note", `{"path":".obsidian/secret.md"}`), `"kind":"(unsafe_path|denied|not_found)"`, `!"hidden`),
		r("search_notes finds passages with path, title, text and score", ask("search_notes", `{"query":"quantum computing"}`), `"results":\[\{"path":"research/quantum.md","title":"Quantum Computing Overview".*"chunk":".*"score":[01]?\.?\d`),
		r("search_notes returns at most top_k", ask("search_notes", `{"query":"quantum superposition","top_k":1}`), `"results":\[\{"path"`, `!"path":.*"path":`),
		r("search_notes filters by tags", ask("search_notes", `{"query":"quantum superposition","filter":{"tags":["physics","computing"]}}`), `research/quantum.md`, `!"path":"concepts/superposition.md"`),
		r("a tag is matched as a whole", ask("search_notes", `{"query":"quantum superposition","filter":{"tags":["phys"]}}`), `"results":\[\]`),
		r("search_notes filters by a first day", ask("search_notes", `{"query":"quantum","filter":{"date_after":"2200-01-01"}}`), `"results":\[\]`),
		r("search_notes filters by a last day", ask("search_notes", `{"query":"quantum","filter":{"date_before":"2001-01-01"}}`), `"results":\[\]`),
		r("search_notes needs a query", ask("search_notes", `{}`), `query: is missing`),
		r("write_note waits for a person", ask("write_note", `{"path":"summaries/new.md","content":"# New Note\n\nzirconium\n"}`), `"requires_confirmation":true`, `"operation":"write_note"`),
		r("write_note creates a note and its folders", all(answer(`"approve":true`), file("summaries/new.md")), `"success":true.*summaries/new.md`, `# New Note\n\nzirconium\n$`),
		r("what was written is found at once", ask("search_notes", `{"query":"zirconium"}`), `"path":"summaries/new.md"`),
		r("overwriting a note is confirmed first", all(ask("write_note", `{"path":"old.md","content":"# Old\n\nShort. And more.\n"}`), file("old.md")), `"requires_confirmation":true`, `Short\.\n$`),
		r("an overwrite that is refused changes nothing and is no error", all(answer(`"approve":false,"word":"keep it"`), file("old.md")), `"isError":false`, `"user_feedback":"keep it"`, `Short\.\n$`),
		r("update_frontmatter changes and adds fields", all(do("update_frontmatter", `{"path":"research/quantum.md","updates":{"tags":["physics","computing","important"],"reviewed":true}}`), file("research/quantum.md")), `important`, `reviewed: true`, `author: Alice`),
		r("update_frontmatter leaves the text as it is", file("research/quantum.md"), `\n---\n\n# Quantum Computing Overview\n\nQuantum computing relies on \[\[superposition\]\] and entanglement\.\n$`),
		r("update_frontmatter works for a note that has none", all(do("update_frontmatter", `{"path":"papers/bell.md","updates":{"status":"read"}}`), file("papers/bell.md")), `^.*---\nstatus: read\n---\n`),
		r("new metadata is found at once", ask("search_by_tag", `{"tags":["important"]}`), `research/quantum.md`),
		r("list_backlinks tells the source and its title", ask("list_backlinks", `{"path":"concepts/superposition.md"}`), `"source_path":"research/quantum.md","source_title":"Quantum Computing Overview"`),
		r("list_backlinks tells the words and the kind of a link", ask("list_backlinks", `{"path":"concepts/superposition.md"}`), `"link_text":"quantum superposition","link_type":"markdown"`, `"link_type":"wikilink"`),
		r("list_backlinks is ordered by title", ask("list_backlinks", `{"path":"concepts/superposition.md"}`), `Bell's Theorem.*Quantum Computing Overview`),
		r("list_forward_links tells where a note leads", ask("list_forward_links", `{"path":"research/quantum.md"}`), `"target_path":"concepts/superposition.md"`),
		r("create_daily_note makes today's note", do("create_daily_note", `{}`), `"created":true`),
		r("create_daily_note opens it the second time", do("create_daily_note", `{}`), `"created":false`),
		r("search_by_tag finds exact tags", ask("search_by_tag", `{"tags":["physics"]}`), `concepts/superposition.md`, `research/quantum.md`),
		r("get_note_metadata tells properties and counts without the text", ask("get_note_metadata", `{"path":"research/quantum.md"}`), `"author":"Alice"`, `"words":\d`, `!entanglement`),
		r("rename_note updates the links to a note", all(do("rename_note", `{"path":"concepts/superposition.md","new_path":"concepts/Sum of states.md"}`), file("research/quantum.md"), file("papers/bell.md")), `"links_updated":2`, `\[\[Sum of states`, `\(\.\./concepts/Sum%20of%20states\.md\)`),
		r("rename_note is confirmed first", ask("rename_note", `{"path":"papers/bell.md","new_path":"papers/Bell.md"}`), `"requires_confirmation":true`),
		r("delete_note is confirmed first", all(ask("delete_note", `{"path":"old.md"}`), file("old.md")), `"requires_confirmation":true`, `Short`),
		r("delete_note deletes when a person agrees", all(answer(`"approve":true`), file("old.md")), `"success":true`, `absent`),
		r("what was deleted can be brought back", all(do("undo", `{}`), file("old.md")), `"success":true`, `Short\.`),
		r("get_random_note finds some note", ask("get_random_note", `{}`), `"path":"[^"]+\.md"`),
		r("the agent answers with the notes that it used", typed("ask", "--json", "what does quantum computing rely on?"), `search_notes`, `\[\[.*[Qq]uantum`, `"status": "done"`),
		r("an unknown tool is named, with near ones", ask("serach_notes", `{"query":"x"}`), `search_notes`),
		r("arguments may come as a string", func(w *seedWorld) string { return w.run("call", "read_note", `"{\"path\":\"old.md\"}"`) }, `Short`),
		r("calls are logged with time, tool and arguments", get("/activity?tool=write_note"), `"tool":"write_note"`, `"time":"20\d\d-`, `old\.md|summaries/new\.md`),
		r("the log tells how long a call took", get("/activity?tool=search_notes"), `"(duration_ms|took_ms|milliseconds|duration)"`),
		r("the log tells of errors", get("/activity?tool=read_note"), `note not found`),
		r("the log tells what came of a call", get("/activity?tool=search_notes"), `"result_summary":"`),
		r("every tool has a name, a description and a schema", get("/tools"), `"name":"read_note"`, `"description":"`, `"properties":\{"path"|"path":\{`),
		r("the person sees what is planned before it is done", all(ask("write_note", `{"path":"plan.md","content":"planned\n"}`), func(w *seedWorld) string { return page(http.MethodGet, "/approvals/"+w.last, "")(w) }), `\+planned`),
	})
}
