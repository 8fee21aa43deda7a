package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lore/internal/agent/chat"
	"lore/internal/agent/focus"
	"lore/internal/agent/prompt"
	"lore/internal/agent/turns"
	"lore/internal/llm"
	"lore/internal/llm/retry"
	"lore/internal/note/invisible"
	"lore/internal/note/summarize"
	"lore/internal/tool"
	"lore/internal/vault/visibility"
)

// What of a context window is used.
const (
	window      = 32_000 // of a model that does not tell
	perToken    = 4      // characters, before anything was measured
	fill        = 0.8    // of the window, before older parts are told in short
	recentPart  = 0.25   // of the window, that stays as it was said
	recentMost  = 15_000 // tokens
	requestPart = 0.3    // of the window, for what the person asked before that
	answerRoom  = 4_000  // tokens that an answer may need
)

// budget is how many tokens a request may have.
func (w *worker) budget() int {
	size := w.info.Context
	if size <= 0 {
		size = window
	}
	return size - min(answerRoom, size/4) - size/10
}

// request is everything that the model gets to see.
func (w *worker) request(ctx context.Context) (llm.Request, error) {
	if err := w.checkShared(ctx); err != nil {
		return llm.Request{}, err
	}
	if w.estimate() > int(fill*float64(w.budget())) {
		if err := w.compact(ctx, false); err != nil {
			return llm.Request{}, err
		}
	}
	r := llm.Request{System: w.system(), Messages: w.spoken(), Think: w.chat.Think}
	if w.run.Last && !w.info.Mute {
		r.Messages = turns.Alternating(append(r.Messages, llm.Say(llm.User, fmt.Sprintf(prompt.LastWords, w.run.Reason))))
	}
	if w.run.Empty && !w.run.Last {
		r.Messages = turns.Alternating(append(r.Messages, llm.Say(llm.User, prompt.NoAnswer+w.recalled(ctx))))
	}
	r.Tools = w.offered
	if w.run.Last {
		r.ToolChoice = "none"
	}
	return r, nil
}

// described is a tool as a model is told of it.
func described(t *tool.Tool) (llm.Tool, error) {
	schema, err := json.Marshal(t.Input())
	out := llm.Tool{Name: t.Name, Description: t.Doc, Schema: schema}
	for _, role := range t.Roles {
		out.Roles = append(out.Roles, string(role))
	}
	return out, err
}

// spoken are the messages as the model sees them: what was told in short stands
// in the place of what it tells, and every call has exactly one result.
func (w *worker) spoken() []llm.Message {
	var out []llm.Message
	until, stubs := 0, w.stubs()
	if short := w.summary(); short != nil {
		out, until = append(out, short.Message), short.Until
	}
	others, turn := false, 0 // whether the results that follow were read for another model; whose they are
	for _, m := range w.messages {
		if m.Role == llm.Assistant {
			others, turn = w.isForeign(m), m.Seq
		}
		if m.Marker == chat.Compacted || m.Seq <= until {
			continue
		}
		shown := w.shown(m, stubs)
		switch {
		case m.Role != llm.Results:
		case others:
			shown.Parts = turns.Withheld(shown.Parts, "this result was read for another model")
		case w.limited && m.Run != w.run.ID:
			shown.Parts = turns.Withheld(shown.Parts, "this result was read before, and not every note is shared with you now")
		case w.limited:
			shown.Parts = w.stillShared(shown.Parts, turn)
		}
		out = append(out, shown)
	}
	out = turns.Paired(out)
	if len(w.tools) == 0 && !w.info.Mute {
		out = turns.WithoutCalls(out)
	}
	return turns.Alternating(out)
}

// summary is the newest one that this model may see, or nil.
func (w *worker) summary() *chat.Message {
	for i := len(w.messages) - 1; i >= 0; i-- {
		if m := &w.messages[i]; m.Marker == chat.Compacted && !w.isForeign(*m) && (!w.limited || m.Run == w.run.ID && !w.isLess(m.Limit)) {
			return m
		}
	}
	return nil
}

// isForeign reports whether a message rests on what was read for another model,
// while the one at work is not on this machine: it gets notes only by calls of its
// own, which its own limits hold for.
func (w *worker) isForeign(m chat.Message) bool {
	return !w.info.Local && w.model != nil && m.Model != w.model.ID()
}

