package argv

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"lore/internal/fault"
	"lore/internal/tool"
)

type none struct{}

// Everything has an argument of every sort.
type everything struct {
	Query string            `json:"query"`
	TopK  int               `json:"top_k,omitempty" default:"10"`
	Ratio float64           `json:"ratio,omitempty"`
	Deep  bool              `json:"deep,omitempty"`
	Mode  string            `json:"mode,omitempty" enum:"a,b"`
	Tags  []string          `json:"tags,omitempty"`
	Props map[string]string `json:"props,omitempty"`
	Rows  []none            `json:"rows,omitempty"`
	Inner *inner            `json:"inner,omitempty"`
}

type inner struct {
	Mode   string `json:"mode,omitempty"`
	Folder string `json:"folder,omitempty"`
}

func (everything) Run(context.Context, none) (none, error) { return none{}, nil }

type pair struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Count int    `json:"count"`
}

type maybe struct {
	Path string `json:"path"`
	To   string `json:"to,omitempty" word:"true" alias:"newPath"`
}

func (maybe) Run(context.Context, none) (none, error) { return none{}, nil }

func (pair) Run(context.Context, none) (none, error) { return none{}, nil }

type nothing struct {
	Limit int `json:"limit,omitempty"`
}

func (nothing) Run(context.Context, none) (none, error) { return none{}, nil }

type several struct {
	Paths []string `json:"paths"`
}

func (several) Run(context.Context, none) (none, error) { return none{}, nil }

type fields struct {
	Kind   string         `json:"kind"`
	Values map[string]any `json:"values"`
}

func (fields) Run(context.Context, none) (none, error) { return none{}, nil }

func testTools() map[string]*tool.Tool {
	docs := map[string]tool.Comment{}
	for _, n := range []string{"everything", "pair", "nothing", "several", "maybe", "fields"} {
		docs[n] = tool.Comment{Text: n + " does it."}
	}
	out := map[string]*tool.Tool{}
	for _, t := range tool.Toolset("test", docs,
		tool.Read[everything](none{}), tool.Read[pair](none{}), tool.Read[nothing](none{}), tool.Read[several](none{}), tool.Read[maybe](none{}), tool.Read[fields](none{})) {
		out[t.Name] = t
	}
	return out
}

