package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"lore/internal/llm"
)

// recorded is an answer of the testdata of an adapter.
func recorded(t *testing.T, adapter, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "internal", "llm", adapter, "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// An asked is a request as it came.
type asked struct {
	path   string
	header http.Header
	body   []byte
}

// A place is a server that answers every request with the same, and remembers the
// last one.
type place struct {
	url string

	mu   sync.Mutex
	last asked
}

func serve(t *testing.T, answer string) *place {
	t.Helper()
	p := &place{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/api/show" { // Ollama is asked first what a model can
			_, _ = io.WriteString(w, `{"capabilities":["tools","thinking"],"model_info":{"x.context_length":8192},"details":{"family":"x"}}`)
			return
		}
		p.mu.Lock()
		p.last = asked{r.URL.RequestURI(), r.Header, body}
		p.mu.Unlock()
		kind := "text/event-stream"
		if strings.HasPrefix(answer, "{") {
			kind = "application/json"
		}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(srv.Close)
	p.url = srv.URL
	return p
}

func (p *place) got() asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// A reading is what somebody understood of an answer.
type reading struct {
	Text, Thought           string
	Calls                   []call
	In, Out, Cached, Unsaid int // tokens; Unsaid are those of thoughts
	Stop                    llm.Stop
}

type call struct{ ID, Name, Args string }

var madeUp = regexp.MustCompile(`^(call|made)_[a-z2-7]{26}$`)

// ours is what our adapter understood. Ids that it made up are left out.
func ours(a llm.Answer) reading {
	r := reading{Text: a.Text(), In: a.Usage.In, Out: a.Usage.Out, Cached: a.Usage.CacheRead, Unsaid: a.Usage.Reasoning, Stop: a.Stop}
	for _, p := range a.Parts {
		switch p.Kind {
		case llm.Reasoning:
			r.Thought += p.Text
		case llm.ToolCall:
			id := p.ID
			if madeUp.MatchString(id) {
				id = ""
			}
			r.Calls = append(r.Calls, call{id, p.Name, canonical(p.Args)})
		}
	}
	return r
}

// canonical is JSON in the one form that can be compared.
func canonical(raw []byte) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}

func sameReading(t *testing.T, ours, theirs reading) {
	t.Helper()
	if !reflect.DeepEqual(ours, theirs) {
		t.Errorf("read differently:\nours   %+v\ntheirs %+v", ours, theirs)
	}
}

// An equal makes one of two ways to say the same: it gets a field of a request, and
// gives what is compared, and whether anything is.
type equal func(object map[string]any, key string, value any) (any, bool)

// plain is a value with everything in it made equal.
func (same equal) plain(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = same.plain(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			if same != nil {
				var keep bool
				if inner, keep = same(v, k, inner); !keep {
					continue
				}
			}
			out[k] = same.plain(inner)
		}
		return out
	}
	return v
}

// sameRequest compares what both clients sent.
func (w *wire) sameRequest(t *testing.T, ours, theirs asked) {
	t.Helper()
	if ours.path != theirs.path {
		t.Errorf("ours goes to %s, theirs to %s", ours.path, theirs.path)
	}
	for _, h := range w.headers {
		if a, b := ours.header.Get(h), theirs.header.Get(h); a != b || a == "" {
			t.Errorf("header %s: ours %q, theirs %q", h, a, b)
		}
	}
	var a, b any
	if err := json.Unmarshal(ours.body, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(theirs.body, &b); err != nil {
		t.Fatalf("%v: %s", err, theirs.body)
	}
	for _, d := range differences("", w.same.plain(a), w.same.plain(b)) {
		t.Error(d)
	}
}

// differences lists the places at which two values differ.
func differences(at string, a, b any) []string {
	x, isObject := a.(map[string]any)
	y, both := b.(map[string]any)
	if isObject && both {
		var out []string
		for k, v := range x {
			if w, ok := y[k]; ok {
				out = append(out, differences(at+"."+k, v, w)...)
			} else {
				out = append(out, fmt.Sprintf("%s.%s: only ours has it: %v", at, k, v))
			}
		}
		for k, w := range y {
			if _, ok := x[k]; !ok {
				out = append(out, fmt.Sprintf("%s.%s: only theirs has it: %v", at, k, w))
			}
		}
		return out
	}
	list, isList := a.([]any)
	other, bothLists := b.([]any)
	if isList && bothLists && len(list) == len(other) {
		var out []string
		for i := range list {
			out = append(out, differences(fmt.Sprintf("%s[%d]", at, i), list[i], other[i])...)
		}
		return out
	}
	if !reflect.DeepEqual(a, b) {
		return []string{fmt.Sprintf("%s: %v and %v", at, a, b)}
	}
	return nil
}

// required looks for fields that a type of an SDK calls required and that are not
// in the JSON it was decoded from. Of a union the variant is looked at that the
// decoder chose.
func required(t *testing.T, at string, v reflect.Value, raw any) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			required(t, at, v.Elem(), raw)
		}
	case reflect.Slice:
		list, _ := raw.([]any)
		for i := range min(v.Len(), len(list)) {
			required(t, fmt.Sprintf("%s[%d]", at, i), v.Index(i), list[i])
		}
	case reflect.Struct:
		object, ok := raw.(map[string]any)
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case !f.IsExported() || name == "-":
			case strings.HasPrefix(f.Name, "Of") && strings.Contains(rest, "inline"):
				required(t, at, v.Field(i), raw)
			case name == "" || !ok:
			case f.Tag.Get("api") == "required" || f.Tag.Get("default") != "" && f.Tag.Get("json") == name:
				if _, has := object[name]; !has {
					t.Errorf("%s.%s: required by %s, and not sent", at, name, v.Type())
				}
				fallthrough
			default:
				if inner, has := object[name]; has {
					required(t, at+"."+name, v.Field(i), inner)
				}
			}
		}
	}
}

