package textcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lore/internal/llm"
)

var tools = []llm.Tool{
	{Name: "find", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"},"deep":{"type":"boolean"},"tags":{"type":"array"},"where":{"type":"object"},"note":{"type":["string","null"]}}}`)},
	{Name: "write_note", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}}}`)},
	{Name: "now"},
}

const (
	findX = `find {"query":"x"}`
	both  = `find {"query":"x"}; now {}`
)

// cases are answers, the calls in them, and what is said beside them.
var cases = []struct{ name, text, calls, rest string }{
	{"hermes", "I look.\n<tool_call>\n{\"name\": \"find\", \"arguments\": {\"query\": \"x\"}}\n</tool_call>", findX, "I look.\n"},
	{"hermes two", `<tool_call>{"name":"find","arguments":{"query":"x"}}</tool_call>` + "\n" + `<tool_call>{"name":"now","arguments":{}}</tool_call>`, both, "\n"},
	{"hermes unclosed", `<tool_call>{"name":"find","arguments":{"query":"x"}}`, findX, ""},
	{"hermes list", `<tool_call>[{"name":"find","arguments":{"query":"x"}},{"name":"now"}]</tool_call>`, both, ""},
	{"closing tag in a text", `<tool_call>{"name":"find","arguments":{"query":"</tool_call>"}}</tool_call>`, `find {"query":"</tool_call>"}`, ""},
	{"qwen coder", "<tool_call>\n<function=find>\n<parameter=query>\nx\n</parameter>\n<parameter=limit>\n5\n</parameter>\n</function>\n</tool_call>", `find {"query":"x","limit":5}`, ""},
	{"qwen coder, no wrapper", "<function=find>\n<parameter=query>\nx\n</parameter>\n</function>\n</tool_call>", findX, "\n"},
	{"types", "<function=find><parameter=query>5</parameter><parameter=deep>True</parameter><parameter=tags>[\"a\"]</parameter><parameter=where>{\"a\": 1}</parameter><parameter=note>null</parameter></function>", `find {"query":"5","deep":true,"tags":["a"],"where":{"a":1},"note":null}`, ""},
	{"forgotten closing tag", "<function=find>\n<parameter=query>\nx\n<parameter=limit>\n5\n</parameter>\n</function>", `find {"query":"x","limit":5} (a missing closing tag)`, ""},
	{"glm", "<tool_call>find\n<arg_key>query</arg_key>\n<arg_value>x</arg_value>\n</tool_call>", findX, ""},
	{"glm without arguments", "<tool_call>now</tool_call>", `now {}`, ""},
	{"minimax", "<minimax:tool_call>\n<invoke name=\"find\">\n<parameter name=\"query\">x</parameter>\n</invoke>\n<invoke name=\"now\">\n</invoke>\n</minimax:tool_call>", both, ""},
	{"minimax m3", "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"find\">]<]minimax[>[<where>]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[</where>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>", `find {"where":{"a":1}}`, ""},
	{"anthropic", "<function_calls><invoke name=\"find\"><parameter name=\"query\">x</parameter></invoke></function_calls>", findX, ""},
	{"copilot", "<use_tool>\n<name>find</name>\n<query>x</query>\n<limit>3</limit>\n</use_tool>", `find {"query":"x","limit":3}`, ""},
	{"copilot and words", "<use_tool><name>now</name></use_tool> Done.", `now {}`, " Done."},
	{"words behind", "<tool_call>now</tool_call> Done.", `now {}`, " Done."},
	{"lm studio", `[TOOL_REQUEST]{"name":"find","arguments":{"query":"x"}}[END_TOOL_REQUEST]`, findX, ""},
	{"mistral", `[TOOL_CALLS][{"name":"find","arguments":{"query":"x"}},{"name":"now","arguments":{}}]`, both, ""},
	{"mistral args", `[TOOL_CALLS]find[ARGS]{"query":"x"}[TOOL_CALLS]now[CALL_ID]1[ARGS]{}`, both, ""},
	{"llama", `{"name":"find","parameters":{"query":"x"}}; {"name":"now","parameters":{}}`, both, ""},
	{"llama python tag", `<|python_tag|>{"name":"find","parameters":{"query":"x"}}<|eom_id|>`, findX, ""},
	{"pythonic", `[find(query='x'), now()]`, both, ""},
	{"pythonic, escaped", `[write\_note(path='a')]`, `write_note {"path":"a"}`, ""},
	{"pythonic values", `[find(query="it's", limit=3, deep=True, where={'a': None}, tags=('a', 'b'))]`, `find {"query":"it's","limit":3,"deep":true,"where":{"a":null},"tags":["a","b"]}`, ""},
	{"pythonic, other types", `[find(query=5, limit="3", deep="true")]`, `find {"query":"5","limit":3,"deep":true}`, ""},
	{"pythonic, round brackets", `[find(limit=(3), tags=('a',), where=())]`, `find {"limit":3,"tags":["a"],"where":[]}`, ""},
	{"lfm", `Yes.<|tool_call_start|>[find(query="x")]<|tool_call_end|>`, findX, "Yes."},
	{"granite", `<|tool_call|> [{"name":"find","arguments":{"query":"x"}}]`, findX, ""},
	{"granite 20b", `<function_call> {"name":"find","arguments":{"query":"x"}} <function_call> {"name":"now","arguments":{}}`, both, ""},
	{"internlm", `<|action_start|><|plugin|>{"name":"find","parameters":{"query":"x"}}<|action_end|>`, findX, ""},
	{"jamba", `<tool_calls>[{"name":"find","arguments":{"query":"x"}}]</tool_calls>`, findX, ""},
	{"xlam", `[{"name":"find","arguments":{"query":"x"}}]`, findX, ""},
	{"fence at the end", "I look.\n```json\n[{\"name\":\"find\",\"arguments\":{\"query\":\"x\"}}]\n```", findX, "I look.\n"},
	{"deepseek v3", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n```json\n{\"query\": \"x\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", findX, ""},
	{"deepseek v3.1", `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{"query":"x"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, findX, ""},
	{"deepseek dsml", "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"find\">\n<｜DSML｜parameter name=\"query\" string=\"true\">x</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>", findX, ""},
	{"kimi k2", `<|tool_calls_section_begin|><|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>{"query":"x"}<|tool_call_end|><|tool_calls_section_end|>`, findX, ""},
	{"kimi k3", `<|open|>tools<|sep|><|open|>call tool="find" index="1"<|sep|><|open|>argument key="query" type="string"<|sep|>x<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>`, findX, ""},
	{"harmony", `<|channel|>analysis<|message|>I call now<|end|><|start|>assistant<|channel|>commentary to=functions.find <|constrain|>json<|message|>{"query":"x"}<|call|>`, findX, `<|channel|>analysis<|message|>I call now<|end|>`},
	{"gemma", `<|tool_call>call:find{query:<|"|>x<|"|>}<tool_call|>`, findX, ""},
	{"functionary 3.1", `<function=find>{"query":"x"}</function>`, findX, ""},
	{"functionary 3.2", "find\n{\"query\":\"x\"}", findX, ""},
	{"firefunction", ` functools[{"name":"find","arguments":{"query":"x"}}]`, findX, " "},
	{"command r", `<|START_ACTION|>[{"tool_call_id":"0","tool_name":"find","parameters":{"query":"x"}}]<|END_ACTION|>`, findX, ""},
	{"seed", "<seed:tool_call>\n<function=find>\n<parameter=query>x</parameter>\n</function>\n</seed:tool_call>", findX, ""},
	{"nemotron", `<TOOLCALL>[{"name":"find","arguments":{"query":"x"}}]</TOOLCALL>`, findX, ""},
	{"apertus", `<|tools_prefix|>[{"find":{"query":"x"}}]<|tools_suffix|>`, findX, ""},
	{"gigachat", `<|function_call|>{"name":"find","arguments":{"query":"x"}}`, findX, ""},
	{"minicpm", `<function name="find"><param name="query"><![CDATA[</param>]]></param></function>`, `find {"query":"</param>"}`, ""},

	{"openai list", `{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "find", "arguments": "{\"query\": \"x\"}"}}, {"function": {"name": "now", "arguments": "{}"}}]}`, `find {"query":"x"} (arguments as a text); now {} (arguments as a text)`, ""},
	{"openai list in a fence", "I look.\n```json\n{\"tool_calls\": [{\"name\": \"find\", \"arguments\": {\"query\": \"x\"}}]}\n```", findX, "I look.\n"},
	{"openai function_call", `{"function_call": {"name": "find", "arguments": {"query": "x"}}}`, findX, ""},
	{"parallel", `{"tool_uses": [{"recipient_name": "functions.find", "parameters": {"query": "x"}}, {"recipient_name": "functions.now", "parameters": {}}]}`, both, ""},
	{"flat", `{"name": "find", "query": "x"}`, findX, ""},
	{"flat list", `[{'name': 'find', 'query': 'x'}]`, findX + " (single quotes)", ""},
	{"statement", `find(query='x');`, findX, ""},
	{"statements", "find(query='x'); now();", both, ""},
	{"list with a full stop", `[find(query='x')].`, findX, ""},
	{"list, then what it is for", "[find(query='x'), now()]\n\nThese look for x.", both, "\n\nThese look for x."},
	{"list in a fence, then what it is for", "```python\n[find(query='x')]\n```\n\nThis looks for x.", findX, "\n\nThis looks for x."},
	{"llama 4", `<|python_start|>[find(query="x"), now()]<|python_end|>`, both, ""},
	{"olmo 3", "<function_calls>\nfind(query=\"x\")\nnow()\n</function_calls>", both, ""},
	{"minimax m1", "<tool_calls>\n{\"name\": \"find\", \"arguments\": {\"query\": \"x\"}}\n{\"name\": \"now\", \"arguments\": {}}\n</tool_calls>", both, ""},
	{"longcat", `<longcat_tool_call>{"name": "find", "arguments": {"query": "x"}}</longcat_tool_call>`, findX, ""},
	{"a namespace", "<ns:function_calls>\n<ns:invoke name=\"find\">\n<ns:parameter name=\"query\">x</ns:parameter>\n</ns:invoke>\n</ns:function_calls>", findX, ""},
	{"step 3", "<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"find\"><steptml:parameter name=\"query\">x</steptml:parameter></steptml:invoke><｜tool_call_end｜>\n<｜tool_calls_end｜>", findX, ""},
	{"hunyuan", "<tool_calls>\n<tool_call>find<tool_sep>\n```json\n{\"query\": \"x\"}\n```\n</tool_call>\n</tool_calls>", findX, ""},
	{"hunyuan, keys", "<tool_calls><tool_call>find<tool_sep>\n<arg_key>query</arg_key>\n<arg_value>x</arg_value>\n</tool_call></tool_calls>", findX, ""},
	{"phi 4 mini", `I look. functools[{"name": "find", "arguments": {"query": "x"}}]`, findX, "I look. "},
	{"react", "Thought: I look.\nAction: find\nAction Input: {\"query\": \"x\"}", findX, "Thought: I look.\n"},
	{"react with a made-up result", "Thought: I look.\nAction: find\nAction Input: {\"query\": \"x\"}\nObservation: three notes\nThought: so\nAction: now\nAction Input: {}", findX, "Thought: I look.\n\n"},
	{"structured chat", "Action:\n```json\n{\"action\": \"find\", \"action_input\": {\"query\": \"x\"}}\n```", findX, ""},
	{"command r 1", "Action: ```json\n[{\"tool_name\": \"find\", \"parameters\": {\"query\": \"x\"}}]\n```", findX, ""},
	{"qwen agent", "✿FUNCTION✿: find\n✿ARGS✿: {\"query\": \"x\"}\n✿RESULT✿: three notes", findX, "\n"},
	{"tools tag", "<tools>\n{\"name\": \"find\", \"arguments\": {\"query\": \"x\"}}\n</tools>", findX, ""},
	{"tool use", "<tool_use>\n<name>find</name>\n<arguments>{\"query\": \"x\"}</arguments>\n</tool_use>", findX, ""},
	{"tool use, JSON", `<tool_use>{"name": "find", "input": {"query": "x"}}</tool_use>`, findX, ""},
	{"name in the tag", `<tool_call name="find">{"query": "x"}</tool_call>`, findX, ""},
	{"gemini", "```tool_code\nprint(default_api.find(query=\"x\"))\n```", findX, ""},
	{"unknown beside known", `<tool_call>[{"name":"find","arguments":{"query":"x"}},{"name":"rm","arguments":{}}]</tool_call>`, findX + " (a call was left out)", ""},
	{"unknown beside known, pythonic", `[rm(path="/)"), find(query='x')]`, findX + " (a call was left out)", ""},
	{"a value that is not there yet", `[find(query='x'), write_note(path='a', text=find(query='x')["text"])]`, findX + " (a call was left out)", ""},
	{"echo", "<tool_call>{\"name\":\"now\"}</tool_call>\n<tool_call>{\"name\":\"now\"}</tool_call>\n<tool_call>{\"name\":\"now\"}</tool_call>", `now {}`, "\n\n"},
	{"twice on purpose", `[now(), now()]`, `now {}; now {}`, ""},
	{"apostrophe", `[find(query='it's x')]`, `find {"query":"it's x"}`, ""},
	{"for ever", "[find(query='x')]\n\n### Instruction:\nAgain.\n\n### Response:\n[now()]", findX, "\n\n"},
	{"an example note is looked for", "I read an example note. <tool_call>{\"name\":\"now\"}</tool_call>", `now {}`, "I read an example note. "},

	{"mended: text in text", `<tool_call>{"name":"find","arguments":"{\"query\":\"x\"}"}</tool_call>`, findX + " (arguments as a text)", ""},
	{"mended: trailing comma", `<tool_call>{"name":"find","arguments":{"query":"x",},}</tool_call>`, findX + " (a trailing comma)", ""},
	{"mended: single quotes", `<tool_call>{'name':'find','arguments':{'query':'x'}}</tool_call>`, findX + " (single quotes)", ""},
	{"mended: Python", `<tool_call>{"name":"find","arguments":{"deep":True,"note":None}}</tool_call>`, `find {"deep":true,"note":null} (words of Python)`, ""},
	{"mended: keys", `<tool_call>{name:"find",arguments:{query:"x"}}</tool_call>`, findX + " (keys without quotes)", ""},
	{"mended: fence", "<tool_call>```json\n{\"name\":\"find\",\"arguments\":{\"query\":\"x\"}}\n```</tool_call>", findX + " (a code fence)", ""},
	{"mended: line break", "<tool_call>{\"name\":\"find\",\"arguments\":{\"query\":\"x\ny\"}}</tool_call>", `find {"query":"x\ny"} (line breaks in a text)`, ""},

	{"long closing fence", "```go\nx\n````\n<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>", `now {}`, "```go\nx\n````\n"},

	{"thought before", "<think>I call find</think>{\"name\":\"find\",\"arguments\":{\"query\":\"x\"}}", findX, "<think>I call find</think>"},
	{"thought begun in the prompt", "so I look\n</think>\n<tool_call>{\"name\":\"find\",\"arguments\":{\"query\":\"x\"}}</tool_call>", findX, "so I look\n</think>\n"},
}

// notCalls are answers in which nothing is called, and nothing is lost.
var notCalls = []struct{ name, text string }{
	{"nothing", ""},
	{"prose", "You can use find to look for [x](y), or `find` {like this}: a < b > c."},
	{"prose with a tag", "Write <tool_call> and then the name of the tool, find, and </tool_call>."},
	{"prose in a line", `Here it is: {"name":"find","arguments":{"query":"x"}} as you see.`},
	{"prose after JSON", "{\"name\":\"find\",\"arguments\":{\"query\":\"x\"}}\nis how one calls it."},
	{"data", `{"name":"find","age":3}`},
	{"data with a known name alone", `{"name":"find"}`},
	{"unknown", `<tool_call>{"name":"rm","arguments":{"path":"/"}}</tool_call>`},
	{"unknown among data", `[{"name":"find","arguments":{}},{"name":"rm","age":3}]`},
	{"flat with a key of no argument", `{"name":"find","query":"x","age":3}`},
	{"twin keys", `{"name":"write_note","path":"a","path":"b"}`},
	{"twin arguments", `<tool_call>{"name":"write_note","arguments":{"path":"a"},"arguments":{"path":"b"}}</tool_call>`},
	{"description in a tag", `<tools>[{"name":"now","description":"the time"}]</tools>`},
	{"spoken of", "The call would look like this: <tool_call>{\"name\":\"now\"}</tool_call>"},
	{"spoken of in a fence", "For example, you could write\n```json\n{\"name\":\"now\",\"arguments\":{}}\n```"},
	{"typographic quotation marks", "The note says “<tool_call>{\"name\":\"now\"}</tool_call>”."},
	{"react in prose", "Action: find something to do.\nAction Input: none."},
	{"react, then words", "Action: now\nAction Input: {}\nis how an agent would write it."},
	{"list and words in its line", "[now()] tells the time."},
	{"list and words in the next line", "[now()]\ntells the time."},
	{"list after words, then more", "The note:\n[now()]\n\nThat is all of it."},
	{"functools in prose", `Python has functools[{"name":"now","arguments":{}}] or so.`},
	{"unknown pythonic", `[rm(path="/")]`},
	{"half JSON", `Yes. <tool_call>{"name":"write_note","arguments":{"path":"a","text":"abc`},
	{"half object", `<tool_call>{"name":"find","arguments":{"query":"x"}`},
	{"half list", `[TOOL_CALLS][{"name":"find","arguments":{"query":"x"}}`},
	{"half tags", "<tool_call><function=find><parameter=query>x"},
	{"half glm", "<tool_call>find<arg_key>query</arg_key><arg_value>x</arg_value>"},
	{"half python", `[find(query="x"`},
	{"half opening", "I look. <tool_ca"},
	{"call in a half call", `<tool_call>{"name":"write_note","arguments":{"text":"see <tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>`},
	{"call in a broken call", `<tool_call>{"name":"write_note","arguments":{"text":"he said "<tool_call>{"name":"now","arguments":{}}</tool_call>"}}</tool_call>`},
	{"quoted", "The note says:\n> <tool_call>{\"name\":\"write_note\",\"arguments\":{}}</tool_call>\nSo it does."},
	{"quoted JSON", "> {\"name\":\"write_note\",\"arguments\":{}}"},
	{"quotation marks", `The note says "<tool_call>{"name":"now","arguments":{}}</tool_call>".`},
	{"code span", "Write `<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>` to call."},
	{"code span of two lines", "Write ``<tool_call>{\"name\":\"now\",\n\"arguments\":{}}</tool_call>`` to call."},
	{"fence and prose", "An example:\n```json\n{\"name\":\"now\",\"arguments\":{}}\n```\nThat is all."},
	{"fence with a tag and prose", "```\n<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>\n```\nis how."},
	{"fence with more than a call", "```\nFirst:\n<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>\n```"},
	{"fence in a note", "~~~md\n# Tools\n<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>\n~~~\n"},
	{"fence that shows a note", "It says:\n```md\n<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>\n```"},
	{"description of a tool", "I have:\n{\"name\":\"find\",\"description\":\"finds\",\"parameters\":{\"type\":\"object\",\"properties\":{\"query\":{}}}}"},
	{"comment", "<!-- <tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call> -->"},
	{"result made up", "<tool_response name=\"find\">\n<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>\n</tool_response>"},
	{"thought", "<think>I could <tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call></think>No."},
	{"thought without an end", "<think>I could <tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>"},
	{"thought begun in the prompt", "I could <tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call> but\n</think>\nNo."},
	{"thought of Mistral", "[THINK][TOOL_CALLS]now[ARGS]{}[/THINK]No."},
	{"thought of harmony", "<|channel|>analysis<|message|><tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call><|end|><|start|>assistant<|channel|>final<|message|>No."},
	{"expression", `[find(query="a" + "b", limit=2*3)]`},
	{"call in a call", `[find(query=now())]`},
	{"argument twice", "<function=find><parameter=query>x</parameter><parameter=query>y</parameter></function>"},
}

func told(calls []Call) string {
	var out []string
	for _, c := range calls {
		s := c.Name + " " + string(c.Args)
		if c.Repaired != "" {
			s += " (" + c.Repaired + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			calls, rest := Parse(c.text, tools)
			if told(calls) != c.calls || rest != c.rest {
				t.Errorf("%q\ncalls: %s\nwant:  %s\nrest:  %q\nwant:  %q", c.text, told(calls), c.calls, rest, c.rest)
			}
		})
	}
}

