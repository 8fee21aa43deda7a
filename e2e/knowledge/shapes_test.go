package knowledge

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// shapes are the fields that each tool promises, with their types: "a[].b" is a
// field of every element of a list, which must have one. A "?" behind the name
// means that it may be missing.
var shapes = map[string]string{
	"find_related_nodes": `success:bool node_id:string related_nodes[].id:string related_nodes[].type:string related_nodes[].content:string
		related_nodes[].similarity_score:number related_nodes[].suggested_relationship:string related_nodes[].reasoning:string links_created:int message:string`,
	"recalculate_node_confidence": `success:bool node_id:string old_confidence:number new_confidence:number reasoning:string factors[].factor:string factors[].impact:string`,
	"summarize_node":              `success:bool node_id:string summary:string key_points[]:string related_count:int`,
	"summarize_node_with_context": `success:bool node_id:string summary:string context.supports[]:string context.contradicts:array context.related:array synthesis:string`,
	"search_web_for_evidence": `success:bool node_id:string results[].url:string results[].title:string results[].snippet:string results[].relevance_score:number
		results[].evidence_type:string results[].reasoning:string sources_created:int message:string`,
	"reclassify_node":             `success:bool node_id:string old_type:string new_type:string message:string warning?:string`,
	"recalculate_edge_confidence": `success:bool edge_id:string old_confidence:number new_confidence:number reasoning:string`,
	"reclassify_relationship":     `success:bool edge_id:string old_type:string new_type:string confidence:number reasoning:string`,
	"summarize_relationship": `success:bool edge_id:string from_node:string to_node:string relationship_type:string summary:string evidence[]:string
		strength_assessment:string`,
	"merge_nodes": `success:bool primary_node_id:string secondary_node_id:string merged_content:string relationships_transferred:int message:string
		requires_confirmation:bool`,
	"create_node":          `success:bool node_id:string type:string title:string path:string message:string`,
	"get_node":             `success:bool node_id:string type:string title:string path:string content:string properties:object confidence:number relationships[].edge_id:string`,
	"update_node":          `success:bool node_id:string changed[]:string message:string`,
	"delete_node":          `success:bool operation:string node_id:string message:string operation_id:string`,
	"create_relationship":  `success:bool edge_id:string from_id:string to_id:string relationship_type:string confidence:number message:string`,
	"delete_relationship":  `success:bool operation:string edge_id:string message:string`,
	"list_nodes":           `success:bool nodes[].node_id:string nodes[].type:string nodes[].title:string nodes[].path:string types:object`,
	"get_neighbourhood":    `success:bool node_id:string nodes[].node_id:string edges[].edge_id:string`,
	"find_contradictions":  `success:bool contradictions[].kind:string contradictions[].tension:number`,
	"find_duplicate_nodes": `success:bool pairs[].similarity_score:number pairs[].reasoning:string pairs[].primary.node_id:string pairs[].secondary.node_id:string`,
	"export_graph":         `success:bool format:string nodes:int edges:int content:string`,
}

func (w *world) shaped(tool string, o object) {
	w.Helper()
	w.has(tool, o, shapes[tool])
}

// has checks that the fields are there and of their types.
func (w *world) has(what string, o object, fields string) {
	w.Helper()
	for field := range strings.FieldsSeq(fields) {
		name, typ, _ := strings.Cut(field, ":")
		if err := look(o, strings.Split(name, "."), typ); err != nil {
			w.Errorf("%s: %s: %v in %v", what, name, err, o)
		}
	}
}

// look follows the names into a value.
func look(v any, names []string, typ string) error {
	if len(names) == 0 {
		return is(v, typ)
	}
	name, may := strings.CutSuffix(names[0], "?")
	name, list := strings.CutSuffix(name, "[]")
	inner, has := v.(object)[name]
	switch {
	case !has && may:
		return nil
	case !has:
		return fmt.Errorf("there is none")
	case !list:
		return look(inner, names[1:], typ)
	}
	all, ok := inner.([]any)
	if !ok || len(all) == 0 {
		return fmt.Errorf("%v is no list with something in it", inner)
	}
	for _, x := range all {
		if err := look(x, names[1:], typ); err != nil {
			return err
		}
	}
	return nil
}

