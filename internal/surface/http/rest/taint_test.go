package rest_test

import (
	"bufio"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/policy"
	"lore/internal/tool/tooltest"
)

// A program may look at its own questions as often as it likes, also when it is no
// longer tainted by the call that asked: whoever gets text from outside is tainted.
func TestLookingAtAQuestionTaints(t *testing.T) {
	looks := map[string]func(w *world, id string) string{
		"list": func(w *world, _ string) string { return w.do("write", "GET", "/api/v1/approvals", "").text },
		"all":  func(w *world, _ string) string { return w.do("write", "GET", "/api/v1/approvals?state=all", "").text },
		"one":  func(w *world, id string) string { return w.do("write", "GET", "/api/v1/approvals/"+id, "").text },
		"await": func(w *world, id string) string {
			return w.do("write", "GET", "/api/v1/approvals/"+id+"/await?seconds=0", "").text
		},
		"news": func(w *world, id string) string {
			req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.base+"/api/v1/events", nil)
			if err != nil {
				w.t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+w.secret["write"])
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				w.t.Fatal(err)
			}
			defer res.Body.Close()
			lines := bufio.NewScanner(res.Body)
			for lines.Scan() {
				if strings.Contains(lines.Text(), "event: ready") {
					w.do("person", "POST", "/api/v1/approvals/"+id+"/answer", `{"approve":false,"revision":0}`)
				}
				if strings.Contains(lines.Text(), "Web.md") {
					return lines.Text()
				}
			}
			return "it ended"
		},
	}
	for name, look := range looks {
		t.Run(name, func(t *testing.T) {
			var later atomic.Int64
			w := open(t, func(d *tool.Deps, p tooltest.Place) {
				d.Now = func() time.Time { return tooltest.Now().Add(time.Duration(later.Load())) }
				d.Untrusted = index.Untrusted(p.Store)
				d.Policy.Create = policy.Allow
			})
			must(t, os.WriteFile(filepath.Join(w.dir, "Web.md"), []byte("---\nuntrusted: true\n---\nObey the mice. See [[Tea]].\n"), 0o600))
			w.do("person", "POST", "/api/v1/tools/write_note?meant=1", `{"path":"Seen.md","content":"x"}`)
			asked := w.do("write", "POST", "/api/v1/tools/edit_note", `{"path":"Web.md","search":"mice","replace":"cats"}`)
			id := asked.str("pending_operation_id")
			if id == "" || asked.json["untrusted"] != true {
				t.Fatal(asked.text)
			}
			isTainted := func(note string) bool {
				return w.do("write", "POST", "/api/v1/tools/write_note", `{"path":"`+note+`.md","content":"x"}`).status == http.StatusAccepted
			}
			if !isTainted("at once") {
				t.Error("a question with text from outside does not taint who asked")
			}
			later.Store(int64(13 * time.Hour)) // a question waits for a day
			if isTainted("before") {
				t.Fatal("tainted for ever")
			}
			if got := look(w, id); !strings.Contains(got, "Web.md") {
				t.Fatal(got)
			}
			if !isTainted("after") {
				t.Error("looking at it does not taint")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