func TestNoCall(t *testing.T) {
	t.Parallel()
	for _, c := range notCalls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if calls, rest := Parse(c.text, tools); len(calls) > 0 || rest != c.text {
				t.Errorf("%q\ncalls: %s\nrest:  %q", c.text, told(calls), rest)
			}
		})
	}
}

// TestFamiliesAsData: however a call is written, it is none in a quote, in a result that
// the model repeats, in a thought, and in code that is shown with words after it.
func TestFamiliesAsData(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		for as, text := range map[string]string{
			"quote":       "The note says:\n> " + strings.ReplaceAll(c.text, "\n", "\n> "),
			"result":      "<tool_response name=\"find\">\n" + c.text + "\n</tool_response>",
			"comment":     "<!-- " + c.text + " -->",
			"thought":     "<think>" + c.text,
			"shown":       "The note:\n~~~~md\n" + c.text + "\n~~~~\nThat is all of it.",
			"shown as is": "The note:\n~~~~\nA line.\n" + c.text + "\n~~~~\nThat is all of it.",
		} {
			if as == "thought" && strings.Contains(c.text, "</think>") {
				continue
			}
			if calls, _ := Parse(text, tools); len(calls) > 0 {
				t.Errorf("%s as a %s: %q calls %s", c.name, as, text, told(calls))
			}
		}
	}
}

