package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"lore/internal/fault"
)

// Brew has one argument of every sort.
type Brew struct {
	Leaf   string            `json:"leaf"`
	Grams  int               `json:"grams,omitempty" default:"5" min:"1" max:"20"`
	Ratio  float64           `json:"ratio,omitempty"`
	Hot    bool              `json:"hot,omitempty" default:"true"`
	Style  string            `json:"style,omitempty" default:"gongfu" enum:"gongfu,western"`
	Tags   []string          `json:"tags,omitempty"`
	Words  []string          `json:"words,omitempty" enum:"a,b"`
	Labels map[string]string `json:"labels,omitempty"`
	Pot    *Pot              `json:"pot,omitempty" alias:"teaPot,kettle"`
	Many   []string          `json:"many_leaves,omitempty" alias:"manyLeaves"`
	Query  string            `json:"query,omitempty"`
	Hash   string            `json:"if_hash,omitempty"`
	Long   string            `json:"long,omitempty" size:"text"`
}

// Pot is nested in Brew.
type Pot struct {
	Size  int    `json:"size,omitempty" max:"100"`
	Shape string `json:"shape,omitempty" enum:"round,flat" alias:"potShape"`
}

// Cup is what Brew returns.
type Cup struct {
	Got   Brew   `json:"got"`
	Index string `json:"index"`
}

var brewDocs = Comments{"Brew": {"Leaf": "Which leaf."}, "Pot": {"Size": "How large."}}

const defaults = `"grams":5,"hot":true,`

