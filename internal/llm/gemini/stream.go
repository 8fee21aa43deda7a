package gemini

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"lore/internal/llm"
	"lore/internal/llm/wire"
)

// A reader puts an answer together from its chunks.
type reader struct {
	draft *wire.Draft
	box   *wire.Toolbox
	by    string      // whose the signatures are
	spent llm.Usage   // on a try before
	open  *wire.Piece // what the next text may belong to
	usage llm.Usage
	stop  string
}

type chunk struct {
	Error    json.RawMessage `json:"error"`
	Feedback struct {
		Blocked string `json:"blockReason"`
	} `json:"promptFeedback"`
	Candidates []struct {
		Content content `json:"content"`
		Stop    string  `json:"finishReason"`
	} `json:"candidates"`
	Usage *struct {
		Prompt   int `json:"promptTokenCount"`
		Tools    int `json:"toolUsePromptTokenCount"`
		Answer   int `json:"candidatesTokenCount"` // without thoughts
		Thoughts int `json:"thoughtsTokenCount"`
		Cached   int `json:"cachedContentTokenCount"` // of the prompt
	} `json:"usageMetadata"`
}

// blocked stands for a prompt that was refused.
const blocked = "PROMPT_BLOCKED"

// read reads until the answer is over, and says so. Only when the model wrote a
// call that nobody can read it says nothing and reports that.
//
// It reads to the very end: some models write their reason to stop on every
// chunk, so that one alone does not say that all is there.
func (r *reader) read(events iter.Seq2[wire.Event, error]) (malformed bool) {
	for e, err := range events {
		if err != nil {
			r.draft.Fail(err)
			return false
		}
		var c chunk
		if err := json.Unmarshal(e.Data, &c); err != nil {
			r.draft.Fail(&llm.Error{Kind: llm.Server, Message: fmt.Sprintf("a part of the response cannot be read: %v", err)})
			return false
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			r.draft.Fail(wire.Refusal(0, nil, e.Data))
			return false
		}
		if r.take(&c); r.draft.Gone {
			return false
		}
	}
	if r.stop == "MALFORMED_FUNCTION_CALL" {
		return true
	}
	if r.stop == "" {
		r.draft.Fail(llm.ErrCut)
		return false
	}
	r.draft.Finish(stopOf(r.stop), r.spent.Add(r.usage))
	return false
}

func (r *reader) take(c *chunk) {
	if u := c.Usage; u != nil {
		r.usage = llm.Usage{In: u.Prompt + u.Tools, Out: u.Answer + u.Thoughts, Reasoning: u.Thoughts, CacheRead: u.Cached}
	}
	if c.Feedback.Blocked != "" {
		r.stop = blocked
	}
	if len(c.Candidates) == 0 {
		return
	}
	first := &c.Candidates[0]
	for _, p := range first.Content.Parts {
		if r.draft.Gone {
			return
		}
		r.piece(p)
	}
	if first.Stop != "" {
		r.stop = first.Stop
	}
}

// piece adds a part. One with a signature stays alone: it must go back as it came.
func (r *reader) piece(p part) {
	signed := len(p.Signature) > 0 && string(p.Signature) != "null"
	var to *wire.Piece
	switch {
	case p.Call != nil:
		id := p.Call.ID
		if id == "" {
			id = made + strings.ToLower(rand.Text())
		}
		to = r.draft.Begin(llm.ToolCall, id, r.box.Known(p.Call.Name))
		r.draft.Write(to, string(p.Call.Args))
		r.open = nil
	case p.Text != nil && (*p.Text != "" || signed) || signed:
		kind := llm.Text
		if p.Thought {
			kind = llm.Reasoning
		}
		if to = r.open; to == nil || to.Kind != kind || signed {
			to = r.draft.Begin(kind, "", "")
		}
		if r.open = to; p.Text != nil {
			r.draft.Write(to, *p.Text)
		}
	default:
		return // code that it ran, pictures: nothing that was asked for
	}
	if signed {
		to.Opaque, to.OpaqueBy = p.Signature, r.by
		r.open = nil
	}
}

// stopOf is a reason of the API. One that is not known is none to run calls on.
func stopOf(reason string) llm.Stop {
	switch reason {
	case "STOP":
		return llm.Stopped
	case "MAX_TOKENS":
		return llm.TooLong
	case blocked, "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return llm.Filtered
	}
	return llm.Broken
}
