package main

import (
	"os"
	"strings"
	"testing"
)

// TestFresh: the page knows the interface as it is.
func TestFresh(t *testing.T) {
	want, err := source()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../src/api.gen.ts")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("src/api.gen.ts is not what the interface is: go generate ./web")
	}
	for _, part := range []string{"export type Approval = {", "listTools: [\"GET\", \"/api/v1/tools\"]", "  read_note: { in: {"} {
		if !strings.Contains(want, part) {
			t.Errorf("it lacks %q", part)
		}
	}
}

func TestTypes(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"integer"}`: "number",
		`{"type":["null","array"],"items":{"enum":["a"]}}`:                `null | (("a"))[]`,
		`{"type":"object","additionalProperties":{"type":"boolean"}}`:     "Record<string, boolean>",
		`{"type":"object","properties":{"a-b":{}},"required":["a-b"]}`:    "{\n  \"a-b\": unknown;\n}",
		`{"allOf":[{"$ref":"#/components/schemas/X"},{"type":"string"}]}`: "(X & string)",
		`{}`:   "unknown",
		`true`: "unknown",
		``:     "void",
	} {
		if got, err := typeOf([]byte(schema), ""); err != nil || got != want {
			t.Errorf("%s: %q, %v", schema, got, err)
		}
	}
	for _, schema := range []string{`{"$ref":"#/$defs/x"}`, `{"$defs":{"x":{}}}`, `{"type":"strange"}`} {
		if got, err := typeOf([]byte(schema), ""); err == nil {
			t.Errorf("%s: %s", schema, got)
		}
	}
}
