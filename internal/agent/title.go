package agent

import (
	"context"
	"time"

	"lore/internal/agent/chat"
	"lore/internal/agent/prompt"
	"lore/internal/llm"
	"lore/internal/llm/retry"
	"lore/internal/note/summarize"
)

// entitle gives a chat a name after its first answer. It may fail: then the first
// words of the request are the name.
func (w *worker) entitle(ctx context.Context) {
	if w.prefs.NoTitles || w.chat.Titled != chat.ByWords || w.run.Status != chat.Done || w.ready(ctx) != nil || w.info.Mute {
		return
	}
	asked := 0
	for _, m := range w.messages {
		if m.Role == llm.User && m.Marker == "" {
			asked++
		}
	}
	if asked != 1 {
		return
	}
	var said []llm.Message
	for _, m := range w.messages {
		if m.Role == llm.User && m.Marker == "" || m.Role == llm.Assistant && len(w.turn(m.Seq)) == 0 {
			text := llm.Answer{Parts: m.Parts}
			said = append(said, llm.Say(m.Role, summarize.Clip(text.Text(), 1500)))
		}
	}
	if w.checkShared(ctx) != nil {
		return
	}
	asking, cancel := context.WithTimeout(retry.WithCheck(ctx, func() error { return w.recheckShared(ctx) }), 20*time.Second)
	defer cancel()
	a, err := llm.Ask(asking, w.model, llm.Request{System: prompt.Naming, Messages: append(said, llm.Say(llm.User, prompt.Naming)), MaxTokens: 200})
	if err != nil {
		return
	}
	lasting := context.WithoutCancel(ctx) // it is paid for
	w.run.Usage = w.run.Usage.Add(a.Usage)
	if err := w.keep(lasting, chat.Change{}); err != nil {
		w.Log.Warn("the cost of naming a chat could not be stored", "run", w.run.ID, "error", err)
	}
	title := prompt.Name(a.Text())
	if title == "" {
		return
	}
	_, err = w.Store.Change(lasting, w.chat.ID, func(c *chat.Chat) {
		if c.Titled == chat.ByWords { // the person may have named it meanwhile
			c.Title, c.Titled = title, chat.ByModel
		}
	})
	if err != nil {
		w.Log.Warn("a chat keeps its first words as its name", "chat", w.chat.ID, "error", err)
	}
}