// shown is one message with what the person was looking at, and with results up
// to a message as stubs. Thoughts go to the model that thought them alone.
func (w *worker) shown(m chat.Message, stubs int) llm.Message {
	out := m.Message
	if m.Role == llm.User && m.Marker == "" {
		head := "(now: " + m.Time.Format("Monday, 2 January 2006, 15:04 MST") + ")"
		if w.tellsNote(m.Note) {
			head += "\n(the person is looking at the note [[" + onOneLine(m.Note) + "]])"
		}
		before := []llm.Part{{Kind: llm.Text, Text: head + "\n\n"}}
		if !w.info.Mute {
			before = append(before, w.attached(m)...)
		}
		out.Parts = append(before, out.Parts...)
	}
	if m.Role == llm.Assistant && w.model != nil && m.Model != w.model.ID() {
		out.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p llm.Part) bool { return p.Kind == llm.Reasoning })
	}
	if m.Role == llm.Results && w.tight > 0 && m.Seq == w.messages[len(w.messages)-1].Seq {
		out.Parts = slices.Clone(m.Parts)
		for i := range out.Parts {
			p := &out.Parts[i]
			p.Text = summarize.Cut(p.Text, max(500, utf8.RuneCountInString(p.Text)>>w.tight))
		}
	}
	if m.Role == llm.Results && m.Seq <= stubs {
		out.Parts = slices.Clone(m.Parts)
		for i := range out.Parts {
			if p := &out.Parts[i]; utf8.RuneCountInString(p.Text) > 400 {
				p.Text = fmt.Sprintf("(an earlier result of %d characters, left out here; call the tool again if you need it)", utf8.RuneCountInString(p.Text))
			}
		}
	}
	return out
}

// onOneLine is a file name that cannot look like more than one: whoever made the
// file chose it.
func onOneLine(name string) string {
	seen, _ := invisible.Mark(name)
	return strings.Join(strings.Fields(seen), " ")
}

// stubs is the last message whose results are left out: none while there is
// room, else all but those of the last two turns.
func (w *worker) stubs() int {
	stay, old := 2, 0
	for _, m := range w.messages {
		if focus.IsSmall(w.info.Context) && m.Run != w.run.ID {
			old = m.Seq // its passages were for another question
		}
	}
	switch {
	case w.makesRoom:
		stay = 1 // and the one that comes
	case w.full() <= int(fill*float64(w.budget())):
		return old
	}
	turns := 0
	for i := len(w.messages) - 1; i >= 0; i-- {
		if w.messages[i].Role == llm.Results {
			if turns++; turns > stay {
				return max(old, w.messages[i].Seq)
			}
		}
	}
	return old
}

// full is how many tokens everything that was said may have, nothing left out.
func (w *worker) full() int {
	n := 0
	for i := range w.messages {
		n += weight(&w.messages[i])
	}
	return w.tokens(n)
}

// estimate is how many tokens the next request may have.
func (w *worker) estimate() int {
	n := w.overhead()
	spoken := w.spoken()
	for i := range spoken {
		n += turns.Size(&spoken[i])
	}
	return w.tokens(n)
}

// measure learns from an answer how many characters of this request are a token.
func (w *worker) measure(r llm.Request, u llm.Usage) {
	n := w.overhead()
	for i := range r.Messages {
		n += turns.Size(&r.Messages[i])
	}
	if u.In >= 500 {
		w.per = believable(float64(n) / float64(u.In))
	}
}

// believable bounds a measurement: bytes as tokens, and models that skip half, are
// both real.
func believable(per float64) float64 { return min(max(per, 0.5), 8) }

// overhead is what stands in every request, in characters.
func (w *worker) overhead() int {
	n := len(w.system())
	for _, t := range w.offered {
		n += len(t.Name) + len(t.Description) + len(t.Schema) + 40
	}
	return n
}

// tokens guesses how many tokens so many characters are, as the last answer
// showed.
func (w *worker) tokens(count int) int {
	if w.per > 0 {
		return int(float64(count) / w.per)
	}
	per := float64(perToken)
	for i := len(w.messages) - 1; i >= 0; i-- {
		m := &w.messages[i]
		if m.Usage == nil || m.Usage.In < 500 || m.Run != w.run.ID {
			continue
		}
		before, short := w.overhead(), chat.Message{}
		for _, x := range w.messages[:i] {
			if x.Marker == chat.Compacted {
				short = x
			}
		}
		for k := range w.messages[:i] { // what was told in short was not sent
			if x := &w.messages[k]; x.Seq == short.Seq || x.Seq > short.Until && x.Marker != chat.Compacted {
				before += weight(x)
			}
		}
		if seen := float64(before) / float64(m.Usage.In); seen > 0 {
			per = believable(seen)
		}
		break
	}
	return int(float64(count) / per)
}

// compact lets the model tell older messages in short. The requests of the
// person stay word for word, and nothing is deleted. When nothing can be told in
// short, or hard is not set and there is still room, nothing happens.
func (w *worker) compact(ctx context.Context, hard bool) error {
	if w.info.Mute {
		return nil
	}
	keep := min(recentMost, int(recentPart*float64(w.budget())))
	if hard { // the provider counts otherwise than we do
		keep /= 2
	}
	return w.summarize(ctx, keep, hard)
}

