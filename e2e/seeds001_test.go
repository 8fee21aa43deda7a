package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestSeed001ThoughtLab walks through the tools of a knowledge graph, and the
// extensions that its document hopes for.
func TestSeed001ThoughtLab(t *testing.T) {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"query":"x","results":[
			{"url":"https://example.org/yes","title":"Cold brew is less bitter, a trial shows","content":"A trial confirms that cold brew tastes less bitter than hot tea."},
			{"url":"https://example.org/no","title":"Cold brew is not less bitter","content":"There is no evidence that cold brew is less bitter; it does not taste less bitter than hot tea."}]}`)
	}))
	t.Cleanup(engine.Close)
	const workflow = "description: Reviews\nsteps:\n  - id: near\n    tool: find_related_nodes\n    arguments: {node_id: hyp-3b8d}\n  - tool: summarize_node\n    arguments: {node_id: hyp-3b8d}\n"
	files := map[string]string{
		"Workflows/Chain.yaml":   workflow,
		"Workflows/Nightly.yaml": "on: {schedule: \"0 3 * * *\", time_zone: UTC}\nallow: {paths: Log/**}\nsteps:\n  - tool: write_note\n    arguments: {path: Log/Runs.md, content: ran}\n",
		"Tools/shout.yaml":       "description: Finds notes by a word\ninputs: {word: {type: text}}\nworkflow: Word\n",
		"Workflows/Word.yaml":    "inputs: {word: {type: text}}\nsteps:\n  - id: find\n    tool: search_notes\n    arguments: {query: \"{{ inputs.word }}\"}\noutputs: {found: \"{{ steps.find.results }}\"}\n",
	}
	rows := []row{
		r("find_related_nodes returns success and the node", ask("find_related_nodes", `{"node_id":"hyp-3b8d"}`), `"success":true`, `"node_id":"hyp-3b8d"`),
		r("find_related_nodes tells id, type and content of each", ask("find_related_nodes", `{"node_id":"hyp-3b8d","min_similarity":0.1}`), `"related_nodes":\[\{"id":"[^"]+","type":"[A-Z]\w+"`, `"content":"`),
		r("find_related_nodes tells similarity, relationship and reason", ask("find_related_nodes", `{"node_id":"hyp-3b8d","min_similarity":0.1}`), `"similarity_score":0?\.\d+`, `"suggested_relationship":"[A-Z_]+"`, `"reasoning":"[^"]+"`),
		r("find_related_nodes takes a limit", ask("find_related_nodes", `{"node_id":"hyp-3b8d","min_similarity":0,"limit":1}`), `"related_nodes":\[\{`, `!"similarity_score".*"similarity_score"`),
		r("find_related_nodes takes a threshold", ask("find_related_nodes", `{"node_id":"hyp-3b8d","min_similarity":0.999}`), `"related_nodes":\[\]`),
		r("find_related_nodes links by itself when told, and a person agrees", ask("find_related_nodes", `{"node_id":"obs-9x2m","min_similarity":0.1,"limit":3,"auto_link":true}`), `"requires_confirmation":true|"links_created":\d`),
		r("find_related_nodes counts the links that it made", all(do("find_related_nodes", `{"node_id":"obs-9x2m","min_similarity":0.1,"limit":3,"auto_link":true}`)), `"links_created":\d`, `"message":"`),
		r("recalculate_node_confidence tells old and new", do("recalculate_node_confidence", `{"node_id":"hyp-3b8d"}`), `"old_confidence":0\.8`, `"new_confidence":[01]?\.?\d*`),
		r("recalculate_node_confidence tells why, factor by factor", ask("recalculate_node_confidence", `{"node_id":"hyp-7k3f","dry_run":true}`), `"reasoning":"[^"]+"`, `"factors":\[\{"factor":".+","impact":"\+0\.12"`),
		r("recalculate_node_confidence can leave relationships out", ask("recalculate_node_confidence", `{"node_id":"hyp-7k3f","factor_in_relationships":false,"dry_run":true}`), `"success":true`, `"new_confidence"`),
		r("summarize_node gives a summary and key points", ask("summarize_node", `{"node_id":"hyp-3b8d"}`), `"summary":"[^"]+"`, `"key_points":\["`),
		r("summarize_node keeps to a length", ask("summarize_node", `{"node_id":"hyp-3b8d","max_length":60}`), `"summary":"[^"]{1,70}"`),
		r("summarize_node counts relationships when told", ask("summarize_node", `{"node_id":"hyp-3b8d","include_relationships":true}`), `"related_count":[1-9]`),
		r("summarize_node_with_context sorts the neighbours", ask("summarize_node_with_context", `{"node_id":"hyp-3b8d"}`), `"context":\{"supports":\["`, `"contradicts":`, `"related":`),
		r("summarize_node_with_context draws a conclusion", ask("summarize_node_with_context", `{"node_id":"hyp-3b8d"}`), `"synthesis":"[^"]+"`),
		r("summarize_node_with_context takes depth and types", ask("summarize_node_with_context", `{"node_id":"hyp-3b8d","depth":2,"relationship_types":["SUPPORTS"]}`), `"supports":\["`, `"related":\[\]`),
		r("search_web_for_evidence is asked about before anything is sent", ask("search_web_for_evidence", `{"node_id":"hyp-3b8d"}`), `"requires_confirmation":true`),
		r("search_web_for_evidence finds pages with address, title and snippet", answer(`"approve":true`), `"url":"https://example.org/yes","title":"Cold brew is less bitter`, `"snippet":"`),
		r("search_web_for_evidence judges each page", do("search_web_for_evidence", `{"node_id":"hyp-3b8d"}`), `"relevance_score":[01]?\.?\d`, `"evidence_type":"supporting"`, `"evidence_type":"contradicting"`, `"reasoning":"`),
		r("search_web_for_evidence looks for one kind only", do("search_web_for_evidence", `{"node_id":"hyp-3b8d","evidence_type":"contradicting"}`), `"evidence_type":"contradicting"`, `!"evidence_type":"supporting","reasoning`),
		r("search_web_for_evidence takes another query and a number", do("search_web_for_evidence", `{"node_id":"hyp-3b8d","query_override":"tea","max_results":1}`), `"results":\[\{`, `!"url".*"url"`),
		r("search_web_for_evidence makes sources and links them", all(do("search_web_for_evidence", `{"node_id":"hyp-3b8d","create_sources":true}`), ask("get_node", `{"node_id":"hyp-3b8d"}`)), `"sources_created":[1-9]`, `Cold brew is less bitter, a trial shows`),
		r("reclassify_node changes the type", all(do("reclassify_node", `{"node_id":"obs-2f6z","new_type":"Hypothesis"}`), ask("get_node", `{"node_id":"obs-2f6z"}`)), `"old_type":"Observation"`, `"new_type":"Hypothesis"`, `"type":"Hypothesis"`),
		r("reclassify_node warns of what is lost", ask("reclassify_node", `{"node_id":"obs-4t1c","new_type":"Claim","preserve_relationships":false,"dry_run":true}`), `"warnings?":\[?"[^"]+"`),
		r("recalculate_edge_confidence tells old, new and why", ask("recalculate_edge_confidence", `{"edge_id":"rel-2k7q","dry_run":true}`), `"old_confidence":0\.7`, `"new_confidence":`, `"reasoning":"`),
		r("recalculate_edge_confidence can leave the graph out", ask("recalculate_edge_confidence", `{"edge_id":"rel-2k7q","consider_graph_structure":false,"dry_run":true}`), `"success":true`),
		r("reclassify_relationship changes the type", do("reclassify_relationship", `{"edge_id":"rel-2k7q","new_type":"SUPPORTS"}`), `"old_type":"DERIVED_FROM"`, `"new_type":"SUPPORTS"`, `"confidence":`),
		r("reclassify_relationship suggests a type when none is given", ask("reclassify_relationship", `{"edge_id":"rel-2k7q","dry_run":true}`), `"new_type":"[A-Z_]+"`, `"reasoning":"`),
		r("reclassify_relationship keeps or drops its notes", ask("reclassify_relationship", `{"edge_id":"rel-2k7q","new_type":"CONTRADICTS","preserve_notes":false,"dry_run":true}`), `"success":true`, `-.*the same idea at its limit`),
		r("summarize_relationship explains the two ends", ask("summarize_relationship", `{"edge_id":"rel-2k7q"}`), `"from_node":"hyp-3b8d"`, `"to_node":"hyp-7k3f"`, `"relationship_type":"SUPPORTS"`, `"summary":"`),
		r("summarize_relationship shows evidence and strength", ask("summarize_relationship", `{"edge_id":"rel-2k7q"}`), `"evidence":\["`, `"strength_assessment":"(strong|moderate|weak)"`),
		r("summarize_relationship can leave evidence out", ask("summarize_relationship", `{"edge_id":"rel-2k7q","include_evidence":false}`), `"success":true`, `!"evidence":\["`),
		r("create_node makes a node of a type", all(do("create_node", `{"type":"Observation","content":{"title":"Ice in the cup","text":"Ice keeps the cup mild."}}`)), `"success":true`, `"node_id":"`, `"type":"Observation"`),
		r("create_node looks for related nodes", do("create_node", `{"type":"Observation","content":{"title":"Cold brew again","text":"Cold brew overnight in the fridge is less bitter."},"auto_analyze":true}`), `"related_nodes":\[`),
		r("get_node returns a node with its relationships", ask("get_node", `{"node_id":"hyp-3b8d"}`), `"type":"Hypothesis"`, `"relationships":\[\{"edge_id":"`),
		r("get_node says that a node is missing", ask("get_node", `{"node_id":"obs-none"}`), `"kind":"not_found"`),
		r("update_node changes a node", all(do("update_node", `{"node_id":"qst-2v5o","updates":{"confidence":0.4}}`), ask("get_node", `{"node_id":"qst-2v5o"}`)), `"changed":\[`, `"confidence":0\.4`),
		r("update_node analyzes again when told", do("update_node", `{"node_id":"qst-2v5o","updates":{"confidence":0.5},"re_analyze":true}`), `"success":true`, `"(related_nodes|analysis|old_confidence)"`),
		r("create_relationship joins two nodes", do("create_relationship", `{"from_id":"src-1h4c","to_id":"hyp-3b8d","relationship_type":"SUPPORTS","confidence":0.9,"notes":"it measures"}`), `"edge_id":"`, `"from_id":"src-1h4c"`, `"confidence":0\.9`),
		r("deleting a relationship always asks", ask("delete_relationship", `{"edge_id":"rel-1w4d"}`), `"requires_confirmation":true`, `"operation":"delete_relationship"`),
		r("delete_relationship deletes when a person agrees", all(answer(`"approve":true`), ask("summarize_relationship", `{"edge_id":"rel-1w4d"}`)), `"success":true`, `"kind":"not_found"`),
		r("deleting a node always asks, and shows what it touches", ask("delete_node", `{"node_id":"clm-5r0e"}`), `"success":false,"requires_confirmation":true,"operation":"delete_node"`, `"node_type":"Claim"`, `"content_preview":"[^"]+"`, `"relationships_affected":\d`, `"pending_operation_id":"`, `This operation requires user confirmation`),
		r("a person's no is no error, and its words come back", answer(`"approve":false,"word":"keep this claim"`), `"success":false`, `"isError":false`, `"operation":"delete_node"`, `"user_feedback":"keep this claim"`, `"message":"Denied: Delete Claim`),
		r("a person's yes deletes, and says so", all(do("delete_node", `{"node_id":"clm-5r0e"}`), ask("get_node", `{"node_id":"clm-5r0e"}`)), `"success":true`, `"node_id":"clm-5r0e"`, `"kind":"not_found"`),
		r("delete_node with cascade removes relationships too", ask("delete_node", `{"node_id":"obs-4t1c","cascade":true}`), `"requires_confirmation":true`, `"relationships_affected":[1-9]`),
		r("merging always asks", ask("merge_nodes", `{"primary_node_id":"obs-9x2m","secondary_node_id":"obs-4t1c"}`), `"requires_confirmation":true`),
		r("merge_nodes joins the texts and moves relationships", answer(`"approve":true`), `"merged_content":"`, `"relationships_transferred":\d`, `"secondary_node_id":"obs-4t1c"`),
		r("merge_nodes has strategies", ask("merge_nodes", `{"primary_node_id":"src-1h4c","secondary_node_id":"src-6p2v","merge_strategy":"prefer_primary","dry_run":true}`), `"success":true`),
		r("merge_nodes knows no other strategy", ask("merge_nodes", `{"primary_node_id":"src-1h4c","secondary_node_id":"src-6p2v","merge_strategy":"random"}`), `"kind":"invalid"`, `prefer_secondary`),
		r("a caller looks at what waits, and cannot answer it", all(ask("delete_node", `{"node_id":"src-3y9i"}`), ask("list_pending", `{}`), func(w *seedWorld) string {
			return w.send(false, http.MethodPost, "/api/v1/approvals/"+w.last+"/answer", `{"approve":true,"revision":0}`)
		}), `delete_node`, `"kind":"denied"`),
		r("tools are endpoints", get("/tools/find_related_nodes"), `"name":"find_related_nodes"`, `"description":"`),
		r("tools have a category", get("/tools"), `"toolset":"knowledge"|"set":"knowledge"`),
		r("tools are commands", typed("find-related", "hyp-3b8d", "--json"), `"related_nodes": \[`),
		r("every call is in the activity, with its tool, state and summary", get("/activity?tool=delete_node"), `"tool":"delete_node"`, `"status":"`, `"result_summary":"`, `"time":"20`),
		r("the activity tells who began a call", all(get("/activity?tool=delete_node"), typed("activity", "--json")), `"initiated_by":"rest"`),
		r("the log shows whether it was changed", page(http.MethodGet, "/activity/verify", ""), `"whole":true`),
		r("one tool runs over many nodes, with one approval", ask("run_batch", `{"for_each":["hyp-3b8d","hyp-7k3f"],"calls":[{"tool":"recalculate_node_confidence","arguments":{"node_id":"{{item}}"}}],"dry_run":true}`), `"success":true`, `2 calls`),
		r("a workflow chains tools", all(ask("check_workflow", `{"workflow":"Chain"}`), ask("show_workflow", `{"workflow":"Chain"}`)), `find_related_nodes`, `summarize_node`, `!"kind":"invalid"`),
		r("a workflow runs when a person has allowed it", do("run_workflow", `{"workflow":"Chain"}`), `"success":true`),
		r("a workflow can run at night", ask("list_schedules", `{}`), `Nightly`, `0 3 \* \* \*`),
		r("people write tools of their own", ask("list_own_tools", `{}`), `shout`),
		r("a tool of one's own is used when a person added it", all(do("add_own_tool", `{"tool":"shout"}`), do("own_shout", `{"word":"gyokuro"}`)), `"success":true.*"success":true`, `Gyokuro`),
		r("files of the system are out of reach", ask("read_file", `{"path":"/etc/passwd"}`), `"kind":"(unsafe_path|denied)"`),
		r("all tools are offered over MCP", func(w *seedWorld) string { return mcpTools(w) }, `find_related_nodes`, `merge_nodes`, `search_web_for_evidence`),
		r("calls are limited", page(http.MethodGet, "/settings", ""), `limits\.calls`, `limits\.changes`),
	}
	walk(t, files, rows, "LORE_EMBED_MODEL=", "LORE_WEB_SEARCH=searxng", "LORE_WEB_BASE_URL="+engine.URL)
}
