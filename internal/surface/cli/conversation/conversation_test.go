package conversation

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/llm"
	"lore/internal/machine/state"
)

// TestAnAnswerThatCitesNothing: the passages stand under it in the terminal, and in the
// JSON.
func TestAnAnswerThatCitesNothing(t *testing.T) {
	t.Parallel()
	file := state.In(t.TempDir())
	t.Cleanup(func() { _ = file.Close() })
	s := &Session{Agent: &agent.Agent{Store: chat.New(file, nil)}}
	if err := s.Agent.Store.Put(t.Context(), chat.Chat{ID: "chat-1", Title: "Tea"}); err != nil {
		t.Fatal(err)
	}
	run := chat.Run{ID: "run-1", Chat: "chat-1", Status: chat.Done, Started: time.Now()}
	say := chat.Message{Run: "run-1", Time: time.Now(), Message: llm.Say(llm.Assistant, "A drink."), Uncited: []chat.Passage{{Path: "Notes/Tea.md", Text: "Tea is a drink\nof leaves.\x1b[2J"}}}
	if err := s.Agent.Store.Apply(t.Context(), "chat-1", chat.Change{Run: &run, Say: []chat.Message{say}}); err != nil {
		t.Fatal(err)
	}
	var out, notices bytes.Buffer
	term := Terminal{}
	term.Out, term.Err, term.JSON, term.Encode = &out, &notices, true, json.NewEncoder(&out).Encode
	if err := term.report(t.Context(), s, run); err != nil || !strings.Contains(out.String(), `"uncited":[{"path":"Notes/Tea.md"`) {
		t.Errorf("%v: %s", err, out.String())
	}
	term.sources(&say)
	if got := notices.String(); !strings.Contains(got, "cites none of the notes") || !strings.Contains(got, "[[Notes/Tea]] Tea is a drink of leaves.") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("%q", got)
	}
}

// TestTheVaultsInstructionsAreNamed: programs read which file a model was told to follow,
// and people why it was not.
func TestTheVaultsInstructionsAreNamed(t *testing.T) {
	t.Parallel()
	file := state.In(t.TempDir())
	t.Cleanup(func() { _ = file.Close() })
	s := &Session{Agent: &agent.Agent{Store: chat.New(file, nil)}}
	for _, c := range []struct {
		of         *chat.Instructions
		json, told string
	}{
		{nil, "", ""},
		{&chat.Instructions{Path: "AGENTS.md"}, `"instructions":{"path":"AGENTS.md"}`, ""},
		{&chat.Instructions{Path: "AGENTS.md", Cut: true}, `"instructions":{"path":"AGENTS.md","cut":true}`, "(AGENTS.md is too long for the model; only its beginning was used)\n"},
		{&chat.Instructions{Path: "AGENTS.md", Unused: "it is marked as untrusted"}, `"unused":"it is marked as untrusted"`, "(AGENTS.md was not used: it is marked as untrusted)\n"},
	} {
		var out, notices bytes.Buffer
		term := Terminal{}
		term.Out, term.Err, term.Encode = &out, &notices, json.NewEncoder(&out).Encode
		run := chat.Run{ID: "run-1", Chat: "chat-1", Status: chat.Running, Instructions: c.of}
		if err := term.report(t.Context(), s, run); err != nil || !strings.Contains(out.String(), c.json) || strings.Contains(out.String(), "instructions") != (c.json != "") {
			t.Errorf("%v: %s", err, out.String())
		}
		v := &view{t: term}
		v.tell(agent.Event{Type: agent.Stepped, Run: &run})
		v.tell(agent.Event{Type: agent.Stepped, Run: &run})
		if got := notices.String(); got != c.told {
			t.Errorf("%q", got)
		}
	}
}

// TestGoingOnWithOtherTools: what is said at the command line counts for a
// conversation that goes on too, and what is not said stays as it was.
func TestGoingOnWithOtherTools(t *testing.T) {
	t.Parallel()
	file := state.In(t.TempDir())
	t.Cleanup(func() { _ = file.Close() })
	s := &Session{Agent: &agent.Agent{Store: chat.New(file, nil)}}
	if err := s.Agent.Store.Put(t.Context(), chat.Chat{ID: "chat-1", Title: "Tea", Sets: []string{"explore"}, Think: true}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags []string
		o     options
		want  chat.Chat
	}{
		{nil, options{tools: true}, chat.Chat{Sets: []string{"explore"}, Think: true}},
		{[]string{"tools"}, options{}, chat.Chat{Sets: []string{"explore"}, Think: true, NoTools: true}},
		{[]string{"toolsets", "tools", "think"}, options{sets: []string{"notes"}, tools: true}, chat.Chat{Sets: []string{"notes"}}},
	} {
		c.o.given = func(flag string) bool { return slices.Contains(c.flags, flag) }
		if err := c.o.adjust(context.Background(), s, "last"); err != nil {
			t.Fatal(err)
		}
		got, err := s.Agent.Store.Get(t.Context(), "chat-1")
		if err != nil || !slices.Equal(got.Sets, c.want.Sets) || got.NoTools != c.want.NoTools || got.Think != c.want.Think || got.Title != "Tea" {
			t.Errorf("%v: %+v %v", c.flags, got, err)
		}
	}
	var o options
	o.given = func(string) bool { return true }
	if err := o.adjust(t.Context(), s, ""); err != nil {
		t.Error(err)
	}
}
