package chat_test

import (
	"fmt"
	"testing"

	"lore/internal/agent/chat"
	"lore/internal/llm"
)

// TestWhereBranchesPart: the versions of a message are found from every one of
// them, whatever was branched from what, and also when the first chat is gone.
func TestWhereBranchesPart(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	ctx := t.Context()
	say := func(id string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			clock.at.Add(1)
			must(t, s.Apply(ctx, id, chat.Change{Say: []chat.Message{{Message: llm.Say(llm.User, text)}}}))
		}
	}
	fork := func(from, id string, after int) {
		t.Helper()
		clock.at.Add(1)
		_, err := s.Fork(ctx, from, id, after)
		must(t, err)
	}
	must(t, s.Put(ctx, chat.Chat{ID: "a"}))
	say("a", "1", "2", "3", "4")
	fork("a", "b", 2)
	say("b", "3b", "4b")
	fork("b", "c", 2) // a third version of message 3, made from the second
	say("c", "3c")
	fork("b", "d", 3) // shares message 3 with b, and parts after it
	say("d", "4d")
	fork("a", "e", 0)
	say("e", "1e")
	fork("a", "f", 4) // nothing is said in it: no version of anything
	must(t, s.Put(ctx, chat.Chat{ID: "alone"}))
	for id, want := range map[string]string{
		"a":     "[{0 [a e] 0} {2 [a d c] 0}]",
		"b":     "[{0 [b e] 0} {2 [f b c] 1} {3 [b d] 0}]",
		"c":     "[{0 [c e] 0} {2 [f d c] 2}]",
		"d":     "[{0 [d e] 0} {2 [f d c] 1} {3 [b d] 1}]",
		"e":     "[{0 [f e] 1}]",
		"alone": "[]",
	} {
		if got, err := s.Branchings(ctx, id); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s (%v)", id, got, want, err)
		}
	}
	must(t, s.Delete(ctx, "f"))
	must(t, s.Delete(ctx, "a"))
	if got, err := s.Branchings(ctx, "b"); err != nil || fmt.Sprint(got) != "[{0 [b e] 0} {2 [b c] 0} {3 [b d] 0}]" {
		t.Errorf("without the first: %v %v", got, err)
	}
}