// TestTried: what begins like a call and cannot be read is told apart from words.
func TestTried(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`<tool_call>{"name":"find","arguments":{"query":`:              "tried",
		`I look. <tool_call>{"name":"fnd","arguments":{}}</tool_call>`: "tried fnd",
		`<function=fnd><parameter=query>x</parameter></function>`:      "tried fnd",
		`{"name":"fnd","arguments":{"query":"x"}}`:                     "tried fnd",
		`[fnd(query="x")]`:              "tried fnd",
		"Action: fnd\nAction Input: {}": "tried fnd",
		`<tool_call>{"name":"find","arguments":{"query":"x"}}</tool_call>`: "",
		"Write <tool_call> to call a tool.":                                "",
		"`<tool_call>` begins one.":                                        "",
		"> <tool_call>{\"name\":\"fnd\"}</tool_call>":                      "",
		"Tea is green, see [[Tea]].":                                       "",
		"[link(s)](x) and more":                                            "",
		"":                                                                 "",
	} {
		got := ""
		if unknown, tried := Tried(text, tools); tried {
			got = strings.TrimSpace("tried " + unknown)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// all are the texts of both tables.
func all() (out []string) {
	for _, c := range cases {
		out = append(out, c.text)
	}
	for _, c := range notCalls {
		out = append(out, c.text)
	}
	return out
}

// check reads an answer that comes in these pieces, and reports what differs
// from reading it at once.
func check(pieces ...string) error {
	text := strings.Join(pieces, "")
	calls, rest := Parse(text, tools)
	for _, well := range []bool{true, false} {
		m := NewMachine(tools)
		var out strings.Builder
		for _, p := range pieces {
			out.WriteString(m.Feed(p))
		}
		if !strings.HasPrefix(text, out.String()) {
			return fmt.Errorf("%q told %q too early", pieces, out.String())
		}
		after, got := m.Finish(well)
		out.WriteString(after)
		switch {
		case !well && (out.String() != text || got != nil):
			return fmt.Errorf("%q ended badly: %q, calls %s", pieces, out.String(), told(got))
		case well && (out.String() != rest || told(got) != told(calls)):
			return fmt.Errorf("%q\nin pieces: %q, %s\nat once:   %q, %s", pieces, out.String(), told(got), rest, told(calls))
		}
	}
	return nil
}

func TestCuts(t *testing.T) {
	t.Parallel()
	for _, text := range all() {
		for i := range text {
			if err := check(text[:i], text[i:]); err != nil {
				t.Error(err)
			}
			if _, rest := Parse(text[:i], tools); !isSubsequence(rest, text[:i]) {
				t.Errorf("%q: %q is not in it", text[:i], rest)
			}
		}
		if err := check(strings.Split(text, "")...); err != nil {
			t.Error(err)
		}
	}
}

// TestHalf: no call is read before its arguments are complete.
func TestHalf(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		want := strings.Split(c.calls, "; ")
		for i := range c.text {
			calls, _ := Parse(c.text[:i], tools)
			for k, got := range calls {
				if k >= len(want) || told([]Call{got}) != want[k] {
					t.Errorf("%s: %q became %s", c.name, c.text[:i], told(calls))
				}
			}
		}
	}
}

func isSubsequence(a, b string) bool {
	for _, r := range b {
		if strings.HasPrefix(a, string(r)) {
			a = a[len(string(r)):]
		}
	}
	return a == ""
}

func FuzzParse(f *testing.F) {
	for _, text := range all() {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = min(max(n, 1), 50)
		var pieces []string
		for i := 0; i < len(text); i += n {
			pieces = append(pieces, text[i:min(i+n, len(text))])
		}
		if err := check(pieces...); err != nil {
			t.Error(err)
		}
		calls, _ := Parse(text, tools)
		for _, c := range calls {
			var o map[string]any
			if json.Unmarshal(c.Args, &o) != nil {
				t.Errorf("%q: arguments %s", text, c.Args)
			}
			if _, ok := offered(tools)[c.Name]; !ok {
				t.Errorf("%q: %s was not offered", text, c.Name)
			}
		}
	})
}

