package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/tool/access"
)

// Brew is a tool of the tests: it has one argument of every sort.
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

// brewEnv says how the tool behaves.
type brewEnv struct {
	run func(context.Context, Brew) (Cup, error)
}

// Run hands the arguments back.
func (b Brew) Run(ctx context.Context, env brewEnv) (Cup, error) {
	if env.run != nil {
		return env.run(ctx, b)
	}
	return Cup{Got: b}, nil
}

var brewDocs = map[string]Comment{
	"Brew": {Text: "Brew makes tea.", Fields: map[string]string{"Leaf": "Which leaf."}},
	"Pot":  {Text: "Pot is a pot.", Fields: map[string]string{"Size": "How large."}},
}

func brew(env brewEnv, opts ...Option) *Tool {
	return Toolset("kitchen", brewDocs, Read[Brew](env, opts...))[0]
}

var (
	person = access.Terminal()
	model  = access.Principal{Kind: access.MCP, Surface: "mcp", Scopes: []access.Scope{access.Read}}
)

func TestATool(t *testing.T) {
	b := brew(brewEnv{}, Alias("makeTea"), Short("tea"), Drawn(Text), Within(time.Second), Try("sencha", `{"leaf":"sencha"}`))
	if b.Name != "brew" || b.Title != "Brew" || b.Doc != "Makes tea." || b.Set != "kitchen" || b.Effect != access.Reads {
		t.Errorf("got %+v", b)
	}
	if b.Short != "tea" || b.Shape != Text || b.Timeout != time.Second || len(b.Examples) != 1 || b.Comment("Pot", "Size") != "How large." {
		t.Errorf("got %+v", b)
	}
	for in, want := range map[string]string{"ReadNote": "read_note", "A": "a", "FindBrokenLinks": "find_broken_links"} {
		if got := snakeCase(in); got != want {
			t.Errorf("snakeCase(%s) = %s", in, got)
		}
	}
}

