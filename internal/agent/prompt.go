package agent

import (
	"cmp"
	"context"

	"lore/internal/agent/chat"
	"lore/internal/agent/instructions"
	"lore/internal/agent/prompt"
)

// system is what the model is told before everything else.
func (w *worker) system() string {
	of := w.instructions
	if w.limited && !w.visible.Allows(instructions.File) {
		of = "" // less is shared than when they were read
	}
	if w.prompt == "" || of != w.prompted {
		w.prompted = of
		w.prompt = prompt.System(prompt.Conversation{
			Rewriting: w.chat.Purpose == chat.Rewriting, Tools: w.tools, Instructions: w.Door.Instructions, Vault: of, Wishes: w.prefs.System + "\n" + w.chat.System,
		})
	}
	return w.prompt
}

// readInstructions reads those of the vault. They are extra: what cannot be read is
// left out.
func (w *worker) readInstructions(ctx context.Context) {
	if w.info.Mute || w.prefs.NoInstructions || w.chat.Purpose == chat.Rewriting || w.Has != nil && !w.Has(instructions.File) || w.limited && !w.visible.Allows(instructions.File) {
		return
	}
	most := instructions.Most(perToken * max(0, cmp.Or(w.info.Context, window)))
	var err error
	if w.instructions, w.run.Instructions, err = instructions.Read(ctx, w.Door, w.caller(&chat.Call{}), most); err != nil {
		w.Log.Debug("the vault's instructions were not read", "run", w.run.ID, "error", err)
	}
}