func TestArguments(t *testing.T) {
	tools := testTools()
	for _, c := range []struct {
		name string
		tool string
		args []string
		want string // JSON, or what the error says
	}{
		{"words are one argument", "everything", []string{"cold", "brew"}, `{"query":"cold brew"}`},
		{"by its flag", "everything", []string{"--query", "tea"}, `{"query":"tea"}`},
		{"only what is given", "everything", []string{"x", "--top-k", "3"}, `{"query":"x","top_k":3}`},
		{"every sort", "everything", []string{"x", "--ratio", "0.5", "--deep", "--mode", "a", "--tags", "a,b", "--tags", "c", "--props", "k=v"},
			`{"deep":true,"mode":"a","props":{"k":"v"},"query":"x","ratio":0.5,"tags":["a","b","c"]}`},
		{"false is a value", "everything", []string{"x", "--deep=false"}, `{"deep":false,"query":"x"}`},
		{"nested", "everything", []string{"x", "--folder", "f", "--inner-mode", "m"}, `{"inner":{"folder":"f","mode":"m"},"query":"x"}`},
		{"JSON", "everything", []string{"x", "--rows", `[{}]`}, `{"query":"x","rows":[{}]}`},
		{"no JSON", "everything", []string{"x", "--rows", `[{`}, `rows: "[{" is not JSON`},
		{"several needed", "pair", []string{"a b", "c", "3"}, `{"count":3,"from":"a b","to":"c"}`},
		{"one of them by its flag", "pair", []string{"a", "c", "--count", "3"}, `{"count":3,"from":"a","to":"c"}`},
		{"too many", "pair", []string{"a", "b", "3", "d"}, "takes 3 arguments, got 4"},
		{"too few", "pair", []string{"a"}, "to is required; usage: pair FROM TO COUNT"},
		{"no number", "pair", []string{"a", "b", "c"}, `count: "c" is not a whole number`},
		{"no words wanted", "nothing", []string{"a"}, `takes no arguments, got "a"`},
		{"no words needed", "nothing", nil, `{}`},
		{"a list", "several", []string{"a.md", "b, c.md"}, `{"paths":["a.md","b, c.md"]}`},
		{"missing", "everything", nil, "query is required"},
		{"a word that may be left out", "maybe", []string{"a"}, `{"path":"a"}`},
		{"under another name", "maybe", []string{"a", "--new-path", "b"}, `{"path":"a","to":"b"}`},
		{"fields as JSON", "fields", []string{"a", `{"b": 1}`}, `{"kind":"a","values":{"b":1}}`},
		{"one field as a word", "fields", []string{"a", "b=c d"}, `{"kind":"a","values":{"b":"c d"}}`},
		{"no field", "fields", []string{"a", "b"}, "use NAME=VALUE"},
		{"and may be given", "maybe", []string{"a", "b c"}, `{"path":"a","to":"b c"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := argumentsOf(tools[c.tool], c.args)
			text := string(got)
			if err != nil {
				text = err.Error()
				if k := fault.Of(err); k != fault.Invalid {
					t.Errorf("kind %s", k)
				}
			}
			if err == nil && text != c.want || err != nil && !strings.Contains(text, c.want) {
				t.Errorf("got %s, want %s", text, c.want)
			}
		})
	}
}

// argumentsOf reads a command line as the command of a tool does.
func argumentsOf(tl *tool.Tool, args []string) (json.RawMessage, error) {
	cmd := &cobra.Command{Use: tl.Name}
	in := New(tl, cmd.Flags())
	if err := cmd.ParseFlags(args); err != nil {
		return nil, Explain(cmd, err)
	}
	words := cmd.Flags().Args()
	if err := in.Check(cmd, words); err != nil {
		return nil, err
	}
	return in.Arguments(cmd.Flags(), words)
}

func TestDescribeField(t *testing.T) {
	for _, c := range []struct {
		name, doc string
		enum      []string
		want      string
	}{
		{"TopK", "TopK is how many notes to return.", nil, "how many notes to return"},
		{"Offset", "Offset skips the best ones, to read on.", nil, "skips the best ones, to read on"},
		{"Mode", "Mode of the search.", []string{"a", "b", "c"}, "mode of the search: a, b or c"},
		{"Only", "Only this.", []string{"a"}, "only this: a"},
		{"Path", "Path of the note, `a.md`.", nil, "path of the note, 'a.md'"},
		{"URL", "URL to fetch.", nil, "URL to fetch"},
		{"Empty", "", nil, ""},
	} {
		if got := describeField(c.name, c.doc, c.enum); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFlagErrors(t *testing.T) {
	cmd := &cobra.Command{Use: "everything"}
	New(testTools()["everything"], cmd.Flags())
	for _, c := range []struct{ args, want string }{
		{"--top-k x", `--top-k: "x" is not a whole number`},
		{"--ratio x", `--ratio: "x" is not a number`},
		{"--deep=x", `--deep: "x" is not true or false`},
		{"--props x", `--props: "x" is not NAME=VALUE`},
		{"--tag x", `has no flag --tag; did you mean --tags?`},
		{"--zzz", `has no flag --zzz; see everything --help`},
		{"-xy", `has no flag -x; put -- before`},
		{"--query", `--query needs a value`},
	} {
		err := cmd.ParseFlags(strings.Fields(c.args))
		if err == nil {
			t.Errorf("%s: no error", c.args)
			continue
		}
		err = Explain(cmd, err)
		var r *fault.Report
		if !errors.As(err, &r) || r.Kind != fault.Invalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}