func TestSchema(t *testing.T) {
	in := brew(brewEnv{}).Input()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"leaf":       `{"type":"string","description":"Which leaf."}`,
		"grams":      `{"type":"integer","default":5,"minimum":1,"maximum":20}`,
		"hot":        `{"type":"boolean","default":true}`,
		"style":      `{"type":"string","default":"gongfu","enum":["gongfu","western"]}`,
		"tags":       `{"type":"array","items":{"type":"string"}}`,
		"words":      `{"type":"array","items":{"type":"string","enum":["a","b"]}}`,
		"pot.size":   `{"type":"integer","description":"How large.","maximum":100}`,
		"pot.shape":  `{"type":"string","enum":["round","flat"]}`,
		"labels":     `{"type":"object","additionalProperties":{"type":"string"}}`,
		"no such":    `null`,
		"manyLeaves": `null`,
	} {
		s := in
		for name := range strings.SplitSeq(path, ".") {
			if s = s.Properties[name]; s == nil {
				break
			}
		}
		got, want := decodeAny(t, mustJSON(t, s)), decodeAny(t, want)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	if strings.Contains(string(raw), "manyLeaves") || strings.Contains(string(raw), `["null"`) {
		t.Errorf("the schema shows an alias or a union of types: %s", raw)
	}
	if got := fmt.Sprint(in.Required); got != "[leaf]" {
		t.Errorf("required: %s", got)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func decodeAny(t *testing.T, s string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCallFindsTools(t *testing.T) {
	r := NewRegistry(Deps{}, []*Tool{brew(brewEnv{}, Alias("makeTea"))})
	for _, name := range []string{"brew", "makeTea"} {
		if _, err := r.Call(t.Context(), person, name, json.RawMessage(`{"leaf":"x"}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := r.Call(t.Context(), person, "brwe", nil)
	if fault.Of(err) != fault.NotFound || !strings.Contains(err.Error(), "did you mean brew?") {
		t.Errorf("got %v", err)
	}
	if _, err := r.Call(t.Context(), person, "zzzzzzzzzz", nil); fault.Of(err) != fault.NotFound || strings.Contains(err.Error(), "mean") {
		t.Errorf("got %v", err)
	}
	_, err = r.Call(t.Context(), access.Principal{}, "brew", json.RawMessage(`{"leaf":"x"}`))
	if fault.Of(err) != fault.Denied {
		t.Errorf("a principal without rights: %v", err)
	}
}

func TestRegisteringTwicePanics(t *testing.T) {
	for name, sets := range map[string][][]*Tool{
		"name":  {{brew(brewEnv{})}, {brew(brewEnv{})}},
		"alias": {{brew(brewEnv{}, Alias("brew"))}},
	} {
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), `"brew" registered twice`) {
					t.Errorf("%s: got %v", name, p)
				}
			}()
			NewRegistry(Deps{}, sets...)
		}()
	}
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "brew has no comment") {
			t.Errorf("a tool without a comment: got %v", p)
		}
	}()
	Toolset("kitchen", nil, Read[Brew](brewEnv{}))
}

func TestAPanicIsAnErrorWithoutArguments(t *testing.T) {
	var logged strings.Builder
	r := NewRegistry(Deps{Log: slog.New(slog.NewTextHandler(&logged, nil))}, []*Tool{brew(brewEnv{run: func(_ context.Context, b Brew) (Cup, error) {
		panic("the leaf is " + b.Leaf)
	}})})
	_, err := r.Call(t.Context(), person, "brew", json.RawMessage(`{"leaf":"secret-leaf"}`))
	if fault.Of(err) != fault.Internal || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(logged.String(), "secret") || !strings.Contains(logged.String(), "panicked") {
		t.Errorf("logged %s", logged.String())
	}
}

func TestTimeout(t *testing.T) {
	wait := func(ctx context.Context, _ Brew) (Cup, error) {
		<-ctx.Done()
		return Cup{}, ctx.Err()
	}
	r := NewRegistry(Deps{}, []*Tool{brew(brewEnv{run: wait}, Within(time.Millisecond))})
	_, err := r.Call(t.Context(), person, "brew", json.RawMessage(`{"leaf":"x"}`))
	if fault.Of(err) != fault.Cancelled || !strings.Contains(err.Error(), "took longer than 1ms") {
		t.Errorf("got %v", err)
	}
	r = NewRegistry(Deps{}, []*Tool{brew(brewEnv{run: wait})})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Call(ctx, person, "brew", json.RawMessage(`{"leaf":"x"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that went away: %v", err)
	}
}

func TestResultIsFlat(t *testing.T) {
	r := NewRegistry(Deps{}, []*Tool{brew(brewEnv{run: func(context.Context, Brew) (Cup, error) { return Cup{Index: "<&>"}, nil }})})
	res, err := r.Call(t.Context(), model, "brew", json.RawMessage(`{"leaf":"x","grams":"7"}`))
	if err != nil {
		t.Fatal(err)
	}
	got := mustJSON(t, res)
	if !strings.HasPrefix(got, `{"success":true,"notices":["grams: read text as integer"],"got":{`) {
		t.Errorf("got %s", got)
	}
	raw, err := res.MarshalJSON()
	if err != nil || !strings.Contains(string(raw), `"index":"<&>"`) {
		t.Errorf("escaped for HTML: %s %v", raw, err)
	}
	if _, err := json.Marshal(Result{Value: 5, Tool: brew(brewEnv{})}); err == nil {
		t.Error("a result that is not an object was written")
	}
	if got := mustJSON(t, Result{Success: true, Message: "done"}); got != `{"success":true,"message":"done"}` {
		t.Errorf("got %s", got)
	}
}

func TestFailure(t *testing.T) {
	f := NewFailure(fmt.Errorf("brew: %w", fault.Field("leaf", "name one", "is empty")))
	want := `{"success":false,"isError":true,"kind":"invalid","error":"brew: leaf: is empty; name one","field":"leaf","fix":"name one"}`
	if got := mustJSON(t, f); got != want {
		t.Errorf("got %s", got)
	}
}

// BenchmarkStart shows what seventy tools cost a program that calls one.
func BenchmarkStart(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		tools := make([]*Tool, 70)
		for i := range tools {
			tools[i] = Read[Brew](brewEnv{})
			tools[i].Name = fmt.Sprintf("brew_%d", i)
		}
		NewRegistry(Deps{}, Toolset("kitchen", brewDocs, tools...))
	}
}

// BenchmarkCall shows what the registry adds to a tool, once its schema is made.
func BenchmarkCall(b *testing.B) {
	r := NewRegistry(Deps{}, []*Tool{brew(brewEnv{})})
	args := json.RawMessage(`{"leaf":"sencha","grams":3,"tags":["a","b"]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Call(b.Context(), person, "brew", args); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSchema shows what the first call of a tool pays.
func BenchmarkSchema(b *testing.B) {
	for b.Loop() {
		brew(brewEnv{}).Input()
	}
}
