package rest_test

import (
	"strings"
	"testing"
)

// TestDescription: every route and every tool stands in it, nothing else does,
// every reference leads somewhere, and switching a tool off takes it out.
func TestDescription(t *testing.T) {
	w := open(t)
	get := func() map[string]any { return w.do("read", "GET", "/api/v1/openapi.json", "").json }
	d := get()
	if d["openapi"] != "3.1.0" {
		t.Fatalf("version %v", d["openapi"])
	}
	want := map[string]bool{}
	for _, r := range w.server.Routes() {
		if strings.HasPrefix(r.Pattern, "/api/") {
			want[strings.ToLower(r.Method)+" "+r.Pattern] = true
		}
	}
	for _, tl := range w.door.On() {
		want["post /api/v1/tools/"+tl.Name] = true
	}
	ids := map[string]bool{}
	paths, _ := d["paths"].(map[string]any)
	for path, methods := range paths {
		for method, op := range methods.(map[string]any) {
			if !want[method+" "+path] {
				t.Errorf("it describes %s %s, which is not there", method, path)
			}
			delete(want, method+" "+path)
			o, _ := op.(map[string]any)
			id, _ := o["operationId"].(string)
			if id == "" || ids[id] {
				t.Errorf("%s %s: the id %q is empty or not its own", method, path, id)
			}
			ids[id] = true
			if n := strings.Count(path, "{"); n > 0 {
				if params, _ := o["parameters"].([]any); len(params) < n {
					t.Errorf("%s %s: %d parameters", method, path, len(params))
				}
			}
			if responses, _ := o["responses"].(map[string]any); len(responses) < 2 || responses["default"] == nil {
				t.Errorf("%s %s: responses %v", method, path, responses)
			}
		}
	}
	for missing := range want {
		t.Errorf("it does not describe %s", missing)
	}
	references(t, d, d)
	if err := w.door.Switch("write_note", false); err != nil {
		t.Fatal(err)
	}
	if paths, _ := get()["paths"].(map[string]any); paths["/api/v1/tools/write_note"] != nil {
		t.Error("it describes a tool that is off")
	}
}

func references(t *testing.T, root map[string]any, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			var at any = root
			for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				m, _ := at.(map[string]any)
				at = m[part]
			}
			if at == nil {
				t.Errorf("%s leads nowhere", ref)
			}
		}
		for _, x := range v {
			references(t, root, x)
		}
	case []any:
		for _, x := range v {
			references(t, root, x)
		}
	}
}
