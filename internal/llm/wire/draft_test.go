package wire_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

func TestArgs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":1}`:               `{"a":1}`,
		"":                      `{}`,
		"null":                  `{}`,
		`""`:                    `{}`,
		`"{\"a\":1}"`:           `{"a":1}`,
		`"\"{\\\"a\\\":1}\""`:   `{"a":1}`,
		` {"a":1} `:             `{"a":1}`,
		`{"a":`:                 `"{\"a\":"`,
		`{"p":1}{"p":2}`:        `"{\"p\":1}{\"p\":2}"`,
		`[1]`:                   `"[1]"`,
		"{\"a\":\"\xff":         `"{\"a\":\"` + "\\ufffd" + `"`,
		`"not an object at all`: `"\"not an object at all"`,
	} {
		got := wire.Args(in)
		if string(got) != want || !json.Valid(got) {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		object := want
		if want[0] != '{' {
			object = "{}"
		}
		if got := wire.Object(got); string(got) != object {
			t.Errorf("%s: as an object %s", in, got)
		}
	}
}

func TestDraft(t *testing.T) {
	t.Parallel()
	play := func(upTo int) (got []string) {
		d := wire.NewDraft(func(e llm.Event, err error) bool {
			if upTo >= 0 && len(got) > upTo {
				t.Fatal("spoken to a reader who left")
			}
			text := fmt.Sprint(e.Type, " ", e.Text, e.Name, e.Stop)
			if e.Part != nil {
				text += string(e.Part.Kind) + " " + e.Part.Text + string(e.Part.Args)
			}
			got = append(got, text)
			return len(got) != upTo
		})
		d.Think("hm")
		d.Text("Hel")
		d.Text("lo")
		a := d.Begin(llm.ToolCall, "", "read")
		b := d.Begin(llm.ToolCall, "2", "write")
		d.Write(b, `{"b":`)
		d.Write(a, `{}`)
		d.Write(b, `2}`)
		d.Begin(llm.Text, "", "")
		if a.ID == "" || b.ID != "2" {
			t.Error(a.ID, b.ID)
		}
		d.Finish(llm.Stopped, llm.Usage{})
		return got
	}
	want := []string{
		"reasoning hm", "text Hel", "text lo", "tool_start read", "tool_start write", `tool_delta {"b":`, "tool_delta {}", "tool_delta 2}",
		"part reasoning hm", "part text Hello", "part tool_call {}", `part tool_call {"b":2}`, "finish tool_calls",
	}
	if got := play(-1); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	for n := 1; n <= len(want); n++ {
		if got := play(n); !reflect.DeepEqual(got, want[:n]) {
			t.Errorf("left after %d: %q", n, got)
		}
	}
}

// TestAnAnswerThatUsedUpItsLimitWasCut: llama-server calls it completed.
func TestAnAnswerThatUsedUpItsLimitWasCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit, out int
		told, want llm.Stop
	}{
		{0, 9, llm.Stopped, llm.Stopped},
		{10, 9, llm.Stopped, llm.Stopped},
		{9, 9, llm.Stopped, llm.TooLong},
		{9, 9, llm.WantsTool, llm.TooLong},
		{9, 9, llm.Filtered, llm.Filtered},
	} {
		var got llm.Stop
		d := wire.NewDraft(func(e llm.Event, _ error) bool { got = e.Stop; return true })
		d.Limit = c.limit
		d.Text("a")
		d.Finish(c.told, llm.Usage{Out: c.out})
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestToolbox(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70)
	var tools []llm.Tool
	for _, n := range []string{"z", "git.log/all", "git_log_all", "git log all", long + "1", long + "2", "größe"} {
		tools = append(tools, llm.Tool{Name: n, Schema: json.RawMessage(`{"type":"object","properties":{}}`)})
	}
	box := wire.NewToolbox(tools)
	allowed := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	seen := map[string]bool{}
	last := ""
	for _, s := range box.Tools {
		ours := box.Known(s.Name)
		if !allowed.MatchString(s.Name) || seen[s.Name] || box.Sent(ours) != s.Name || ours < last {
			t.Errorf("%q for %q", s.Name, ours)
		}
		seen[s.Name], last = true, ours
	}
	if len(seen) != len(tools) || box.Sent("git_log_all") != "git_log_all" || tools[0].Name != "z" {
		t.Error(seen)
	}
	if box.Sent("gone/since") != "gone_since" || box.Known("never_heard") != "never_heard" || box.Sent("") != "unknown" {
		t.Error("names that are not offered")
	}
}

func TestSchemasAreObjects(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		``:    `{"type":"object","properties":{}}`,
		`nix`: `{"type":"object","properties":{}}`,
		`{"type":"object","properties":{"a":{}},"$defs":{"b":{}},"additionalProperties":false}`: `{"type":"object","properties":{"a":{}},"$defs":{"b":{}},"additionalProperties":false}`,
		`{"properties":{"a":{}}}`: `{"properties":{"a":{}},"type":"object"}`,
		`{"type":"object"}`:       `{"properties":{},"type":"object"}`,
		`{"anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{}}}]}`: `{"properties":{"a":{"type":"string"},"b":{}},"type":"object"}`,
	} {
		got := wire.NewToolbox([]llm.Tool{{Name: "t", Schema: json.RawMessage(in)}}).Tools[0].Schema
		if string(got) != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}
