package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lore/internal/llm"
	"lore/internal/llm/textcall"
)

// A spec is a tool as the collections write it.
type spec struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// offer are the tools that are told, and those that only the answers name.
func offer(told []spec, calls []call) []llm.Tool {
	var out []llm.Tool
	seen := map[string]bool{}
	for _, t := range told {
		out = append(out, llm.Tool{Name: t.Name, Schema: t.Parameters})
		seen[t.Name] = true
	}
	for _, c := range calls {
		if !seen[c.Name] && c.Name != "" {
			out = append(out, llm.Tool{Name: c.Name})
		}
	}
	return out
}

func vllm(folder string) ([]sample, error) {
	var file struct {
		Cases []struct {
			ID, Format, Raw, Kind string
			Tools                 []spec
			Calls                 []call `json:"expected_calls"`
			Content               string `json:"expected_content"`
		}
	}
	if err := read(folder, "vllm_tool_parsers.json", &file); err != nil {
		return nil, err
	}
	var out []sample
	for _, c := range file.Cases {
		s := sample{id: c.ID, group: c.Format, raw: c.Raw, tools: offer(c.Tools, c.Calls), want: c.Calls, unsure: c.Kind != "parse", content: c.Content}
		for _, w := range c.Calls { // the name is not told: any
			if w.Name == "" {
				s.tools = append(s.tools, namesIn(c.Raw)...)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

var name = regexp.MustCompile(`\w+`)

func namesIn(raw string) (out []llm.Tool) {
	for _, n := range name.FindAllString(raw, -1) {
		out = append(out, llm.Tool{Name: n})
	}
	return out
}

func llamaCPP(folder string) ([]sample, error) {
	var file struct {
		Cases []struct {
			ID, Template, Raw string
			Partial           bool
			Tools             []spec
			Calls             []call `json:"expected_calls"`
			Content           string `json:"expected_content"`
		}
	}
	if err := read(folder, "llamacpp_chat.json", &file); err != nil {
		return nil, err
	}
	var out []sample
	for _, c := range file.Cases {
		s := sample{id: c.ID, group: c.Template, raw: c.Raw, tools: offer(c.Tools, c.Calls), want: c.Calls, content: c.Content}
		if c.Partial { // half a call is none
			s.group, s.want = "cut off", nil
		}
		out = append(out, s)
	}
	return out, nil
}

func bfcl(folder string) ([]sample, error) {
	var file struct {
		Prompts map[string]struct{ Functions json.RawMessage }
		Cases   []struct {
			ID, Model, Category, Raw, Style, BFCL, Prompt string
			Decoded                                       []call
		}
	}
	if err := read(folder, "bfcl_raw_outputs.json", &file); err != nil {
		return nil, err
	}
	var out []sample
	for _, c := range file.Cases {
		var told []spec
		f := file.Prompts[c.Prompt].Functions
		if json.Unmarshal(f, &told) != nil {
			told = make([]spec, 1)
			if err := json.Unmarshal(f, &told[0]); err != nil {
				return nil, fmt.Errorf("%s: %w", c.ID, err)
			}
		}
		s := sample{id: c.ID, raw: c.Raw, want: c.Decoded}
		for _, t := range told {
			schema := pythonTypes.Replace(string(t.Parameters))
			for _, n := range []string{t.Name, strings.ReplaceAll(t.Name, ".", "_")} {
				s.tools = append(s.tools, llm.Tool{Name: n, Schema: json.RawMessage(schema)})
			}
		}
		s.want = slices.DeleteFunc(s.want, func(c call) bool { // a name that nobody offered is no call
			return !slices.ContainsFunc(s.tools, func(t llm.Tool) bool { return t.Name == c.Name })
		})
		switch {
		case c.BFCL == "decode_fail":
			s.group, s.unsure = "unread by BFCL: "+c.Style, true
		case c.Category == "relevance" && c.BFCL == "valid":
			s.group = "nothing to call: " + c.Style
		case c.Decoded == nil:
			s.group, s.unsure = "not decoded: "+c.Style, true
		default:
			s.group = c.Style
		}
		out = append(out, s)
	}
	return out, nil
}

// pythonTypes are the types of JSON for those of Python in BFCL's schemas.
var pythonTypes = strings.NewReplacer(`"dict"`, `"object"`, `"float"`, `"number"`, `"tuple"`, `"array"`, `"list"`, `"array"`, `"any"`, `["string","number","boolean","object","array","null"]`)

// repairs prints how much broken JSON is read as the collection reads it.
func repairs(folder, show string) error {
	var file struct {
		Cases []struct {
			ID, Raw    string
			Valid      bool            `json:"valid_json"`
			Repairable bool            `json:"repairable"`
			Expected   json.RawMessage `json:"expected"`
		}
	}
	if err := read(folder, "json_repair.json", &file); err != nil {
		return err
	}
	tools := []llm.Tool{{Name: "f"}}
	var right, other, refused, valid, read int
	for _, c := range file.Cases {
		if len(c.Expected) == 0 || c.Expected[0] != '{' {
			continue
		}
		got, _ := textcall.Parse(`<tool_call>{"name": "f", "arguments": `+c.Raw+`}</tool_call>`, tools)
		ok := len(got) == 1 && equal(got[0].Args, c.Expected)
		switch {
		case c.Valid:
			valid++
			if ok {
				read++
			}
		case ok:
			right++
		case len(got) == 1:
			other++
			if show == "repair" {
				fmt.Printf("%s %q\ngot  %s\nwant %s\n", c.ID, c.Raw, got[0].Args, c.Expected)
			}
		default:
			refused++
		}
	}
	fmt.Printf("\n**Broken JSON (json_repair), as arguments**: valid %d of %d; broken: %d as expected, %d otherwise, %d refused\n", read, valid, right, other, refused)
	return nil
}
