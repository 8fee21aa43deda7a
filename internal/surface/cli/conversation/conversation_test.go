package conversation

import (
	"context"
	"slices"
	"testing"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/machine/state"
)

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
