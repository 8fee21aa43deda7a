package knowledge

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// nodes are those that every flow begins with.
func (h *hand) nodes(w *world) (claim, roast, ph string) {
	w.Helper()
	make := func(typ string, content object) string {
		o := h.do(w, "create_node", object{"type": typ, "content": content, "auto_analyze": true})
		w.shaped("create_node", o)
		return str(o, "node_id")
	}
	claim = make("Hypothesis", object{"title": "Cold brew is mild", "hypothesis": "Cold brew tastes less acidic than hot coffee.", "confidence": 0.6})
	roast = make("Claim", object{"title": "Roast decides acidity", "claim": "Only the roast decides how acidic coffee is.", "confidence": 0.7})
	ph = make("Observation", object{"title": "pH of cold brew", "text": "pH 5.1 against 4.8: cold brew coffee is less acidic.", "confidence": 0.9, "cups": 3})
	return claim, roast, ph
}

// waits checks that a call waits for a person, with everything that a program
// needs to show.
func (w *world) waits(tool string, o object, no bool) string {
	w.Helper()
	if no || o["success"] != false || o["requires_confirmation"] != true || o["operation"] != tool || o["message"] != "This operation requires user confirmation." {
		w.Fatalf("%s does not wait: %v", tool, o)
	}
	w.has(tool, o, "success:bool requires_confirmation:bool operation:string details:object message:string pending_operation_id:string")
	id := str(o, "pending_operation_id")
	if !strings.HasPrefix(id, "pending-") {
		w.Fatalf("%v", o)
	}
	return id
}

// TestFindEvidence is the first flow: the web is asked when a person allows it,
// what it found becomes sources when a person allows that too.
func TestFindEvidence(t *testing.T) {
	t.Parallel()
	settings, asked := engine(t)
	t.Run("on", func(t *testing.T) { everywhere(t, settings, findEvidence) })
	queries := asked()
	if len(queries) != len(hands()) || slices.ContainsFunc(queries, func(q string) bool { return q != "evidence for Cold brew is mild" }) {
		t.Errorf("the search engine was asked %q", queries)
	}
}

func findEvidence(w *world, h *hand) {
	claim, _, _ := h.nodes(w)
	before := w.notes()
	args := object{"node_id": claim, "evidence_type": "supporting", "max_results": 5, "create_sources": true, "query_override": "evidence for Cold brew is mild"}
	id := w.waits(h.called("search_web_for_evidence", args, w))
	first := h.answer(id, true, "")
	again := w.waits("search_web_for_evidence", first, false)
	if details, _ := first["details"].(object); again != id || details["sources_created"] == nil || !maps.Equal(before, w.notes()) {
		w.Errorf("the edits do not wait as they should: %v", first)
	}
	o := h.answer(again, true, "")
	w.shaped("search_web_for_evidence", o)
	sources, _ := o["sources"].([]any)
	if o["sources_created"] != float64(len(sources)) || len(sources) == 0 || o["untrusted"] != true {
		w.Fatalf("%v", o)
	}
	for _, r := range o["results"].([]any) {
		if r.(object)["evidence_type"] != "supporting" {
			w.Errorf("%v", r)
		}
	}
	for _, s := range sources {
		source := h.do(w, "get_node", object{"node_id": s})
		props, _ := source["properties"].(object)
		if source["type"] != "Source" || props["origin"] != "web" || props["untrusted"] != true || !strings.HasPrefix(str(props, "url"), "https://example.org/") {
			w.Errorf("%v", source)
		}
		edges := source["relationships"].([]any)
		if len(edges) != 1 || edges[0].(object)["node_id"] != claim || edges[0].(object)["type"] != "SUPPORTS" || edges[0].(object)["direction"] != "out" {
			w.Errorf("%v", edges)
		}
	}
}

// called is a call in the order that waits takes it.
func (h *hand) called(tool string, args object, w *world) (string, object, bool) {
	w.Helper()
	o, no := h.call(tool, args)
	return tool, o, no
}

// TestWebIsOff: nothing asks the web before a person chose whom to ask, and the
// refusal says how.
func TestWebIsOff(t *testing.T) {
	t.Parallel()
	everywhere(t, nil, func(w *world, h *hand) {
		o := h.do(w, "create_node", object{"type": "Claim", "content": object{"title": "Cold brew is mild"}})
		o, no := h.call("search_web_for_evidence", object{"node_id": o["node_id"]})
		if said := str(o, "error") + str(o, "detail") + str(o, "fix"); !no || !strings.Contains(said, "lore config set web.search searxng") || !strings.Contains(said, "web.base_url") {
			w.Errorf("%v", o)
		}
	})
}

