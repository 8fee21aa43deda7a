package attacks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const yearly = "on: {schedule: '0 0 1 1 *', time_zone: UTC}\nallow: {paths: 'Log/**'}\nsteps:\n  - tool: write_note\n    arguments: {path: Log/Runs.md, content: ran, mode: append}\n"

// jobs is the file that remembers runs, and what it says of one workflow.
func (w *world) jobs(path string) (file string, last, finished time.Time, result string) {
	w.Helper()
	found, _ := filepath.Glob(filepath.Join(w.around, "data", "lore", "*", "state.db"))
	if len(found) != 1 {
		w.Fatal(found)
	}
	file = filepath.Join(filepath.Dir(found[0]), "schedule.json")
	var all map[string]struct {
		Last, Finished time.Time
		Result         string
	}
	if b, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(b, &all); err != nil {
			w.Fatal(err)
		}
	}
	return file, all[path].Last, all[path].Finished, all[path].Result
}

// kill ends the server as a power cut would.
func (w *world) kill() {
	w.Helper()
	if err := w.server.Process.Kill(); err != nil {
		w.Fatal(err)
	}
	_ = w.server.Wait() // it was killed
}

// until waits for a condition.
func (w *world) until(what string, ok func() bool) {
	w.Helper()
	for range 6000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, last, finished, result := w.jobs("Workflows/Yearly.yaml")
	w.Fatalf("%s never happened: last %s, finished %s, %q\n%.2000s", what, last, finished, result, w.heard())
}

func (w *world) ran() int {
	b, err := os.ReadFile(filepath.Join(w.vault, "Log", "Runs.md"))
	if err != nil {
		return 0
	}
	return strings.Count(string(b), "ran")
}

// TestSchedulesSurviveAKill: a server that is killed at any moment makes an
// interrupted run again, once, and nothing that a person did not add.
func TestSchedulesSurviveAKill(t *testing.T) {
	long(t)
	const path = "Workflows/Yearly.yaml"
	w := newWorld(t, func(w *world) {
		w.put("vault/"+path, yearly)
		w.put("vault/Log/Runs.md", "# Runs\n")
	})
	_, _, body := w.send(w.person, "POST", "/api/v1/tools/add_schedule", `{"workflow":"Yearly"}`, map[string][]string{"Content-Type": {"application/json"}, "Origin": {w.base}})
	a := judged(body, false)
	if status, body := w.answer(w.person, a.pending, `{"approve":true}`, ""); status >= 300 {
		t.Fatal(status, body)
	}
	set := func(last, finished string) {
		file, _, _, _ := w.jobs(path)
		if err := os.WriteFile(file, []byte(`{"`+path+`":{"last":"`+last+`","finished":"`+finished+`"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settled := func() bool {
		_, last, finished, _ := w.jobs(path)
		return !last.IsZero() && !finished.Before(last) && last.Year() > 2024
	}
	// What was missed before a person added it is not made up for.
	w.kill()
	set("2023-01-02T00:00:00Z", "2023-01-02T00:00:01Z")
	w.serve()
	w.kill()
	if w.ran() != 0 {
		t.Fatalf("ran %d times before anything was due", w.ran())
	}
	for i := range 4 {
		// A run began, and the program was killed: at once, or while it runs.
		began := time.Now().UTC().Format(time.RFC3339Nano)
		set(began, "0001-01-01T00:00:00Z")
		w.serve()
		if i%2 == 1 {
			w.until("a run", func() bool {
				_, last, _, _ := w.jobs(path)
				return last.Format(time.RFC3339Nano) != began || w.ran() > i
			})
			w.kill()
			w.serve()
		}
		w.until("the end of a run", settled)
		w.kill()
		if w.ran() != i+1 {
			_, _, _, result := w.jobs(path)
			t.Fatalf("ran %d times after %d interrupted runs: %s", w.ran(), i+1, result)
		}
	}
	// A changed text does not run.
	w.put("vault/"+path, strings.Replace(yearly, "content: ran", "content: pwned", 1))
	set(time.Now().UTC().Format(time.RFC3339Nano), "0001-01-01T00:00:00Z")
	w.serve()
	if out, _ := w.lore("schedule", "list"); !strings.Contains(out, "changed") {
		t.Error(out)
	}
	if b, _ := os.ReadFile(filepath.Join(w.vault, "Log", "Runs.md")); strings.Contains(string(b), "pwned") {
		t.Error("a changed workflow ran by itself")
	}
}

// TestHooksRun: a file that somebody else writes triggers a workflow, and what the
// workflow writes triggers it no more.
func TestHooksRun(t *testing.T) {
	long(t)
	w := newWorld(t, func(w *world) {
		w.put("vault/Workflows/Hook.yaml", "on: {created: 'Inbox/**', changed: 'Log/**'}\nallow: {paths: 'Log/**'}\ninputs: {path: ''}\nsteps:\n  - tool: write_note\n    arguments: {path: Log/Runs.md, content: 'ran for {{ inputs.path }}', mode: append}\n")
		w.put("vault/Log/Runs.md", "# Runs\n")
	})
	_, _, body := w.send(w.person, "POST", "/api/v1/tools/add_schedule", `{"workflow":"Hook"}`, map[string][]string{"Content-Type": {"application/json"}, "Origin": {w.base}})
	if status, body := w.answer(w.person, judged(body, false).pending, `{"approve":true}`, ""); status >= 300 {
		t.Fatal(status, body)
	}
	w.put("vault/Inbox/One.md", "one")
	w.until("the first run", func() bool { return w.ran() == 1 })
	w.put("vault/Inbox/Two.md", "two")
	w.until("the second run", func() bool { return w.ran() >= 2 })
	if w.ran() != 2 {
		t.Errorf("ran %d times for two files", w.ran())
	}
}