func TestCanonical(t *testing.T) {
	s := Of[Brew, Cup](brewDocs)
	for _, c := range []struct {
		name, in string
		lenient  bool
		want     string // the canonical form, or part of the error after "!"
		notices  string
	}{
		{name: "object", in: `{"leaf":"x"}`, want: `{` + defaults + `"leaf":"x","style":"gongfu"}`},
		{name: "string", in: `"{\"leaf\":\"x\"}"`, want: `{` + defaults + `"leaf":"x","style":"gongfu"}`},
		{name: "nothing", in: ``, want: `!leaf: is missing`},
		{name: "null", in: `null`, want: `!leaf: is missing`},
		{name: "empty string", in: `" "`, want: `!leaf: is missing`},
		{name: "list", in: `[1]`, want: `!arguments must be an object, got a list`},
		{name: "number", in: `7`, want: `!arguments must be an object, got the number 7`},
		{name: "string in a string", in: `"\"{}\""`, want: `!arguments must be an object, got text`},
		{name: "two objects", in: `{"leaf":"x"} {}`, want: `!extra text after the JSON object`},
		{name: "not JSON", in: `{"leaf":`, want: `!arguments are not JSON`},
		{name: "bad string", in: `"abc`, want: `!arguments`},
		{name: "key twice", in: `{"leaf":"x","leaf":"y"}`, want: `!"leaf" and "leaf" are the same key`},
		{name: "case twins", in: `{"leaf":"x","Leaf":"y"}`, want: `!"leaf" and "Leaf" are the same key`},
		{name: "case twins, other way round", in: `{"LEAF":"x","leaf":"y"}`, want: `!"LEAF" and "leaf" are the same key`},
		{name: "twins inside", in: `{"leaf":"x","labels":{"a":"1","A":"2"}}`, want: `!"a" and "A" are the same key`},
		{name: "other case", in: `{"Leaf":"x"}`, want: `!unknown field "Leaf", did you mean "leaf"?`},
		{name: "unknown", in: `{"leaf":"x","gram":1}`, want: `!unknown field "gram", did you mean "grams"? (known: leaf, grams, `},
		{name: "unknown inside", in: `{"leaf":"x","pot":{"siz":1}}`, want: `!pot: unknown field "siz", did you mean "size"? (known: size, shape)`},
		{name: "too deep", in: `{"leaf":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, want: `!nested deeper than 64`},
		{name: "clamp", in: `{"leaf":"x","grams":500}`, want: `{"grams":20,"hot":true,"leaf":"x","style":"gongfu"}`, notices: "grams: 500 is above the maximum; used 20"},
		{name: "clamp inside", in: `{"leaf":"x","pot":{"size":1e9}}`, want: `{` + defaults + `"leaf":"x","pot":{"size":100},"style":"gongfu"}`, notices: "pot.size: 1e9 is above the maximum; used 100"},
		{name: "clamp endless", in: `{"leaf":"x","grams":1e999}`, want: `{"grams":20,"hot":true,"leaf":"x","style":"gongfu"}`, notices: "grams: 1e999 is above the maximum; used 20"},
		{name: "no clamp below", in: `{"leaf":"x","grams":0}`, want: `!grams: must be at least 1, got 0`},
		{name: "whole numbers", in: `{"leaf":"x","grams":7.0}`, want: `{"grams":7,"hot":true,"leaf":"x","style":"gongfu"}`},
		{name: "exponent", in: `{"leaf":"x","grams":1e1}`, want: `{"grams":10,"hot":true,"leaf":"x","style":"gongfu"}`},
		{name: "fraction", in: `{"leaf":"x","grams":7.5}`, want: `!grams: must be a whole number, got 7.5`},
		{name: "out of range", in: `{"leaf":"x","ratio":1e300}`, want: `!ratio: the number 1e300 is out of range`},
		{name: "very negative", in: `{"leaf":"x","grams":-1e300}`, want: `!grams: the number -1e300 is out of range`},
		{name: "enum", in: `{"leaf":"x","style":"cold"}`, want: `!style: "cold" is not one of gongfu, western`},
		{name: "enum in a list", in: `{"leaf":"x","words":["a","c"]}`, want: `!words[1]: "c" is not one of a, b`},
		{name: "all problems", in: `{"grams":"x","style":"cold","tags":{},"foo":1}`, want: `!arguments: unknown field "foo" (known: leaf, grams, ratio, hot, style, tags, words, labels, pot, many_leaves, query, if_hash, long); grams: must be a whole number, got text; leaf: is missing; style: "cold" is not one of gongfu, western; tags: must be a list, got an object`},
		{name: "null is a value", in: `{"leaf":"x","grams":null}`, want: `!grams: must be a whole number, got nothing`},

		{name: "person: text for a number", in: `{"leaf":"x","grams":"5"}`, want: `!grams: must be a whole number, got text`},
		{name: "text for a number", in: `{"leaf":"x","grams":" 6 "}`, lenient: true, want: `{"grams":6,"hot":true,"leaf":"x","style":"gongfu"}`, notices: "grams: read text as integer"},
		{name: "text that is none", in: `{"leaf":"x","grams":"six"}`, lenient: true, want: `!grams: must be a whole number, got text`},
		{name: "text for infinity", in: `{"leaf":"x","ratio":"Inf"}`, lenient: true, want: `!ratio: must be a number, got text`},
		{name: "text in hexadecimal", in: `{"leaf":"x","grams":"0x10"}`, lenient: true, want: `!grams: must be a whole number, got text`},
		{name: "text, too much", in: `{"leaf":"x","grams":"99"}`, lenient: true, want: `{"grams":20,"hot":true,"leaf":"x","style":"gongfu"}`, notices: "grams: read text as integer|grams: 99 is above the maximum; used 20"},
		{name: "text for truth", in: `{"leaf":"x","hot":"No"}`, lenient: true, want: `{"grams":5,"hot":false,"leaf":"x","style":"gongfu"}`, notices: "hot: read text as boolean"},
		{name: "number for text", in: `{"leaf":12}`, lenient: true, want: `{` + defaults + `"leaf":"12","style":"gongfu"}`, notices: "leaf: read the number 12 as string"},
		{name: "one for a list", in: `{"leaf":"x","tags":"a"}`, lenient: true, want: `{` + defaults + `"leaf":"x","style":"gongfu","tags":["a"]}`, notices: "tags: read text as array"},
		{name: "list in a string", in: `{"leaf":"x","tags":"[\"a\",\"b\"]"}`, lenient: true, want: `{` + defaults + `"leaf":"x","style":"gongfu","tags":["a","b"]}`, notices: "tags: read text as array"},
		{name: "object in a string", in: `{"leaf":"x","pot":"{\"size\":\"3\"}"}`, lenient: true, want: `{` + defaults + `"leaf":"x","pot":{"size":3},"style":"gongfu"}`, notices: "pot: read text as object|pot.size: read text as integer"},
		{name: "null left out", in: `{"leaf":"x","grams":null}`, lenient: true, want: `{` + defaults + `"leaf":"x","style":"gongfu"}`},

		{name: "long name", in: `{"leaf":"` + strings.Repeat("字", 1001) + `"}`, want: `!leaf: has 1,001 characters, the limit is 1,000`},
		{name: "name of the limit", in: `{"leaf":"` + strings.Repeat("字", 1000) + `"}`, want: `{` + defaults + `"leaf":"` + strings.Repeat("字", 1000) + `","style":"gongfu"}`},
		{name: "long item", in: `{"leaf":"x","tags":["a","` + strings.Repeat("a", 5000) + `"]}`, want: `!tags[1]: has 5,000 characters, the limit is 1,000`},
		{name: "many items", in: `{"leaf":"x","tags":[` + strings.Repeat(`"a",`, 1000) + `"a"]}`, want: `!tags: has 1,001 items, the limit is 1,000`},
		{name: "many wrong items", in: `{"leaf":"x","tags":[` + strings.Repeat(`1,`, 900) + `1]}`, want: `!tags[0]: must be text, got the number 1; tags[1`},
		{name: "long value of a map", in: `{"leaf":"x","labels":{"a":"` + strings.Repeat("a", 20_001) + `"}}`, want: `!labels.a: has 20,001 characters, the limit is 20,000`},
		{name: "long key of a map", in: `{"leaf":"x","labels":{"` + strings.Repeat("a", 1001) + `":"a"}}`, want: `!labels: a field name has 1,001 bytes, the limit is 1,000`},
		{name: "long enum", in: `{"leaf":"x","style":"` + strings.Repeat("a", 1001) + `"}`, want: `!style: has 1,001 characters`},
		{name: "long text for a list of numbers", in: `{"leaf":"x","grams":1` + strings.Repeat("0", 100_000) + `}`, want: `{"grams":20,`, notices: "grams: 100000000000000000000000… is above the maximum; used 20"},
		{name: "question", in: `{"leaf":"x","query":"` + strings.Repeat("a", 2001) + `"}`, want: `!query: has 2,001 characters, the limit is 2,000`},
		{name: "id", in: `{"leaf":"x","if_hash":"` + strings.Repeat("a", 201) + `"}`, want: `!if_hash: has 201 characters, the limit is 200`},
		{name: "text", in: `{"leaf":"x","long":"` + strings.Repeat("a", 10<<20+1) + `"}`, want: `!long: has 10,485,761`},
		{name: "twins of the decoder", in: "{\"leaf\":\"x\",\"tag\u017f\":[],\"tags\":[]}", want: `!are the same key`},
		{name: "escaped twins", in: `{"leaf":"x","le\u0061f":"y"}`, want: `!are the same key`},

		{name: "alias", in: `{"leaf":"x","manyLeaves":["a"]}`, want: `{` + defaults + `"leaf":"x","many_leaves":["a"],"style":"gongfu"}`},
		{name: "second alias, and inside", in: `{"leaf":"x","kettle":{"potShape":"flat"}}`, want: `{` + defaults + `"leaf":"x","pot":{"shape":"flat"},"style":"gongfu"}`},
		{name: "alias and name", in: `{"leaf":"x","manyLeaves":["a"],"many_leaves":["b"]}`, want: `!many_leaves: "manyLeaves" is another name for it, and both were given; give one of them`},
		{name: "alias, coerced", in: `{"leaf":"x","manyLeaves":"a"}`, lenient: true, want: `{` + defaults + `"leaf":"x","many_leaves":["a"],"style":"gongfu"}`, notices: "many_leaves: read text as array"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, notices, err := s.Canonical(json.RawMessage(c.in), c.lenient)
			if text, ok := strings.CutPrefix(c.want, "!"); ok {
				if err == nil || !strings.Contains(err.Error(), text) {
					t.Fatalf("got %s, %v; want an error with %q", got, err, text)
				}
				if fault.Of(err) != fault.Invalid {
					t.Errorf("kind %q", fault.Of(err))
				}
				return
			}
			if err != nil || string(got) != c.want && !(strings.HasSuffix(c.want, ",") && strings.HasPrefix(string(got), c.want)) {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
			if n := strings.Join(notices, "|"); n != c.notices {
				t.Errorf("notices %q, want %q", n, c.notices)
			}
		})
	}
}

func TestTheFieldOfAnError(t *testing.T) {
	s := Of[Brew, Cup](brewDocs)
	for in, want := range map[string]string{
		`{}`:                                    "leaf",
		`{"leaf":1}`:                            "leaf",
		`{"leaf":"x","pot":{"shape":"cube"}}`:   "pot.shape",
		`{"leaf":"x","pot":{"size":-1e300}}`:    "pot.size",
		`{"leaf":"x","teaPot":{},"pot":{}}`:     "pot",
		`{"leaf":"x","pot":{"potShape":"cub"}}`: "pot.shape",
	} {
		_, _, err := s.Canonical(json.RawMessage(in), false)
		var r *fault.Report
		if !errors.As(err, &r) || r.Field != want {
			t.Errorf("%s: got %v", in, err)
		}
	}
}

// TestErrorsAreTheSameEveryTime: maps have no order, errors do.
func TestErrorsAreTheSameEveryTime(t *testing.T) {
	s := Of[Brew, Cup](brewDocs)
	first := ""
	for range 50 {
		_, _, err := s.Canonical(json.RawMessage(`{"grams":0,"style":"cold","zz":1,"aa":2,"pot":{"shape":"x","q":1,"b":2}}`), false)
		got := fmt.Sprintf("%v %s", err, fault.Of(err))
		if first == "" {
			first = got
		}
		if got != first {
			t.Fatalf("first %s\nthen  %s", first, got)
		}
	}
}

// FuzzCanonical: whatever comes in, the decoder does not panic, and what it lets
// through is a fixed point that the tool's struct can hold.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"leaf":"x"}`, `"{\"leaf\":\"x\"}"`, `{"leaf":1,"grams":"5","pot":"{\"size\":3}"}`, `{"leaf":"x","grams":1e1,"ratio":-0}`,
		`{"leaf":"x","manyLeaves":"a","kettle":{"potShape":"flat"}}`, `{"leaf":"\ud800","labels":{"a":"b"}}`, `[[[[`, "", "null", `{"a":{"A":1,"a":2}}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	s := Of[Brew, Cup](brewDocs)
	f.Fuzz(func(t *testing.T, raw []byte, lenient bool) {
		args, _, err := s.Canonical(raw, lenient)
		if err != nil {
			if fault.Of(err) != fault.Invalid || err.Error() == "" {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		var in Brew
		if err := json.Unmarshal(args, &in); err != nil {
			t.Fatalf("%q became %s, which the struct cannot hold: %v", raw, args, err)
		}
		again, notices, err := s.Canonical(args, lenient)
		if err != nil || !bytes.Equal(again, args) || len(notices) > 0 {
			t.Fatalf("%q became %s, then %s %v %v", raw, args, again, notices, err)
		}
		if in.Leaf == "" && bytes.Contains(args, []byte(`"leaf":null`)) || in.Grams < 1 || in.Grams > 20 {
			t.Fatalf("%q became %s", raw, args)
		}
	})
}

func TestNearest(t *testing.T) {
	names := []string{"read_note", "search_notes", "list_tags", "list_notes", "find_path"}
	for _, c := range []struct {
		word, want string
		n          int
	}{
		{"readnote", "[read_note]", 3},
		{"LIST_TAG", "[list_tags]", 3},
		{"list_note", "[list_notes]", 1},
		{"notes", "[list_notes search_notes]", 3},
		{"qqqqqq", "[]", 3},
		{"", "[]", 3},
	} {
		if got := fmt.Sprint(Nearest(c.word, names, c.n)); got != c.want {
			t.Errorf("Nearest(%q) = %s, want %s", c.word, got, c.want)
		}
	}
}
