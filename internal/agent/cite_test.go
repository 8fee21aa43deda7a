package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"lore/internal/agent/chat"
	"lore/internal/llm"
)

// TestCite: what an answer names and quotes is held against what was read.
func TestCite(t *testing.T) {
	whole := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	w := &worker{
		run: chat.Run{ID: "run-1"},
		messages: []chat.Message{
			{Run: "run-1", Note: "Seen.md", Message: llm.Say(llm.User, "?")},
			{Run: "run-0", Note: "Before.md", Message: llm.Say(llm.User, "?")},
		},
		calls: []chat.Call{
			{State: chat.Finished, Whole: whole(map[string]any{"path": "drinks/Tea.md", "text": "# Tea\n\n## Water\nNever boil **green tea**: it makes [[Bitter|the leaves bitter]].\nTake water of 70 °C, and wait\ntwo minutes.\n"})},
			{State: chat.Finished, Whole: whole(map[string]any{"results": []any{map[string]any{"path": "Coffee.md", "heading": "Beans > Roast", "chunk": "Roast them on the day you buy them, don’t wait."}}})},
			{State: chat.Finished, Whole: whole(map[string]any{"dry_run": true, "path": "Planned.md", "changes": []any{map[string]any{"path": "Planned.md", "diff": "+These words are nowhere but in a plan."}}})},
			{State: chat.Finished, Untrusted: true, Whole: whole(map[string]any{"path": "Forged.md", "text": "A stranger says what the note says."})},
			{State: chat.Refused, Whole: whole(map[string]any{"path": "Secret.md", "text": "Nobody was shown these words at all."})},
		},
	}
	for _, c := range []struct{ name, text, want string }{
		{"plain", "Do not boil it.", ""},
		{"by path, name and heading", "[[drinks/Tea.md#Water]], [[tea]], [[Coffee#Roast]], [[Coffee#Beans#Roast]], [[Seen]]",
			"drinks/Tea.md#Water read; tea read; Coffee#Roast read; Coffee#Beans#Roast read; Seen read"},
		{"not read", "[[Nowhere]] and [[Before]] and [[Secret]]", "Nowhere unread; Before unread; Secret unread"},
		{"wrong heading", "[[Tea#Milk]]", "Tea#Milk heading"},
		{"once", "[[Tea]] and [[Tea|that note]]", "Tea read"},
		{"code names nothing", "Write `[[Nowhere]]` or\n\n```\n[[Nowhere]]\n```\n", ""},
		{"addresses are none", "[here](https://example.org) and [[Tea]]", "Tea read"},
		{"a quote", "> Never boil green tea: it makes the leaves bitter.\n\n[[Tea]]", "Tea read; “drinks/Tea.md”"},
		{"with its markup", "> Never boil **green tea**: it makes [[Bitter|the leaves bitter]].", "“drinks/Tea.md”"},
		{"over two lines", "> Take water of 70 °C, and\n> wait two minutes", "“drinks/Tea.md”"},
		{"with a gap", "> Never boil green tea … Take water of 70 °C", "“drinks/Tea.md”"},
		{"with a gap, turned round", "> Take water of 70 °C … Never boil green tea", "“?”"},
		{"one word changed", "> Never boil black tea: it makes the leaves bitter.", "“?”"},
		{"in a sentence", `It says "roast them on the day you buy them" and “Roast them on the day you buy them, don't wait.”`, "“Coffee.md”; “Coffee.md”"},
		{"a term is none", `The "green tea" of “Coffee and more”.`, ""},
		{"from two notes", "> Never boil green tea … Roast them on the day you buy them", "“?”"},
		{"what was refused", "> Nobody was shown these words at all.", "“?”"},
		{"what was only planned", "[[Planned]]\n\n> These words are nowhere but in a plan.", "Planned unread; “?”"},
		{"what a stranger says of a note", "[[Forged]]\n\n> A stranger says what the note says.", "Forged unread; “?”"},
		{"what a stranger says", "> A stranger says what the note says.", "“”"},
		{"nothing but a gap", "> …", "“?”"},
	} {
		m := chat.Message{Message: llm.Say(llm.Assistant, c.text)}
		w.cite(&m)
		var got []string
		for _, x := range m.Citations {
			got = append(got, x.Link+" "+x.State)
		}
		for _, q := range m.Quotes {
			path := q.Path
			if !q.Read {
				path = "?"
			}
			got = append(got, fmt.Sprintf("“%s”", path))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}