// TestDelete is the second flow: a deletion waits, words in a call are no answer,
// a person's no leaves everything, a person's yes deletes.
func TestDelete(t *testing.T) {
	t.Parallel()
	everywhere(t, nil, func(w *world, h *hand) {
		claim, roast, ph := h.nodes(w)
		h.do(w, "create_relationship", object{"from_id": ph, "to_id": claim, "relationship_type": "SUPPORTS"})
		h.do(w, "create_relationship", object{"from_id": claim, "to_id": roast, "relationship_type": "CONTRADICTS", "confidence": 0.6, "notes": "the roast matters less"})
		before := w.notes()
		args := object{"node_id": claim, "cascade": true}
		o, no := h.call("delete_node", args)
		id := w.waits("delete_node", o, no)
		w.has("details", o["details"].(object), "node_id:string node_type:string content_preview:string relationships_affected:int")
		want := object{"node_id": claim, "node_type": "Hypothesis", "content_preview": "Cold brew tastes less acidic than hot coffee.", "relationships_affected": 2.0}
		for k, v := range want {
			if got := o["details"].(object)[k]; got != v {
				w.Errorf("details: %s is %v, not %v", k, got, v)
			}
		}
		// What a chat would say.
		for _, more := range []object{{"confirm": "yes"}, {"answer": "yes"}, {"yes": true}, {"approved": true}, {"pending_operation_id": id}, {"user_confirmation": id}} {
			maps.Copy(more, args)
			if o, no := h.call("delete_node", more); !no && h.name != "flags" || o["success"] == true {
				w.Errorf("%v: %v", more, o)
			}
		}
		o, no = h.call("delete_node", args)
		if again := w.waits("delete_node", o, no); again != id {
			w.Logf("a second call is a second question: %s", again)
			h.answer(again, false, "once is enough")
		}
		if !maps.Equal(before, w.notes()) {
			w.Fatal("it happened without a person")
		}
		no1 := h.answer(id, false, "User chose to preserve this observation.")
		w.has("denied", no1, "success:bool isError:bool operation:string message:string user_feedback:string")
		if no1["success"] != false || no1["isError"] != false || no1["operation"] != "delete_node" || no1["user_feedback"] != "User chose to preserve this observation." || !maps.Equal(before, w.notes()) {
			w.Errorf("denied: %v", no1)
		}
		yes := h.do(w, "delete_node", args)
		w.shaped("delete_node", yes)
		if yes["operation"] != "delete_node" || yes["node_id"] != claim || w.note("Nodes/Hypothesis/Cold brew is mild.md") != "" || strings.Contains(w.note("Nodes/Observation/pH of cold brew.md"), "supports::") {
			w.Errorf("%v\n%v", yes, w.notes())
		}
		h.undo(str(yes, "operation_id"))
		if !maps.Equal(before, w.notes()) {
			w.Errorf("undone, and not what it was: %v", w.notes())
		}
		w.recorded(h, "delete_node", "done", "denied", "pending")
	})
}

// TestChain: what one tool finds is what the next one takes.
func TestChain(t *testing.T) {
	t.Parallel()
	everywhere(t, nil, func(w *world, h *hand) {
		claim, _, ph := h.nodes(w)
		args := object{"node_id": claim, "limit": 10, "min_similarity": 0.1, "auto_link": false}
		h.until(w, "find_related_nodes", args, "related_nodes", 2)
		o := h.do(w, "find_related_nodes", args)
		w.shaped("find_related_nodes", o)
		var next object
		for _, r := range o["related_nodes"].([]any) {
			if r := r.(object); r["id"] == ph {
				next = r
			}
		}
		if next == nil || o["links_created"] != 0.0 {
			w.Fatalf("%v", o)
		}
		before := w.notes()
		made := h.do(w, "create_relationship", object{"from_id": next["id"], "to_id": claim, "relationship_type": next["suggested_relationship"], "confidence": 0.8, "notes": "as it was suggested"})
		w.shaped("create_relationship", made)
		node := h.do(w, "get_node", object{"node_id": claim})
		edges := node["relationships"].([]any)
		if len(edges) != 1 || edges[0].(object)["edge_id"] != made["edge_id"] || edges[0].(object)["node_id"] != ph || edges[0].(object)["direction"] != "in" {
			w.Errorf("%v", node)
		}
		line := regexp.MustCompile(`(?m)^- [a-z_]+:: \[\[Cold brew is mild\]\] \[confidence:: 0\.8\] as it was suggested \^` + regexp.QuoteMeta(str(made, "edge_id")) + "$")
		if text := w.note("Nodes/Observation/pH of cold brew.md"); !line.MatchString(text) {
			w.Errorf("%s", text)
		}
		h.undo(str(made, "operation_id"))
		if !maps.Equal(before, w.notes()) {
			w.Errorf("undone, and not what it was: %v", w.notes())
		}
	})
}

// recorded checks that the activity tells of a tool's calls, in each of these
// states, and reads it where people and programs do.
func (w *world) recorded(h *hand, tool string, states ...string) {
	w.Helper()
	o := w.activity(tool)
	seen := map[string]bool{}
	for _, a := range o {
		if a["tool"] != tool || a["initiated_by"] != h.initiated || str(a, "time") == "" {
			w.Errorf("%v", a)
		}
		seen[str(a, "status")] = true
		if a["status"] != "failed" && a["status"] != "started" && str(a, "result_summary") == "" {
			w.Errorf("%s: no result_summary: %v", tool, a)
		}
	}
	for _, s := range states {
		if !seen[s] {
			w.Errorf("%s: no call is %s: %v", tool, s, o)
		}
	}
}

func (w *world) activity(tool string) []object {
	w.Helper()
	var o object
	if w.base != "" {
		_, o = w.send(http.DefaultClient, http.MethodGet, "/api/v1/activity?limit=200&tool="+tool, nil)
	} else {
		o = w.asked("activity", "--limit", "200", "--tool", tool, "--json")
	}
	var out []object
	for _, a := range o["activity"].([]any) {
		out = append(out, a.(object))
	}
	return out
}
