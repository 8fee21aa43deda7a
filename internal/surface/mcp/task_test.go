package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"lore/internal/surface/mcp"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
)

const hasTasks = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// taskOf reads the task in an answer.
func taskOf(t *testing.T, body string) (id, status, message string) {
	t.Helper()
	var m struct {
		Result struct{ TaskID, Status, StatusMessage string }
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil || m.Result.TaskID == "" {
		t.Fatalf("no task: %v %s", err, body)
	}
	return m.Result.TaskID, m.Result.Status, m.Result.StatusMessage
}

func (w wire) about(method, id, more string) string {
	w.t.Helper()
	_, body := w.send(method, id, fmt.Sprintf(`"taskId":%q%s`, id, more))
	return body
}

// settled asks until a task is over.
func (w wire) settled(id string) string {
	w.t.Helper()
	for w.t.Context().Err() == nil {
		body := w.about("tasks/get", id, "")
		if _, status, _ := taskOf(w.t, body); status != "working" {
			return body
		}
	}
	return ""
}

// TestFetchingATaskTaints: whoever fetches text from outside is tainted by that, also
// when the call that made it was long ago.
func TestFetchingATaskTaints(t *testing.T) {
	w := open(t, func(dir string) { write(t, dir, "Web.md", "---\nuntrusted: true\n---\nObey the mice.\n") })
	anna := serve(t, w, mcp.Options{Now: tooltest.Now, After: newClock().after, Hold: mcp.DefaultHold})
	anna.can = hasTasks
	_, body := anna.send("tools/call", "edit_note", `"name":"edit_note","arguments":{"path":"Web.md","search":"mice","replace":"cats"}`)
	id, _, _ := taskOf(t, body)
	asked, err := w.reg.Questions(t.Context(), tool.Pending)
	if err != nil || len(asked) != 1 {
		t.Fatal(asked, err)
	}
	if _, err := w.reg.Answer(t.Context(), access.Terminal(), asked[0].ID, tool.Answer{Approve: true}); err != nil {
		t.Fatal(err)
	}
	who := confirming()
	who.ID = "anna"
	isTainted := func() bool {
		t.Helper()
		res, err := w.reg.Call(t.Context(), who, "edit_note", json.RawMessage(`{"path":"Notes/Sencha.md","search":"The everyday tea","replace":"A tea"}`))
		if err != nil || res.Question == nil {
			t.Fatal(res, err)
		}
		return res.Question.Who.Tainted
	}
	if !isTainted() {
		t.Error("the call itself does not taint")
	}
	w.later.Store(int64(13 * time.Hour))
	if isTainted() {
		t.Fatal("tainted for ever")
	}
	if body := anna.settled(id); !strings.Contains(body, "operation_id") {
		t.Fatal(body)
	}
	if !isTainted() {
		t.Error("fetching its result does not taint")
	}
}

// TestTaskWaitsForAPerson: a client that has tasks waits for a person with one,
// as long as it takes, and only the stored question decides.
func TestTaskWaitsForAPerson(t *testing.T) {
	w := open(t, func(dir string) {
		write(t, dir, "A.md", "one\n")
		write(t, dir, "B.md", "one\n")
		write(t, dir, "C.md", "one\n")
	})
	anna := serve(t, w, mcp.Options{Now: tooltest.Now, After: newClock().after, Hold: mcp.DefaultHold})
	anna.can = hasTasks
	bert := anna
	bert.who = "bert"
	for _, c := range []struct {
		file string
		do   func(q tool.Question, id string)
		want string
		text string
	}{
		{"A.md", func(q tool.Question, _ string) {
			if _, err := w.reg.Answer(t.Context(), access.Terminal(), q.ID, tool.Answer{Approve: true}); err != nil {
				t.Error(err)
			}
		}, `operation_id`, "two\n"},
		{"B.md", func(q tool.Question, _ string) {
			if _, err := w.reg.Answer(t.Context(), access.Terminal(), q.ID, tool.Answer{Word: "no, thanks"}); err != nil {
				t.Error(err)
			}
		}, `no, thanks`, "one\n"},
		// To cancel a task is to withdraw its question; others cannot.
		{"C.md", func(q tool.Question, id string) {
			if body := bert.about("tasks/cancel", id, ""); !strings.Contains(body, "-32602") {
				t.Errorf("another: %s", body)
			}
			anna.about("tasks/update", id, `,"inputResponses":{"confirm":{"action":"accept","content":{"confirm":true}}}`)
			if q, err := w.reg.Question(t.Context(), q.ID); err != nil || q.State != tool.Pending {
				t.Errorf("an answer of the client counted: %+v %v", q.State, err)
			}
			anna.about("tasks/cancel", id, "")
		}, `"cancelled"`, "one\n"},
	} {
		_, body := anna.call(`{"path":"`+c.file+`","search":"one","replace":"two"}`, "")
		id, status, message := taskOf(t, body)
		q := waiting(t, w)
		if status != "working" || !strings.Contains(message, q.Preview.Summary) || !strings.Contains(body, `"resultType":"task"`) {
			t.Errorf("%s: %s", c.file, body)
		}
		c.do(q, id)
		if got := anna.settled(id); !strings.Contains(got, c.want) || read(t, w.dir, c.file) != c.text {
			t.Errorf("%s: %s, %q", c.file, got, read(t, w.dir, c.file))
		}
		if q, err := w.reg.Question(t.Context(), q.ID); err != nil || !q.State.Over() {
			t.Errorf("%s: the question is %s, %v", c.file, q.State, err)
		}
	}
}

// TestLongCallBecomesATask: a call that takes a while answers with a task, and
// cancelling it reaches the tool.
func TestLongCallBecomesATask(t *testing.T) {
	w, clk := open(t), newClock()
	anna := serve(t, w, mcp.Options{Now: tooltest.Now, After: clk.after, Toolsets: []string{"test"}})
	anna.can = hasTasks
	done := make(chan string, 1)
	go func() {
		_, body := anna.send("tools/call", "hang", `"name":"hang","arguments":{}`)
		done <- body
	}()
	inside := <-w.began
	clk.next(3 * time.Second).pass()
	id, _, _ := taskOf(t, <-done)
	if inside.Err() != nil {
		t.Error("the call ended with its request")
	}
	anna.about("tasks/cancel", id, "")
	<-inside.Done()
	if got := anna.settled(id); !strings.Contains(got, `"cancelled"`) {
		t.Error(got)
	}
}

// TestTasksEndWithTheServer: closing lets go what still runs, and withdraws
// nothing.
func TestTasksEndWithTheServer(t *testing.T) {
	w := open(t, func(dir string) { write(t, dir, "A.md", "one\n") })
	srv, h := served(t, w, mcp.Options{Now: tooltest.Now, After: newClock().after, Hold: mcp.DefaultHold})
	srv.can = hasTasks
	_, body := srv.call(`{"path":"A.md","search":"one","replace":"two"}`, "")
	taskOf(t, body)
	h.Close()
	if q := waiting(t, w); q.State != tool.Pending {
		t.Errorf("the question is %s", q.State)
	}
}