// summarize lets the model tell all but the newest messages in short, of which so many
// tokens are kept.
func (w *worker) summarize(ctx context.Context, keep int, hard bool) error {
	cutAt := len(w.messages)
	for used := 0; cutAt > 0; cutAt-- {
		if m := &w.messages[cutAt-1]; m.Marker != chat.Compacted {
			used += w.tokens(weight(m))
		}
		if used > keep {
			break
		}
	}
	// What the model has not read yet is not told in short.
	cutAt = min(cutAt, w.unread())
	// A turn is not cut: what stays begins with what the person or the model said.
	for cutAt < len(w.messages) && w.messages[cutAt].Role == llm.Results {
		cutAt++
	}
	told, fresh := 0, 0 // until where the last summary tells, and what it does not
	if short := w.summary(); short != nil {
		told = short.Until
	}
	for _, m := range w.messages[:cutAt] {
		if m.Marker == "" && m.Seq > told {
			fresh++
		}
	}
	if fresh < 3 && !hard || fresh == 0 {
		return nil
	}
	if err := w.checkShared(ctx); err != nil {
		return err
	}
	limit, old := w.visible.Patterns(), w.spokenUntil(cutAt)
	a, err := llm.Ask(retry.WithCheck(ctx, func() error { return w.recheckShared(ctx) }), w.model, llm.Request{System: prompt.Opening, Messages: turns.Alternating(append(old, llm.Say(llm.User, prompt.Brief))), MaxTokens: 1500})
	w.run.Usage = w.run.Usage.Add(a.Usage)
	text := strings.TrimSpace(a.Text())
	if err != nil || text == "" {
		if hard {
			if err == nil {
				err = errors.New("the model gave no answer")
			}
			return fmt.Errorf("the chat is too long for the model and could not be summarized: %w", err)
		}
		w.Log.Warn("a chat could not be summarized", "run", w.run.ID)
		return nil
	}
	msg := chat.Message{
		Run: w.run.ID, Time: w.Now(), Message: llm.Say(llm.User, w.withSummary(text, cutAt)), Marker: chat.Compacted, Model: w.model.ID(), Until: w.messages[cutAt-1].Seq, Limit: limit,
	}
	return w.keep(ctx, chat.Change{Say: []chat.Message{msg}})
}

// unread is where the messages begin that the model was not shown yet: what was said
// since its last answer, and that answer itself, whose results they may be.
func (w *worker) unread() int {
	for i, m := range slices.Backward(w.messages) {
		if m.Role == llm.Assistant && m.Marker == "" {
			return i
		}
	}
	return 0
}

// spokenUntil are the messages before one, as the model has seen them, shortened
// so that they fit.
func (w *worker) spokenUntil(end int) []llm.Message {
	part := *w.part(end)
	for _, m := range w.messages[end:] { // a summary stands behind what it tells
		if m.Marker == chat.Compacted {
			part.messages = append(part.messages[:len(part.messages):len(part.messages)], m)
		}
	}
	out := part.spoken()
	for i := range out {
		for k := range out[i].Parts {
			if p := &out[i].Parts[k]; p.Kind == llm.ToolResult && len(p.Text) > 600 {
				p.Text = summarize.Clip(p.Text, 600)
			}
		}
	}
	return out
}

// part is the run as it was before a message.
func (w *worker) part(end int) *worker {
	return &worker{Agent: w.Agent, chat: w.chat, run: w.run, messages: w.messages[:end], model: w.model, info: w.info, tools: w.tools, offered: w.offered, prompt: w.prompt, prompted: w.prompted, instructions: w.instructions, per: w.per, prefs: w.prefs, visible: w.visible, limited: w.limited, calls: w.calls}
}

// withSummary puts a summary behind what must stay word for word: the requests of the
// person, and which notes were read and changed.
func (w *worker) withSummary(summary string, end int) string {
	var b strings.Builder
	b.WriteString("(The conversation so far was told in short, to make room. What the person asked, word for word:)\n")
	for _, text := range w.requests(end) {
		b.WriteString("> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n\n")
	}
	read, changed := w.touched()
	own := func(p string) string { return p }
	read, changed = visibility.Filter(w.visible, read, own), visibility.Filter(w.visible, changed, own)
	if len(read)+len(changed) > 0 {
		fmt.Fprintf(&b, "(Notes read: %s. Notes changed: %s.)\n", cmp.Or(strings.Join(read, ", "), "none"), cmp.Or(strings.Join(changed, ", "), "none"))
	}
	b.WriteString("\n" + summary)
	return b.String()
}

// requests are what the person asked before a message, word for word as far as
// there is room: of what is longer, and of the oldest, the beginning.
func (w *worker) requests(end int) []string {
	const beginning = 200
	per := w.per
	if per <= 0 {
		per = perToken
	}
	room := int(requestPart * float64(w.budget()) * per)
	var out []string
	for _, m := range slices.Backward(w.messages[:end]) {
		if m.Role != llm.User || m.Marker != "" {
			continue
		}
		a := llm.Answer{Parts: m.Parts}
		text := strings.TrimSpace(a.Text())
		if len(text) > room {
			text = summarize.Clip(text, beginning)
		}
		room -= len(text)
		out = append(out, text)
	}
	slices.Reverse(out)
	return out
}
