package attacks

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// answersItself is a client that says yes to every form it is shown, as a
// program without a person does.
func (w *world) answersItself(t sdk.Transport) *sdk.ClientSession {
	w.Helper()
	s, _ := w.countsForms(t)
	return s
}

// countsForms is [world.answersItself] with the number of forms that it was shown.
func (w *world) countsForms(t sdk.Transport) (*sdk.ClientSession, *atomic.Int32) {
	w.Helper()
	var forms atomic.Int32
	c := sdk.NewClient(&sdk.Implementation{Name: "attacker", Title: "Attacker", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			forms.Add(1)
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
		},
	})
	s, err := c.Connect(w.Context(), t, nil)
	if err != nil {
		w.Fatal(err, w.heard())
	}
	w.Cleanup(func() { _ = s.Close() })
	return s, &forms
}

// TestDialogIsNoApproval (J01): a client that answers its own form approves
// nothing, over HTTP and over standard input and output.
func TestDialogIsNoApproval(t *testing.T) {
	w := newWorld(t, nil)
	for name, session := range map[string]*sdk.ClientSession{
		"http":  w.answersItself(w.streamable("/mcp", w.tokens["all"])),
		"stdio": w.answersItself(&sdk.CommandTransport{Command: w.stdio()}),
	} {
		file := "By " + name + ".md"
		a := w.overMCP(session, "write_note", `{"path":"`+file+`","content":"mine"}`)
		if w.exists(file) {
			t.Errorf("%s: the client approved its own call: %s", name, a.text)
		}
		if a.pending == "" {
			t.Errorf("%s: it does not wait for a person: %s", name, a.text)
		}
	}
}

// TestPendingNamesNoCommand (J02): a program that waits for a person is not told
// how to answer in the person's place.
func TestPendingNamesNoCommand(t *testing.T) {
	w := newWorld(t, nil)
	for i, h := range w.hands()[1:] {
		a := h.call("write_note", `{"path":"Asked`+string(rune('a'+i))+`.md","content":"x"}`)
		if a.pending == "" {
			t.Errorf("%s: does not wait: %s", h.name, a.text)
		}
		if strings.Contains(a.text, "lore approvals") || strings.Contains(a.text, "code=") {
			t.Errorf("%s: names a way to answer: %s", h.name, a.text)
		}
	}
}

// TestCookieIsNoSession (J07): the browser sends the cookie to every port of this
// machine, so whoever listens there has it. It opens nothing without the secret
// that only the page of this origin holds.
func TestCookieIsNoSession(t *testing.T) {
	w := newWorld(t, nil)
	var cookies []string
	for _, c := range w.person.Jar.Cookies(w.address()) {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	if len(cookies) == 0 {
		t.Fatal("nobody is signed in")
	}
	stolen := http.Header{"Cookie": {strings.Join(cookies, "; ")}, "Content-Type": {"application/json"}}
	for path, method := range map[string]string{
		"/api/v1/status": http.MethodGet, "/api/v1/approvals": http.MethodGet, "/api/v1/events": http.MethodGet, "/api/v1/rules": http.MethodGet,
		"/api/v1/activity": http.MethodGet, "/api/v1/tokens": http.MethodGet, "/api/v1/settings": http.MethodGet, "/api/v1/files/a.png": http.MethodGet,
		"/api/v1/tools/write_note": http.MethodPost, "/api/v1/approvals/x/answer": http.MethodPost, "/logout": http.MethodPost,
	} {
		for _, wrong := range []string{"", "null", "undefined", strings.Repeat("a", 52)} {
			head := stolen.Clone()
			if wrong != "" {
				head.Set("Lore-Session", wrong)
			}
			if status, _, text := w.send(http.DefaultClient, method, path, "{}", head); status != http.StatusUnauthorized {
				t.Errorf("%s %s with the cookie and %q: %d %.200s", method, path, wrong, status, text)
			}
		}
	}
}
