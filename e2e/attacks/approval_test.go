package attacks

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// asked lets a program ask for a deletion, and returns the question.
func (w *world) asked(token string) string {
	w.Helper()
	status, _, body := w.post("/api/v1/tools/delete_note", `{"path":"Tea.md"}`, w.tokens[token])
	id := judged(body, false).pending
	if status != http.StatusAccepted || id == "" {
		w.Fatalf("%d %s", status, body)
	}
	return id
}

func (w *world) exists(path string) bool {
	_, err := os.Stat(filepath.Join(w.vault, path))
	return err == nil
}

// answer posts a person's answer with whatever a client has.
func (w *world) answer(c *http.Client, id, body, token string) (int, string) {
	w.Helper()
	head := http.Header{"Content-Type": {"application/json"}}
	if token != "" {
		head.Set("Authorization", "Bearer "+token)
	}
	status, _, text := w.send(c, http.MethodPost, "/api/v1/approvals/"+id+"/answer", body, head)
	return status, text
}

// TestOnlyPersonsApprove: C01, C02, C03, B09. No token, tool, word in a note or
// guess is an approval.
func TestOnlyPersonsApprove(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	id := w.asked("all")
	for name, token := range w.tokens {
		for _, path := range []string{"/answer", "/rehearse"} {
			status, _, body := w.post("/api/v1/approvals/"+id+path, `{"approve":true}`, token)
			if status != http.StatusForbidden {
				t.Errorf("%s token, %s: %d %s", name, path, status, body)
			}
		}
	}
	if status, body := w.answer(http.DefaultClient, id, `{"approve":true}`, ""); status != http.StatusUnauthorized {
		t.Errorf("nobody: %d %s", status, body)
	}
	// A token beside a person's cookie is judged as the token.
	if status, body := w.answer(w.person, id, `{"approve":true}`, w.tokens["all"]); status != http.StatusForbidden {
		t.Errorf("a token with a cookie: %d %s", status, body)
	}
	// No tool answers, and none changes settings.
	for _, h := range w.hands() {
		for _, name := range []string{
			"approve", "confirm", "answer", "approve_operation", "confirm_operation", "answer_approval", "update_settings", "set_config", "create_token", "add_rule",
		} {
			if a := h.call(name, fmt.Sprintf(`{"id":%q,"operation_id":%q,"approve":true}`, id, id)); !a.refused || !a.has("unknown tool") {
				t.Errorf("%s: %s: %.200s", h.name, name, a.text)
			}
		}
		// Arguments that claim an approval are no arguments.
		for _, args := range []string{
			`{"path":"Tea.md","approved":true}`, `{"path":"Tea.md","confirm":true}`, `{"path":"Tea.md","yes":true}`,
			fmt.Sprintf(`{"path":"Tea.md","pending_operation_id":%q}`, id), `{"path":"Tea.md","explicit":true}`,
		} {
			if a := h.call("delete_note", args); !a.refused {
				t.Errorf("%s: %s: %.200s", h.name, args, a.text)
			}
		}
	}
	// Another program sees and withdraws nothing, by its id or by a part of it.
	for _, guess := range []string{id, id[:12], "pending-", "pending", "1", strings.Repeat("a", 40), "..%2f" + id} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			path := "/api/v1/approvals/" + guess
			if method == http.MethodPost {
				path += "/cancel"
			}
			status, _, body := w.send(http.DefaultClient, method, path, "{}", http.Header{
				"Authorization": {"Bearer " + w.tokens["other"]}, "Content-Type": {"application/json"},
			})
			if status != http.StatusNotFound {
				t.Errorf("%s %s: %d %s", method, path, status, body)
			}
		}
	}
	if len(strings.TrimPrefix(id, "pending-")) < 26 { // of 32 letters each: 130 bits
		t.Errorf("%s can be guessed", id)
	}
	if !w.exists("Tea.md") {
		t.Error("it happened")
	}
}

