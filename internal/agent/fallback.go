package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lore/internal/agent/chat"
	"lore/internal/agent/citation"
	"lore/internal/agent/passage"
	"lore/internal/agent/prompt"
	"lore/internal/llm"
	"lore/internal/llm/textcall"
	"lore/internal/tool"
)

// A model that gives no answer is asked once more, with the passages that were found
// in front of it. When it gives none again, or may not speak any more, the passages
// are the answer: what was found is not thrown away.

// speak is a message in the model's place. Who watches reads it.
func (w *worker) speak(text string) chat.Message {
	w.tell(Event{Type: Text, Text: text})
	msg := chat.Message{Run: w.run.ID, Time: w.Now(), Message: llm.Say(llm.Assistant, text), Model: w.run.Model, Stop: llm.Stopped}
	w.cite(&msg)
	return msg
}

// quoteInstead makes passages the answer. It is the last, unless a limit made it that.
func (w *worker) quoteInstead(ctx context.Context, msg *chat.Message, why string) {
	if !w.run.Last {
		w.run.Last, w.run.Reason = true, why
	}
	text := w.fallBack(ctx)
	w.tell(Event{Type: Text, Text: text})
	msg.Parts = append(msg.Parts, llm.Part{Kind: llm.Text, Text: text})
	msg.Stop = llm.Stopped
}

// misread is what a model is told whose answer looks like a call that cannot be read.
// After the second time, passages are the answer.
func (w *worker) misread(ctx context.Context, msg *chat.Message) []chat.Message {
	a := llm.Answer{Parts: msg.Parts}
	unknown, tried := textcall.Tried(a.Text(), w.offered)
	if !tried || w.run.Last || len(w.tools) == 0 || w.info.Mute {
		return nil
	}
	w.tell(Event{Type: Restarted})
	if w.run.Nudges >= mostNudges {
		msg.Parts = nil
		w.quoteInstead(ctx, msg, "the model's tool calls could not be read")
		return nil
	}
	w.run.Nudges++
	why := ""
	if _, err := w.Door.Find(unknown); unknown != "" && err != nil {
		why = " " + tool.NewFailure(err).Error + "."
	}
	return []chat.Message{w.notify(fmt.Sprintf(prompt.Unreadable, why))}
}

// notify is a message to the model in the person's place.
func (w *worker) notify(text string) chat.Message {
	return chat.Message{Run: w.run.ID, Time: w.Now(), Message: llm.Say(llm.User, text), Marker: notice}
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