// decoded decodes a request into a type of an SDK and looks for what it requires.
// choose says which of several types is meant where the SDK's decoder cannot tell.
func decoded[T any](t *testing.T, a asked, choose func(*T)) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	if choose != nil {
		choose(&v)
	}
	var raw any
	if err := json.Unmarshal(a.body, &raw); err != nil {
		t.Fatal(err)
	}
	required(t, "", reflect.ValueOf(v), raw)
	return v
}

// Schemas that all providers take.
const (
	readSchema   = `{"type":"object","properties":{"path":{"type":"string","description":"Where"}},"required":["path"]}`
	formatSchema = `{"type":"object","properties":{"title":{"type":"string"}},"required":["title"],"additionalProperties":false}`
)

func tools() []llm.Tool {
	return []llm.Tool{
		{Name: "list_notes", Description: "Lists", Schema: json.RawMessage(`{"type":"object","properties":{"kind":{"type":"string","enum":["a","b"]}}}`)},
		{Name: "read_note", Description: "Reads", Schema: json.RawMessage(readSchema)},
	}
}

// A wire is one way to speak to a provider: our adapter at a place, and what the
// SDK makes of the request that it sent there.
type wire struct {
	model func(base string) llm.Model
	// official makes the request that was decoded from ours with the SDK's client.
	official func(t *testing.T, ours asked, base string) reading
	headers  []string // that both must send
	same     equal    // what may differ, each with its reason
}

// ask lets both ask the same, and compares.
func (w *wire) ask(t *testing.T, r llm.Request, answer string) llm.Answer {
	t.Helper()
	mine, theirs := serve(t, answer), serve(t, answer)
	a, err := llm.Ask(t.Context(), w.model(mine.url), r)
	if err != nil {
		t.Fatal(err)
	}
	got := w.official(t, mine.got(), theirs.url)
	w.sameRequest(t, mine.got(), theirs.got())
	sameReading(t, ours(a), got)
	return a
}

// turn is a whole turn: a question, what the answer wanted and what came of it, one
// of it an error, and the question after that, with everything that goes back.
func (w *wire) turn(t *testing.T, r llm.Request, first, second string) {
	t.Helper()
	r.System, r.Tools = "Be short.", tools()
	// What another model said before goes along too, without what it thought.
	other := llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.Reasoning, Text: "hm", OpaqueBy: "another/model", Opaque: json.RawMessage(`{"secret":1}`)}, {Kind: llm.Text, Text: "Ho"}}}
	r.Messages = append(r.Messages, llm.Say(llm.User, "Hi"), other, llm.Say(llm.User, "What is in a & b <now>?"))
	a := w.ask(t, r, first)
	results := llm.Message{Role: llm.Results}
	for i, p := range a.Parts {
		if p.Kind == llm.ToolCall {
			results.Parts = append(results.Parts, llm.Part{Kind: llm.ToolResult, ID: p.ID, Name: p.Name, Text: fmt.Sprintf("result %d", i), IsError: len(results.Parts) == 1})
		}
	}
	if len(results.Parts) == 0 {
		t.Fatalf("the recorded answer wants nothing: %+v", a)
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: a.Parts}, results)
	a = w.ask(t, r, second)
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: a.Parts}, llm.Say(llm.User, "And now?"))
	w.ask(t, r, second)
}

// TestTheOracleSees proves that a field which nobody knows, one that is missing and
// one that is elsewhere do not go unseen.
func TestTheOracleSees(t *testing.T) {
	for name, c := range map[string]struct{ ours, theirs string }{
		"unknown": {`{"a":1,"b":[{"x":1}]}`, `{"a":1,"b":[{}]}`}, "missing": {`{"b":[]}`, `{"a":1,"b":[]}`}, "another": {`{"a":[1,2]}`, `{"a":[1,3]}`}, "shorter": {`{"a":[1]}`, `{"a":[1,3]}`},
	} {
		var a, b any
		if json.Unmarshal([]byte(c.ours), &a) != nil || json.Unmarshal([]byte(c.theirs), &b) != nil || len(differences("", a, b)) != 1 {
			t.Errorf("%s: %v", name, differences("", a, b))
		}
	}
}
