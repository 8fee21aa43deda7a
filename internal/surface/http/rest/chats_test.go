package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"lore/internal/agent/chat"
	"lore/internal/llm"
)

// TestConversationsAreForPersons: no token reaches them, also not through tools
// that save or read them.
func TestConversationsAreForPersons(t *testing.T) {
	w := open(t)
	if err := w.chats.Put(t.Context(), chat.Chat{ID: "chat-1", Title: "Mine"}); err != nil {
		t.Fatal(err)
	}
	run := chat.Run{ID: "run-1", Chat: "chat-1", Status: chat.Done}
	if err := w.chats.Apply(t.Context(), "chat-1", chat.Change{
		Run: &run, Say: []chat.Message{{Run: "run-1", Message: llm.Say(llm.User, "CANARY of a request")}},
		Calls: []chat.Call{{ID: "a", Tool: "x", State: chat.Finished, Result: "CANARY of a result"}},
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, body string }{
		{"/api/v1/tools/save_chat?dry_run=1", "{}"}, {"/api/v1/tools/save_chat", `{"chat":"chat-1"}`}, {"/api/v1/tools/read_result", `{"id":"run-1/1"}`},
	} {
		if got := w.do("full", "POST", c.path, c.body); got.status != http.StatusForbidden || strings.Contains(got.text, "CANARY") {
			t.Errorf("a token, %s: %d %s", c.path, got.status, got.text)
		}
		if got := w.do("person", "POST", c.path, c.body); got.status >= 300 {
			t.Errorf("a person, %s: %d %s", c.path, got.status, got.text)
		}
	}
	for _, path := range []string{"/api/v1/tools/save_chat", "/api/v1/tools/read_result"} {
		if token, person := w.do("full", "GET", path, ""), w.do("person", "GET", path, ""); token.status != http.StatusForbidden || person.status != http.StatusOK {
			t.Errorf("%s: a token %d, a person %d", path, token.status, person.status)
		}
	}
	for who, want := range map[string]bool{"full": false, "person": true} {
		got := w.do(who, "GET", "/api/v1/tools", "")
		if strings.Contains(got.text, `"save_chat"`) != want || strings.Contains(got.text, `"read_result"`) != want || !strings.Contains(got.text, `"read_note"`) {
			t.Errorf("%s is told of %s", who, got.text)
		}
	}
}
