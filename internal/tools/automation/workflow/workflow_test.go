package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestProblemsNameTheLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "line 1: the workflow is empty; begin with steps:"},
		{"no steps", "name: x", "line 1: the workflow has no steps; add steps:"},
		{"not a list", "steps: x", "line 1: steps must be a list"},
		{"not YAML", "steps:\n  - tool: \"x", "this is not YAML"},
		{"no tool", "steps:\n  - id: a", "line 2: step 1 names no tool"},
		{"unknown field", "steps:\n  - tool: a\n    args: {}", `line 3: step 1 has the unknown field "args"; known fields: id, tool, arguments`},
		{"unknown top field", "step: 1", `the workflow has the unknown field "step"`},
		{"twice", "steps:\n  - tool: a\n    tool: b", "step 1 has tool twice"},
		{"same id", "steps:\n  - {id: a, tool: x}\n  - {id: a, tool: y}", "line 3: two steps have the id a"},
		{"bad id", "steps:\n  - {id: 'a b', tool: x}", `"a b" is not a name`},
		{"unknown input", "steps:\n  - tool: a\n    arguments: {x: '{{ inputs.y }}'}", `line 3: there is no input "y"`},
		{"later step", "steps:\n  - tool: a\n    arguments: {x: '{{ steps.b.c }}'}\n  - {id: b, tool: c}", `line 3: there is no earlier step "b"`},
		{"item outside", "steps:\n  - tool: a\n    arguments: {x: '{{ item }}'}", "item exists only in a loop"},
		{"unknown root", "steps:\n  - tool: a\n    if: foo.bar", `"foo.bar" is not known`},
		{"open braces", "steps:\n  - tool: a\n    arguments: {x: '{{ inputs'}", "}} is missing"},
		{"bad filter", "inputs: {a: 1}\nsteps:\n  - tool: a\n    arguments: {x: '{{ inputs.a | shout }}'}", `there is no filter "shout"`},
		{"bad max", "inputs: {a: []}\nsteps:\n  - tool: a\n    for_each: inputs.a\n    max: 1000", "line 5: max must be a number; write a number from 1 to 100"},
		{"max alone", "steps:\n  - tool: a\n    max: 3", "max is the bound of a loop"},
		{"bad type", "inputs: {a: {type: word}}\nsteps:\n  - tool: a", `"word" is not a type; use text, number`},
		{"alias", "inputs: {a: &x 1}\nsteps:\n  - tool: a\n    arguments: {y: *x}", "anchors and aliases are not supported"},
		{"quote", "steps:\n  - tool: a\n    if: '\"x'", "a quote is not closed"},
		{"too long", "steps:\n" + strings.Repeat("  - tool: a\n", 51), "the workflow has 51 steps; the limit is 50"},
		{"too large", strings.Repeat("#", 70_000), "the limit is 65536"},
	} {
		_, problems := Parse("Workflows/x.yaml", c.text)
		found := false
		for _, p := range problems {
			found = found || strings.Contains(p.String(), c.want)
		}
		if !found {
			t.Errorf("%s: %v, want %q", c.name, problems, c.want)
		}
	}
	if _, problems := Parse("x.md", "# Note\n\ntext\n"); len(problems) != 1 || !strings.Contains(problems[0].Message, "no block of YAML") {
		t.Error(problems)
	}
	w, problems := Parse("x.md", "# Note\n\n~~~yaml\nsteps:\n  - tul: a\n~~~\n\nsteps\n")
	if len(problems) != 2 || problems[0].Line != 5 {
		t.Error(w, problems)
	}
}

func TestExpressions(t *testing.T) {
	var scope map[string]any
	if err := json.Unmarshal([]byte(`{"inputs":{"n":3,"s":"Tea","e":"","l":["b","a"],"o":{"x":null}},"steps":{"f":{"results":[{"path":"a.md"},{"path":"b.md"}],"total":2}}}`), &scope); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"inputs.n", "3"},
		{"inputs.n > 2 and not inputs.e", "true"},
		{"inputs.n >= 4 or inputs.s == 'Tea'", "true"},
		{"(inputs.n < 2) or (inputs.n != 3)", "false"},
		{"inputs.s contains 'ea'", "true"},
		{"inputs.l contains 'a'", "true"},
		{"steps.f.results | length", "2"},
		{"steps.f.results[1].path", "b.md"},
		{"steps.f.results.0.path", "a.md"},
		{"steps.f.results | pluck 'path' | join ', '", "a.md, b.md"},
		{"steps.f.results | last | json", `{"path":"b.md"}`},
		{"inputs.none | default 'x'", "x"},
		{"inputs.s | upper", "TEA"},
		{"'2026-01-02' > '2026-01-01'", "true"},
		{"inputs.l | first", "b"},
		{"null == inputs.o.x", "true"},
		{"inputs.nothing", `error: inputs has no field "nothing"; it has e, l, n, o, s`},
		{"steps.f.results.7", "error: steps.f.results has 2 items; there is no item 7"},
		{"inputs.n.x", `error: inputs.n has no fields`},
		{"inputs.l > 3", "error: "},
		{"inputs.s | first", "error: the filter first needs a list"},
	} {
		e, err := ParseExpression(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		v, err := e.Eval(scope)
		got := Text(v)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want && !(strings.HasPrefix(c.want, "error") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s is %q, want %q", c.text, got, c.want)
		}
	}
	for _, bad := range []string{"", "inputs.", "a ==", "(a", "and", "a b", "not", "x | join", "a = b", strings.Repeat("(", 30) + "1", strings.Repeat("not ", 50) + "1"} {
		if _, err := ParseExpression(bad); err == nil {
			t.Errorf("%q is taken for an expression", bad)
		}
	}
}

func TestRunStops(t *testing.T) {
	w, problems := Parse("x.yaml", "inputs: {l: {type: list}}\nsteps:\n  - {id: a, tool: x, for_each: inputs.l, max: 100}\n  - {id: b, tool: x, for_each: inputs.l, max: 100}\n  - {id: c, tool: x, for_each: inputs.l, max: 100}\n")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	list := make([]any, 100)
	calls := 0
	_, err := w.Run(t.Context(), map[string]any{"l": list}, func(context.Context, Step, json.RawMessage) (json.RawMessage, error) {
		calls++
		return nil, nil
	})
	if err == nil || calls != MaxCalls || !strings.Contains(err.Error(), "more than 200 calls") {
		t.Error(calls, err)
	}
	broken := errors.New("broken")
	if _, err := w.Run(t.Context(), map[string]any{"l": list}, func(context.Context, Step, json.RawMessage) (json.RawMessage, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := w.Run(t.Context(), map[string]any{"l": "x"}, nil); err == nil || !strings.Contains(err.Error(), "must be a list") {
		t.Error(err)
	}
	if got, err := w.Given(map[string]any{"l": "[1]"}); err != nil || len(got["l"].([]any)) != 1 {
		t.Error(got, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("steps:\n  - tool: a\n    if: x.y == 'z' | join\n    arguments: {a: '{{ b }}'}\n")
	f.Add("# x\n```yaml\nsteps: [{tool: a}]\n```\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"x.yaml", "x.md"} {
			w, problems := Parse(name, text)
			if len(problems) == 0 && len(w.Steps) == 0 {
				t.Error("a workflow without steps has no problem")
			}
			_, _ = w.Draw(), w.Mermaid()
		}
	})
}