func is(v any, typ string) error {
	ok := false
	switch v := v.(type) {
	case bool:
		ok = typ == "bool"
	case string:
		ok = typ == "string"
	case float64:
		ok = typ == "number" || typ == "int" && v == math.Trunc(v)
	case []any:
		ok = typ == "array"
	case object:
		ok = typ == "object"
	}
	if !ok {
		return fmt.Errorf("%v is no %s", v, typ)
	}
	return nil
}

// TestEveryTool calls every tool of the knowledge graph on every surface, with
// every argument that it promises, and looks at what comes back and at what the
// activity remembers.
func TestEveryTool(t *testing.T) {
	if testing.Short() {
		t.Skip("every tool on every surface takes a while")
	}
	t.Parallel()
	settings, _ := engine(t)
	everywhere(t, settings, func(w *world, h *hand) {
		left := map[string]bool{}
		for name := range shapes {
			left[name] = true
		}
		do := func(tool string, args object) object {
			w.Helper()
			o := h.do(w, tool, args)
			w.shaped(tool, o)
			delete(left, tool)
			return o
		}
		claim, roast, ph := h.nodes(w)
		delete(left, "create_node")
		twin := str(h.do(w, "create_node", object{"type": "Claim", "content": object{"title": "Cold brew is mild coffee", "text": "Cold brew tastes less acidic than hot coffee."}, "auto_analyze": false}), "node_id")
		relate := func(from, to, typ string) string {
			return str(do("create_relationship", object{"from_id": from, "to_id": to, "relationship_type": typ, "confidence": 0.8, "notes": "measured"}), "edge_id")
		}
		edge := relate(ph, claim, "SUPPORTS")
		relate(claim, roast, "CONTRADICTS")
		gone := relate(twin, roast, "RELATES_TO")
		do("get_node", object{"node_id": claim})
		do("find_related_nodes", object{"node_id": claim, "limit": 10, "min_similarity": 0.1, "auto_link": false})
		do("list_nodes", object{"types": []string{"Claim", "Hypothesis"}, "limit": 10})
		do("get_neighbourhood", object{"node_id": claim, "depth": 1})
		do("find_contradictions", object{"node_id": claim})
		duplicates := object{"node_id": claim, "min_similarity": 0.5}
		h.until(w, "find_duplicate_nodes", duplicates, "pairs", 1)
		do("find_duplicate_nodes", duplicates)
		do("summarize_node", object{"node_id": claim, "include_relationships": true, "max_length": 200})
		do("summarize_node_with_context", object{"node_id": claim, "depth": 1, "relationship_types": []string{"SUPPORTS"}})
		do("summarize_relationship", object{"edge_id": edge, "include_evidence": true})
		do("recalculate_edge_confidence", object{"edge_id": edge, "consider_graph_structure": true})
		do("recalculate_node_confidence", object{"node_id": claim, "factor_in_relationships": true})
		do("reclassify_relationship", object{"edge_id": edge, "new_type": "CITES", "preserve_notes": true})
		do("reclassify_relationship", object{"edge_id": edge}) // it chooses
		do("reclassify_node", object{"node_id": twin, "new_type": "Hypothesis", "preserve_relationships": true})
		do("update_node", object{"node_id": claim, "updates": object{"status": "open", "text": "Cold brew tastes less acidic than hot coffee does."}, "re_analyze": true})
		do("search_web_for_evidence", object{"node_id": claim, "query_override": "cold brew acidity", "evidence_type": "all", "max_results": 3})
		do("export_graph", object{"format": "json"})
		do("merge_nodes", object{"primary_node_id": claim, "secondary_node_id": twin, "merge_strategy": "combine"})
		do("delete_relationship", object{"edge_id": gone})
		do("delete_node", object{"node_id": claim, "cascade": false})
		for name := range left {
			w.Errorf("%s was not called", name)
		}
		for name := range shapes {
			w.recorded(h, name, "done")
		}
	})
}