// fragments are what answers with calls are made of.
var fragments = []string{
	"find", "now", "rm", `"name"`, `"arguments"`, `:`, `,`, `{`, `}`, `[`, `]`, `(`, `)`, `=`, `"`, `'`, "\\", "\n", " ", "x", "1", "True", "null", ">", "> ", "`", "```", "```json\n", "~~~",
	`{"name":"find","arguments":{"query":"x"}}`, `{"name":"now","arguments":{}}`, `find(query="x")`, `[now()]`, "<parameter=query>", "</parameter>", "</function>",
	"<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<|message|>", "to=functions.now", "<name>", "</name>", "</use_tool>", "[ARGS]", "<|plugin|>", "<![CDATA[", "]]>",
	"<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<|tool_call_argument_begin|>", "<invoke name=\"now\">", "</invoke>", "functools", ">>>", ";", "[BEGIN", "prose", "\n\n",
	"functools[", "Action:", "Action Input:", "Observation:", "✿FUNCTION✿:", "✿ARGS✿:", "<ns:invoke name=", "<xy_tool_call>", "</xy_tool_call>", "<tool_sep>", "print(", "for example", ".", "“", "### Response",
	`{"tool_calls":[`, `{"function_call":`, "<arguments>", "</arguments>", "<｜tool_sep｜>", "[find(query='x'), rm(a=1)]",
}

