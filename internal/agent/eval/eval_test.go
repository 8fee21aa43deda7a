package eval_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/agent/eval"
)

func TestReadTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	good := `{"id":"a","prompt":"p","cite":["x.md"]}`
	for _, c := range []struct{ name, text, want string }{
		{"empty", "\n \n", "no case"},
		{"no JSON", good + "\n{", "line 2: unexpected EOF"},
		{"blank lines count", "\n\n" + `{"id":"a"}`, "line 3: prompt"},
		{"unknown field", `{"id":"a","prompt":"p","cites":[]}`, `line 1: json: unknown field "cites"`},
		{"unknown field of a call", `{"id":"a","prompt":"p","expect":[[{"tool":"x","arg":{}}]]}`, `unknown field "arg"`},
		{"two objects", good + good, "more than one object"},
		{"no id", `{"prompt":"p","cite":["x"]}`, "id"},
		{"twice", good + "\n" + good, `line 2: id: "a" occurs twice`},
		{"nothing expected", `{"id":"a","prompt":"p"}`, "expects nothing"},
		{"empty sequence", `{"id":"a","prompt":"p","expect":[[]]}`, "has no calls"},
		{"no tool", `{"id":"a","prompt":"p","forbid":[{"args":{}}]}`, "has no tool"},
		{"half a choice", `{"id":"a","prompt":"p","forbid":["a|"]}`, "has no tool"},
		{"two matches", `{"id":"a","prompt":"p","forbid":[{"tool":"x","args":{"q":{"equals":1,"any":true}}}]}`, "a match has one of"},
		{"no match", `{"id":"a","prompt":"p","forbid":[{"tool":"x","args":{"q":{"like":"x"}}}]}`, `"like" is not a match`},
		{"bad pattern", `{"id":"a","prompt":"p","forbid":[{"tool":"x","args":{"q":{"regex":"("}}}]}`, "missing closing"},
		{"empty contains", `{"id":"a","prompt":"p","forbid":[{"tool":"x","args":{"q":{"contains":""}}}]}`, "needs a text"},
		{"in what", `{"id":"a","prompt":"p","forbid":[{"tool":"x","args":{"q":{"in":"x"}}}]}`, "needs a list"},
		{"bad answer", `{"id":"a","prompt":"p","answer":{"regex":"["}}`, "answer"},
		{"outside", `{"id":"a","prompt":"p","files":{"../x":{"absent":true}}}`, "not a path in a vault"},
		{"added outside", `{"id":"a","prompt":"p","cite":["x"],"add":{"/etc/x":"y"}}`, "not a path in a vault"},
		{"said nothing", `{"id":"a","prompt":"p","files":{"x.md":{}}}`, "nothing is expected"},
		{"both", `{"id":"a","prompt":"p","files":{"x.md":{"absent":true,"contains":"x"}}}`, "absent"},
		{"all files", `{"id":"a","prompt":"p","files":{"*":{"absent":true}}}`, "only unchanged"},
		{"leave", `{"id":"a","prompt":"p","cite":["x"],"approve":"some"}`, `neither "all" nor "none"`},
		{"leave of a kind", `{"id":"a","prompt":"p","cite":["x"],"approve":1}`, "approve"},
		{"too long", `{"id":"` + strings.Repeat("x", 1<<20) + `"}`, "line 1"},
	} {
		if _, err := eval.Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// one reads a case out of its fields.
func one(t *testing.T, fields string) eval.Case {
	t.Helper()
	cases, err := eval.Read(strings.NewReader(`{"id":"a","prompt":"p",` + fields + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return cases[0]
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		match, args string
		want        bool
	}{
		{`{"q":"x"}`, `{"q":"x"}`, true},
		{`{"q":"x"}`, `{"q":"X"}`, false},
		{`{"q":70}`, `{"q":70.0}`, true},
		{`{"q":70}`, `{"q":"70"}`, false},
		{`{"q":null}`, `{}`, false},
		{`{"q":{"equals":{"a":[1]}}}`, `{"q":{"a":[1]}}`, true},
		{`{"q":{"in":["a","b"]}}`, `{"q":"b"}`, true},
		{`{"q":{"in":["a","b"]}}`, `{"q":"c"}`, false},
		{`{"q":{"contains":"TEA"}}`, `{"q":"green tea"}`, true},
		{`{"q":{"contains":"tea"}}`, `{"q":["x","green tea"]}`, true},
		{`{"q":{"contains":"tea"}}`, `{"q":[]}`, false},
		{`{"q":{"contains":"1"}}`, `{"q":1}`, false},
		{`{"q":{"regex":"^a.c$"}}`, `{"q":"ABC"}`, true},
		{`{"q":{"regex":"^a.c$"}}`, `{"q":"abcd"}`, false},
		{`{"q":{"note":"Notes/Green tea.md"}}`, `{"q":"green tea"}`, true},
		{`{"q":{"note":"Notes/Green tea.md"}}`, `{"q":"./Notes/Green tea"}`, true},
		{`{"q":{"note":"Notes/Green tea.md"}}`, `{"q":"[[Green tea]]"}`, true},
		{`{"q":{"note":"Notes/Green tea.md"}}`, `{"q":"Other/Green tea.md"}`, false},
		{`{"q":{"note":"Notes/Green tea.md"}}`, `{"q":"tea"}`, false},
		{`{"q":{"any":true}}`, `{"q":null}`, true},
		{`{"q":{"any":true}}`, `{}`, false},
		{`{"q":{"any":false}}`, `{}`, true},
		{`{"q":{"any":false}}`, `{"q":1}`, false},
		{`{"a.b.1.c":5}`, `{"a":{"b":[0,{"c":5}]}}`, true},
		{`{"a.b.2.c":5}`, `{"a":{"b":[0,{"c":5}]}}`, false},
		{`{"a.b":5}`, `{"a":5}`, false},
		{`{"q":1,"r":2}`, `{"q":1}`, false},
		{`{"q":"x"}`, `"{\"q\":\"x\"}"`, true}, // JSON inside of a text
		{`{"q":"x"}`, `[`, false},
	} {
		k := one(t, `"expect":[[{"tool":"t","args":`+c.match+`}]]`)
		got := len(k.Judge(&eval.Outcome{Calls: []eval.Made{{Tool: "t", Args: json.RawMessage(c.args)}}})) == 0
		if got != c.want {
			t.Errorf("%s of %s: %v", c.match, c.args, got)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	search := eval.Made{Tool: "search", Args: json.RawMessage(`{"q":"x"}`)}
	read := eval.Made{Tool: "read", Args: json.RawMessage(`{"path":"x.md"}`)}
	write := eval.Made{Tool: "write", Args: json.RawMessage(`{}`), Changes: true}
	wrong := eval.Made{Tool: "read", Args: json.RawMessage(`{"path":"x.md"}`), Mistaken: true}
	calls := func(m ...eval.Made) eval.Outcome { return eval.Outcome{Calls: m} }
	for _, c := range []struct {
		name, fields string
		o            eval.Outcome
		want         string // "" passes
	}{
		{"in order", `"expect":[["search","read"]]`, calls(search, write, read), ""},
		{"out of order", `"expect":[["search","read"]]`, calls(read, search), "expected call not made: read"},
		{"one of two", `"expect":[["write"],["read"]]`, calls(read), ""},
		{"a choice of tools", `"expect":[["find|read"]]`, calls(read), ""},
		{"the same call counts once", `"expect":[["read","read"]]`, calls(read), "expected call not made: read"},
		{"a mistake is no call", `"expect":[["read"]]`, calls(wrong), "expected call not made: read"},
		{"how far it came", `"expect":[["write","read"],[{"tool":"search"},{"tool":"find","args":{"q":{"contains":"y"}}}]]`, calls(search), `expected call not made: find (q: contains "y")`},
		{"forbidden", `"forbid":["write"]`, calls(write), "forbidden: write {}"},
		{"forbidden, and a mistake", `"forbid":["read"]`, calls(wrong), `forbidden: read {"path":"x.md"}`},
		{"forbidden with others", `"forbid":[{"tool":"read","args":{"path":"y.md"}}]`, calls(read), ""},
		{"all changes", `"forbid":["@change"]`, calls(read, write), "forbidden: write {}"},
		{"no changes", `"forbid":["@change"]`, calls(read, search), ""},
		{"cited", `"cite":["x.md"]`, eval.Outcome{Cited: []string{"y.md", "x.md"}}, ""},
		{"not cited", `"cite":["x.md"]`, eval.Outcome{Cited: []string{"y.md"}}, "not cited from reading: x.md"},
		{"file", `"files":{"x.md":{"contains":["a","b"],"lacks":"c"}}`, eval.Outcome{Files: map[string]string{"x.md": "ab"}}, ""},
		{"file lacks", `"files":{"x.md":{"contains":"A"}}`, eval.Outcome{Files: map[string]string{"x.md": "ab"}}, `x.md lacks "A"`},
		{"file has", `"files":{"x.md":{"lacks":"a"}}`, eval.Outcome{Files: map[string]string{"x.md": "ab"}}, `x.md has "a"`},
		{"file equals", `"files":{"x.md":{"equals":""}}`, eval.Outcome{Files: map[string]string{"x.md": "a"}}, "x.md has another text"},
		{"file is not there", `"files":{"x.md":{"exists":true}}`, eval.Outcome{}, "not there: x.md"},
		{"file is there", `"files":{"x.md":{"absent":true}}`, eval.Outcome{Files: map[string]string{"x.md": ""}}, "still there: x.md"},
		{"file is changed", `"files":{"x.md":{"unchanged":true}}`, eval.Outcome{Changed: []string{"x.md"}, Files: map[string]string{"x.md": ""}}, "changed: x.md"},
		{"any file is changed", `"files":{"*":{"unchanged":true}}`, eval.Outcome{Changed: []string{"y.md"}}, "changed: y.md"},
		{"answer", `"answer":{"contains":["Tea","hot"],"any":["x","70"],"not":"cold","regex":"^hot"}`, eval.Outcome{Answer: "HOT tea at 70"}, ""},
		{"answer lacks", `"answer":{"contains":"tea"}`, eval.Outcome{Answer: "x"}, `the answer lacks "tea"`},
		{"answer has none", `"answer":{"any":["a","b"]}`, eval.Outcome{Answer: "x"}, `the answer has none of ["a" "b"]`},
		{"answer has", `"answer":{"not":"X"}`, eval.Outcome{Answer: "x"}, `the answer has "X"`},
		{"answer fits not", `"answer":{"regex":"\\?"}`, eval.Outcome{Answer: "x"}, `the answer does not fit "\\?"`},
		{"no answer", `"forbid":["write"]`, eval.Outcome{Failed: "limit"}, "no answer: limit"},
	} {
		k := one(t, c.fields)
		if got := strings.Join(k.Judge(&c.o), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLeave(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fields      string
		write, kill bool
	}{{`"cite":["x"]`, false, false}, {`"cite":["x"],"approve":"none"`, false, false}, {`"cite":["x"],"approve":"all"`, true, true}, {`"cite":["x"],"approve":["write"]`, true, false}} {
		if k := one(t, c.fields); k.Approve.Allows("write") != c.write || k.Approve.Allows("kill") != c.kill {
			t.Errorf("%s: %+v", c.fields, k.Approve)
		}
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	k := one(t, `"answer":{"contains":"yes"}`)
	price := 0.5
	run := func(answer string, cost *float64) eval.Run {
		return eval.NewRun(&k, &eval.Outcome{Answer: answer, Steps: 2, In: 10, Out: 4, Cost: cost, Took: time.Second, Calls: make([]eval.Made, 3)})
	}
	tried := func(runs ...eval.Run) eval.Tried {
		var out eval.Tried
		for _, r := range runs {
			out.Add(r)
		}
		return out
	}
	s := eval.NewScore("m", []eval.Tried{
		tried(run("yes", &price), run("yes", &price)), tried(run("yes", &price), run("no", &price)), tried(run("no", &price), run("no", &price)), {ID: "not tried"},
	})
	if s.Cases != 3 || s.Runs != 6 || s.Pass1 != 0.5 || s.PassK != 1.0/3 || s.Steps != 2 || s.Calls != 3 || s.In != 10 || s.Out != 4 || s.Seconds != 1 || s.Cost == nil || *s.Cost != 3 {
		t.Errorf("%+v", s)
	}
	if s := eval.NewScore("m", []eval.Tried{tried(run("yes", &price), run("yes", nil))}); s.Cost != nil {
		t.Errorf("half of a price is a price: %v", *s.Cost)
	}
	kinds := []eval.Tried{tried(run("yes", nil), run("no", nil)), tried(run("no", nil)), tried(run("yes", nil)), tried(run("yes", nil))}
	kinds[0].Kind, kinds[1].Kind, kinds[2].Kind = "ask", "find", "ask"
	if got, want := eval.NewScore("m", kinds).Kinds, []eval.Kind{{Kind: "ask", Cases: 2, Pass1: 0.75, PassK: 0.5}, {Kind: "find", Cases: 1}}; !slices.Equal(got, want) {
		t.Errorf("kinds %+v", got)
	}
	if s := eval.NewScore("m", nil); s.Cases != 0 || s.Pass1 != 0 || s.Cost != nil {
		t.Errorf("nothing tried: %+v", s)
	}
}

func FuzzRead(f *testing.F) {
	cases, err := eval.Starter()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"id":"a","prompt":"p","expect":[["x",{"tool":"y|z","args":{"a.0.b":{"regex":"x"}}}]],"answer":{"not":["x"]},"approve":["x"]}`))
	f.Add([]byte(`{"id":"` + cases[0].ID + `","prompt":"p","files":{"x":{"equals":""}},"forbid":[{"tool":"@change","args":{"q":{"in":[1]}}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		cases, err := eval.Read(bytes.NewReader(b))
		if err != nil {
			if !strings.Contains(err.Error(), "line ") && !strings.Contains(err.Error(), "no case") {
				t.Errorf("the error has no line: %v", err)
			}
			return
		}
		o := eval.Outcome{Answer: "x", Calls: []eval.Made{{Tool: "x", Args: json.RawMessage(`{"a":[{"b":"x"}],"q":1}`), Changes: true}}}
		for _, c := range cases {
			if c.ID == "" || c.Prompt == "" {
				t.Errorf("a case without a name or a prompt: %+v", c)
			}
			if slices.Contains(c.Judge(&o), "") {
				t.Error("a reason without words")
			}
		}
	})
}
