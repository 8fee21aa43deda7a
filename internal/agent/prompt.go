package agent

import (
	"lore/internal/agent/chat"
	"lore/internal/agent/prompt"
)

// system is what the model is told before everything else.
func (w *worker) system() string {
	if w.prompt == "" {
		w.prompt = prompt.System(prompt.Conversation{
			Rewriting: w.chat.Purpose == chat.Rewriting, Tools: w.tools, Instructions: w.Door.Instructions, Wishes: w.prefs.System + "\n" + w.chat.System,
		})
	}
	return w.prompt
}
