package agent

import (
	"context"
	"errors"
	"path"
	"slices"

	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/tool"
	"lore/internal/tool/policy"
	"lore/internal/vault/visibility"
)

// checkShared finds out whether a remote model may get every note. Where it may
// not, results of earlier runs stay here, because they were read when more was
// shared; and a chat that a note holds is sent only where the note may go.
func (w *worker) checkShared(ctx context.Context) error {
	if w.info.Local || w.info.Mute || w.Shares == nil {
		return nil
	}
	who := w.who(&w.run)
	who.Sends = w.model.ID()
	limit, err := w.Shares(ctx, who)
	if err != nil {
		return err
	}
	w.visible, w.limited = limit, !limit.Everything()
	fromNote := slices.ContainsFunc(w.messages, func(m chat.Message) bool { return m.Outside })
	if !w.limited || !fromNote || w.chat.Page != "" && limit.Allows(w.chat.Page) {
		return nil
	}
	return fault.Fix(fault.Denied, "use a model on this computer, or change what you share (lore share, approve.share)",
		"%s is not shared with %s", noteOr(w.chat.Page), who.Sends)
}

// errUnshared says that a request holds what is no longer shared.
var errUnshared = errors.New("what the model may read has changed")

// recheckShared is [worker.checkShared] for a request that was made, but not sent
// yet.
func (w *worker) recheckShared(ctx context.Context) error {
	made := w.visible.Patterns()
	if err := w.checkShared(ctx); err != nil {
		return err
	}
	if w.isLess(made) {
		return errUnshared
	}
	return nil
}

// isLess reports whether the model may read less than it could under an earlier
// limit.
func (w *worker) isLess(earlier visibility.Patterns) bool {
	hidden, all := w.visible.Patterns().Lost(earlier)
	return all || len(hidden) > 0
}

// readUnder is what the model could read while a call was made that is over now.
// What is shared may have changed in that time: then either counts. It is
// everything when nobody can tell.
func (w *worker) readUnder(ctx context.Context) visibility.Patterns {
	before := w.visible.Patterns()
	// The next request meets the same error. A run that is being stopped has no model.
	if w.model == nil || w.checkShared(ctx) != nil {
		return visibility.Patterns{}
	}
	return visibility.Widest(before, w.visible.Patterns())
}

// granted is what a person gave a model to read by answering a question, whether
// or not it still may. Single files that are refused are refused all the same.
func (w *worker) granted(q tool.Question) visibility.Patterns {
	hidden := w.visible.Patterns().Hidden
	if q.Consent == "" || q.Answer == nil || !q.Answer.Approve {
		return visibility.Patterns{Only: [][]string{nil}}
	}
	var folders []string
	for _, c := range q.Changes {
		if q.Answer.Paths == nil || slices.Contains(q.Answer.Paths, c.Path) {
			folders = append(folders, policy.FolderPattern(c.Path))
		}
	}
	if len(folders) == len(q.Changes) {
		return visibility.Patterns{Hidden: hidden}
	}
	return visibility.Patterns{Only: [][]string{folders}, Hidden: hidden}
}

// tellsNote reports whether the model is told which note the person looks at. A
// name that is no path may mean any note.
func (w *worker) tellsNote(note string) bool {
	return note != "" && (!w.limited || path.Ext(note) != "" && w.visible.Allows(note))
}

// stillShared are the results of a turn of this run, without those that were read
// when more was shared.
func (w *worker) stillShared(parts []llm.Part, turn int) []llm.Part {
	out := slices.Clone(parts)
	for i := range out {
		known := false
		for _, c := range w.calls {
			if c.Message != turn || c.ID != out[i].ID {
				continue
			}
			known = true
			switch {
			case c.IsShared(w.visible):
			case c.Operation != "":
				out[i].Text = "(the change was made; its result is no longer shared with you)"
			default:
				out[i].Text = "(this result is no longer shared with you; call the tool again if you need it)"
			}
		}
		if !known {
			out[i].Text = "(this result cannot be shared with you)"
		}
	}
	return out
}

func noteOr(path string) string {
	if path == "" {
		return "the note that this chat was read from"
	}
	return path
}
