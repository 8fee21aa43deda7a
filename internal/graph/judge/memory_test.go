package judge

import (
	"testing"

	"lore/internal/llm"
	"lore/internal/llm/llmtest"
)

func TestTheSameQuestionIsAskedOnce(t *testing.T) {
	t.Parallel()
	const yes = `{"reasoning": "r", "type": "CAUSES", "lean": 0, "confidence": 0.9}`
	m := llmtest.New(
		llmtest.Step{Chunks: []string{yes}, Usage: llm.Usage{In: 10, Out: 5}},
		llmtest.Text(`{"reasoning": "r", "type": "CITES", "lean": 0, "confidence": 0.9}`),
		llmtest.Text("no"), llmtest.Text("no"), llmtest.Text(yes),
	)
	j := Judge{Model: m, Memory: &Memory{}}
	a, b := Doc{Title: "A", Text: "a"}, Doc{Title: "B", Text: "b"}
	first := j.Relation(t.Context(), a, b, 0)
	again := j.Relation(t.Context(), a, b, 0)
	if first.Type != "CAUSES" || again.Type != "CAUSES" || first.Basis.Usage == nil || again.Basis.Usage != nil || again.Basis.Method != ByModel {
		t.Errorf("first %+v, again %+v", first, again)
	}
	if other := j.Relation(t.Context(), b, a, 0); other.Type != "CITES" {
		t.Errorf("another question: %+v", other)
	}
	// What was of no use is not kept.
	if bad := j.Relation(t.Context(), a, Doc{Title: "C"}, 0); bad.Basis.Fallback == "" {
		t.Errorf("%+v", bad)
	}
	if good := j.Relation(t.Context(), a, Doc{Title: "C"}, 0); good.Type != "CAUSES" {
		t.Errorf("%+v", good)
	}
	if n := len(m.Requests()); n != 5 {
		t.Errorf("%d requests", n)
	}
}

func TestMemoryForgetsTheOldest(t *testing.T) {
	t.Parallel()
	var m Memory
	key := func(i int) [32]byte { return [32]byte{byte(i), byte(i >> 8)} }
	for i := range remembered + 2 {
		m.put(key(i), i)
		m.get(key(0)) // stays in use
	}
	for i, want := range map[int]bool{0: true, 1: false, 2: false, 3: true, remembered + 1: true} {
		if _, ok := m.get(key(i)); ok != want {
			t.Errorf("%d is kept: %v", i, ok)
		}
	}
	if len(m.at) != remembered || m.order.Len() != remembered {
		t.Errorf("%d and %d are kept", len(m.at), m.order.Len())
	}
}