// FuzzFragments puts answers together that are nearly calls.
func FuzzFragments(f *testing.F) {
	words := slices.Concat(fragments, tokens, thinkWords, headers)
	for _, form := range forms {
		words = append(append(words, form.open), form.closers...)
	}
	f.Add([]byte{1, 2, 3}, 5)
	f.Fuzz(func(t *testing.T, picks []byte, n int) {
		var text strings.Builder
		for _, p := range picks {
			text.WriteString(words[int(p)%len(words)])
		}
		n = min(max(n, 1), 50)
		var pieces []string
		for s := text.String(); s != ""; {
			pieces = append(pieces, s[:min(n, len(s))])
			s = s[min(n, len(s)):]
		}
		if err := check(pieces...); err != nil {
			t.Error(err)
		}
	})
}

// TestLinear: twice the text is not four times the work. It counts the bytes
// that are looked at, not the time.
func TestLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"<tool_call>{", "<tool_call>", "\n[", "\n{", "\n{\"a\":", "`", "<think>", "</think>", "[TOOL_CALLS]now[ARGS]{}", "\n```json\n{\"a\":1}\n```", "\n[\"",
		"<function=find><parameter=query>", "<tool_call>find<arg_key>", "<|channel|>", "\n[find(query='", "<｜tool▁call▁begin｜>", "a", "<", "\n```\n{", "{\"name\":\"now\",\"arguments\":{}};",
	} {
		if a, b := looks(strings.Repeat(unit, 2000)), looks(strings.Repeat(unit, 4000)); b > 3*a {
			t.Errorf("%q: %d bytes, and %d for twice as much", unit, a, b)
		}
	}
}

// looks is how many bytes the machine is handed to look at, in small pieces.
func looks(text string) int {
	m := NewMachine(tools)
	n := 0
	for i := 0; i < len(text); i += 7 {
		if p := text[i:min(i+7, len(text))]; len(m.unread)+len(p) >= m.enough {
			n += len(m.unread) + len(p)
			m.Feed(p)
		} else {
			m.Feed(p)
		}
	}
	return n + len(m.unread)
}

func BenchmarkParse(b *testing.B) {
	prose := strings.Repeat("A line of an answer that says something, with a [link](x), `code` and a < b.\n", 200)
	call := `<tool_call>{"name":"write_note","arguments":{"path":"a","text":"` + strings.Repeat(`a line of a note\n`, 900) + `"}}</tool_call>`
	for name, text := range map[string]string{"prose": prose, "call": call} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m := NewMachine(tools)
				for i := 0; i < len(text); i += 8 {
					m.Feed(text[i:min(i+8, len(text))])
				}
				m.Finish(true)
			}
		})
	}
}
