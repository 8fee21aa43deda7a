package attacks

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lore/internal/machine/db"
)

// J12: whatever is cut from the audit log or taken out of state.db is noticed,
// and nothing that Lore itself does is.
func TestARecordThatLacksSomething(t *testing.T) {
	w := newWorld(t, func(w *world) {})
	for i := range 60 {
		if status, _, body := w.post("/api/v1/tools/read_note", `{"path":"Tea.md"}`, w.tokens["all"]); status != 200 {
			t.Fatal(body)
		}
		if i%20 == 10 {
			_, _, body := w.post("/api/v1/tools/write_note", fmt.Sprintf(`{"path":"New%d.md","content":"x"}`, i), w.tokens["all"])
			if status, text := w.answer(w.person, judged(body, false).pending, `{"approve":true}`, ""); status != 200 {
				t.Fatal(body, text)
			}
		}
	}
	if err := w.server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = w.server.Wait()
	data := w.dataFolder()
	if out, code := w.lore("audit", "verify"); code != 0 {
		t.Fatalf("a good record: %s%s", out, w.heard())
	}
	kept := t.TempDir()
	copyFolder(t, data, kept)
	log := func(change func(lines [][]byte) [][]byte) func() {
		return func() {
			path := filepath.Join(data, "audit.jsonl")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
			lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
			if err := os.WriteFile(path, bytes.Join(change(lines), nil), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows := func(statement string) func() {
		return func() {
			d, err := sql.Open("sqlite", "file:"+filepath.Join(data, "state.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			res, err := d.ExecContext(context.Background(), statement)
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := res.RowsAffected(); n == 0 {
				t.Fatal("nothing was changed")
			}
		}
	}
	both := func(list ...func()) func() {
		return func() {
			for _, f := range list {
				f()
			}
		}
	}
	reads := func(lines [][]byte) int { // how many entries at the end only read
		n := 0
		for n < len(lines) && bytes.Contains(lines[len(lines)-1-n], []byte(`"tool":"read_note"`)) {
			n++
		}
		return n
	}
	for name, attack := range map[string]func(){
		"last entry":              log(func(l [][]byte) [][]byte { return l[:len(l)-1] }),
		"reads at the end":        log(func(l [][]byte) [][]byte { return l[:len(l)-min(5, reads(l))] }),
		"half":                    log(func(l [][]byte) [][]byte { return l[:len(l)/2] }),
		"middle":                  log(func(l [][]byte) [][]byte { return append(l[:10:10], l[20:]...) }),
		"all":                     func() { _ = os.Remove(filepath.Join(data, "audit.jsonl")) },
		"call rows":               rows(`DELETE FROM call WHERE tool = 'read_note' AND seq % 2 = 0`),
		"last call rows":          rows(`DELETE FROM call WHERE seq > (SELECT max(seq) - 5 FROM call)`),
		"one call row":            rows(`DELETE FROM call WHERE seq = (SELECT max(seq) - 7 FROM call)`),
		"all call rows":           rows(`DELETE FROM call`),
		"a call's tool":           rows(`UPDATE call SET tool = 'list_notes' WHERE seq = (SELECT max(seq) - 7 FROM call)`),
		"a call's arguments":      rows(`UPDATE call SET args = '{}' WHERE seq = (SELECT max(seq) - 7 FROM call)`),
		"a call that was not":     rows(`INSERT INTO call SELECT NULL, 'call-x', time, kind, who, surface, tool, targets, args, args_hash, decision, reason, status, summary, fault, error, duration, tokens, cost, operation, question, outside FROM call LIMIT 1`),
		"an operation":            rows(`DELETE FROM operation WHERE seq = (SELECT min(seq) FROM operation)`),
		"an operation's tool":     rows(`UPDATE operation SET tool = 'other', who = 'nobody'`),
		"log and facts":           both(log(func(l [][]byte) [][]byte { return l[:len(l)-5] }), rows(`DELETE FROM fact WHERE name LIKE 'audit%' OR name LIKE 'log%'`)),
		"log, rows and facts":     both(log(func(l [][]byte) [][]byte { return l[:len(l)-5] }), rows(`DELETE FROM call WHERE seq > (SELECT max(seq) - 5 FROM call)`), rows(`DELETE FROM fact WHERE name LIKE 'audit%' OR name LIKE 'log%'`)),
		"the anchor and the tail": both(log(func(l [][]byte) [][]byte { return l[:len(l)-5] }), func() { _ = os.Remove(filepath.Join(data, "audit.head")) }),
		"the anchor":              func() { _ = os.Remove(filepath.Join(data, "audit.head")) },
	} {
		for _, command := range [][]string{{"audit", "verify"}, {"doctor"}} {
			copyFolder(t, kept, data)
			attack()
			if out, code := w.lore(command...); code == 0 {
				t.Errorf("%s: %s does not notice: %s", name, strings.Join(command, " "), out)
			}
			// Going on does not hide it.
			copyFolder(t, kept, data)
			attack()
			w.lore("call", "write_note", `{"path":"More.md","content":"x","dry_run":true}`)
			w.lore("call", "read_note", `{"path":"Tea.md"}`)
			if out, code := w.lore(command...); code == 0 {
				t.Errorf("%s: %s does not notice after more calls: %s", name, strings.Join(command, " "), out)
			}
		}
	}
	copyFolder(t, kept, data)
	if out, code := w.lore("audit", "verify"); code != 0 {
		t.Errorf("the record as it was: %s%s", out, w.heard())
	}
}

// A killed server leaves a record that is believed, whenever it is killed.
func TestAKilledServerCriesNoWolf(t *testing.T) {
	w := newWorld(t, nil)
	for round := range 6 {
		if round > 0 {
			w.serve()
		}
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				w.try("/api/v1/tools/read_note", `{"path":"Tea.md"}`)
				w.try("/api/v1/tools/write_note", fmt.Sprintf(`{"path":"K%d-%d.md","content":"x"}`, round, i))
			}
		}()
		for range 20 * (round + 1) {
			w.try("/api/v1/tools/read_note", `{"path":"Milk.md"}`)
		}
		_ = w.server.Process.Kill()
		_ = w.server.Wait()
		close(stop)
		<-done
		if out, code := w.lore("audit", "verify"); code != 0 {
			t.Fatalf("round %d: %s%s", round, out, w.heard())
		}
	}
}

// try calls a tool of a server that may be gone.
func (w *world) try(path, body string) {
	req, err := newPost(w.base+path, body, w.tokens["all"])
	if err != nil {
		w.Error(err)
		return
	}
	if res, err := anyClient.Do(req); err == nil {
		_ = res.Body.Close()
	}
}

func (w *world) dataFolder() string {
	w.Helper()
	found, _ := filepath.Glob(filepath.Join(w.around, "data", "lore", "*", "state.db"))
	if len(found) != 1 {
		w.Fatal(found)
	}
	return filepath.Dir(found[0])
}

// copyFolder makes to what from is. Files of locks and sockets are left alone.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	for _, dir := range []string{to} {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.Type().IsRegular() {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	list, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if !e.Type().IsRegular() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, e.Name())
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
}

var _ = db.IsCorrupt // its import names the driver

var anyClient = &http.Client{Timeout: 20 * time.Second}

func newPost(url, body, token string) (*http.Request, error) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}