// TestAnApprovalIsForWhatWasShown: C04, C06, C16. It is used once, for the plan
// that was shown, by the one who answers first.
func TestAnApprovalIsForWhatWasShown(t *testing.T) {
	w := newWorld(t, nil)
	id := w.asked("all")
	w.put("vault/Tea.md", "# Tea\n\nMeanwhile somebody wrote all of this.\n")
	status, body := w.answer(w.person, id, `{"approve":true,"revision":0}`, "")
	if status != http.StatusAccepted || !strings.Contains(body, "Meanwhile somebody wrote") {
		t.Errorf("a changed file: %d %s", status, body)
	}
	if !w.exists("Tea.md") {
		t.Fatal("what nobody saw was deleted")
	}
	if status, body := w.answer(w.person, id, `{"approve":true,"revision":0}`, ""); status != http.StatusConflict {
		t.Errorf("an old revision: %d %s", status, body)
	}
	for _, twice := range []string{`{"approve":false,"approve":true,"revision":1}`, `{"approve":true,"APPROVE":false,"revision":1}`, `{"approve":true,"revision":1,"who":{"kind":"person"}}`} {
		if status, body := w.answer(w.person, id, twice, ""); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", twice, status, body)
		}
	}
	if !w.exists("Tea.md") {
		t.Fatal("a malformed answer counted")
	}
	// Twenty tabs at once: one wins.
	var mu sync.Mutex
	won := map[int]int{}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			status, body := w.answer(w.person, id, fmt.Sprintf(`{"approve":%v,"revision":1}`, i%2 == 0), "")
			mu.Lock()
			defer mu.Unlock()
			won[status]++
			if status != http.StatusOK && status != http.StatusConflict {
				w.Errorf("%d %s", status, body)
			}
		})
	}
	wg.Wait()
	if won[http.StatusOK] != 1 || won[http.StatusConflict] != 19 {
		t.Errorf("%v", won)
	}
}

// TestTwinKeys: C06, B21. Of two values of one argument none is taken, and a name
// that only looks like a tool's is not one.
func TestTwinKeys(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	before := w.snapshot(true)
	for _, h := range w.hands() {
		for _, c := range [][2]string{
			{"read_note", `{"path":"Tea.md","PATH":"../secret.md"}`}, {"read_note", `{"path":"Tea.md","path":"Milk.md"}`}, {"read_note", `{"path":"Tea.md","pat\u0068":"Milk.md"}`},
			{"delete_note", `{"path":"Tea.md","dry_run":true,"DRY_RUN":false}`}, {"delete_note", `{"path":"Tea.md","dry_run":true,"dry_run":false}`},
			{"read_note", `{"Path":"Tea.md"}`}, {"read_note", `[{"path":"Tea.md"}]`}, {"read_note", `{"path":{"toString":"Tea.md"}}`},
			{"Read_Note", `{"path":"Tea.md"}`}, {"read_note\u200b", `{"path":"Tea.md"}`}, {"read_note ", `{"path":"Tea.md"}`}, {"re\u0430d_note", `{"path":"Tea.md"}`},
		} {
			if h.name == "rest" && strings.ContainsAny(c[0], " \u200b\u0430") {
				continue // no path of a URL
			}
			if a := h.call(c[0], c[1]); !a.refused {
				t.Errorf("%s: %q %s: %.200s", h.name, c[0], c[1], a.text)
			}
		}
	}
	w.unchanged(before, true)
}

// TestAFlood: C11. One caller cannot bury a person in questions.
func TestAFlood(t *testing.T) {
	w := newWorld(t, nil)
	asked, refused := 0, 0
	for i := range 60 {
		status, _, _ := w.post("/api/v1/tools/write_note", fmt.Sprintf(`{"path":"n%d.md","content":"x"}`, i), w.tokens["all"])
		switch status {
		case http.StatusAccepted:
			asked++
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			refused++
		default:
			t.Fatal(status)
		}
	}
	if asked != 20 || refused != 40 {
		t.Errorf("%d asked, %d refused", asked, refused)
	}
	if status, _, body := w.post("/api/v1/tools/write_note", `{"path":"other.md","content":"x"}`, w.tokens["other"]); status != http.StatusAccepted {
		t.Errorf("another caller: %d %s", status, body)
	}
}
