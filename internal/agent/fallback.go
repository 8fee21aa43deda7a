package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"lore/internal/agent/chat"
	"lore/internal/agent/citation"
	"lore/internal/agent/passage"
	"lore/internal/llm"
	"lore/internal/tool"
)

// A model that gives no answer is asked once more, with the passages that were found
// in front of it. When it gives none again, or may not speak any more, the passages
// are the answer: what was found is not thrown away.

// noAnswer is what a model is told that gave no answer.
const noAnswer = "You gave no answer. Answer the question now, in words, with what was found. Do not call a tool unless something is missing."

// speak is a message in the model's place. Who watches reads it.
func (w *worker) speak(text string) chat.Message {
	w.tell(Event{Type: Text, Text: text})
	msg := chat.Message{Run: w.run.ID, Time: w.Now(), Message: llm.Say(llm.Assistant, text), Model: w.run.Model, Stop: llm.Stopped}
	w.cite(&msg)
	return msg
}

// summaryOf is what a call that ends a run said.
func summaryOf(c chat.Call) string {
	var out struct{ Summary string }
	_ = json.Unmarshal(c.Whole, &out) // then what people are shown of it
	return cmp.Or(strings.TrimSpace(out.Summary), c.Summary)
}

// fallBack is an answer without the model.
func (w *worker) fallBack(ctx context.Context) string {
	found := w.passages()
	if len(found) == 0 {
		w.lookUpQuestion(ctx)
		found = w.passages()
	}
	return passage.Quoted(found)
}

// recalled are passages for a model that gave no answer: of what it read, and when it
// read nothing, of what a search finds. A model that may not get every note has
// them in its results alone.
func (w *worker) recalled(ctx context.Context) string {
	if w.limited {
		return ""
	}
	found := w.passages()
	if len(found) == 0 {
		w.lookUpQuestion(ctx)
		found = w.passages()
	}
	return passage.Recalled(found)
}

// lookUpQuestion searches for what the person asked, as the model could have done.
func (w *worker) lookUpQuestion(ctx context.Context) {
	t := w.plays(tool.SearchesNotes)
	asked := w.question()
	if t == nil || asked == "" || w.quoted != nil {
		return
	}
	w.quoted = []citation.Source{}
	who := w.caller(&chat.Call{})
	who.Unasked = true
	res, err := w.Door.Call(ctx, who, t.Name, json.RawMessage(encode(map[string]any{"query": asked, "top_k": 5})))
	if err != nil || res.Untrusted { // the run does not become wary by something that the model did not do
		return
	}
	var v any
	if json.Unmarshal([]byte(encode(res)), &v) == nil {
		w.quoted = citation.Gather(v, "", w.quoted)
	}
}

// question is what the person asked last, in words.
func (w *worker) question() string {
	for _, m := range slices.Backward(w.messages) {
		if m.Role == llm.User && m.Marker == "" {
			a := llm.Answer{Parts: m.Parts}
			return strings.TrimSpace(a.Text())
		}
	}
	return ""
}

// passages are those of what was read in this run that fit the question best.
func (w *worker) passages() []citation.Source {
	return passage.Best(w.question(), w.sources())
}
