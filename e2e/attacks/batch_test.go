package attacks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// batch puts calls into one of run_batch.
func batch(calls ...string) string {
	var list []string
	for _, c := range calls {
		tool, args, _ := strings.Cut(c, " ")
		if args == "" {
			args = "{}"
		}
		list = append(list, fmt.Sprintf(`{"tool":%q,"arguments":%s}`, tool, args))
	}
	return `{"calls":[` + strings.Join(list, ",") + `]}`
}

// TestABatchIsNoWayRound: what a caller cannot do alone, it cannot do in a batch:
// tools that are off, protected folders, other servers, commands, files outside, and
// rights that a token lacks. Nor does one call that is allowed take another along.
func TestABatchIsNoWayRound(t *testing.T) {
	long(t)
	w := newWorld(t, func(w *world) {
		w.put("config/lore/config.toml", "[approve]\ncreate = \"allow\"\n[tools]\nfiles = \"allow\"\ndelete_note = \"off\"\nrename_note = \"ask\"\nrun_batch = \"allow\"\n")
		w.put("vault/AGENTS.md", "mine\n")
	})
	before := w.snapshot(true)
	harmless := `read_note {"path":"Tea.md"}`
	for _, h := range w.hands() {
		person := h.name == "command"
		for _, c := range []string{
			`delete_note {"path":"Milk.md"}`,
			`run_command {"command":"touch pwned"}`,
			`mcp__some__tool {"x":1}`,
			`run_batch {"calls":[{"tool":"read_note","arguments":{"path":"Tea.md"}}]}`,
			`undo {}`,
			`task_complete {"summary":"x"}`,
			`write_file {"path":"../secret.txt","content":"pwned"}`,
			`read_file {"path":"../secret.txt"}`,
			`write_note {"path":".obsidian/x.md","content":"pwned"}`,
			`write_note {"path":"AGENTS.md","content":"pwned","mode":"overwrite"}`,
			`missing_notes {"accept":true}`,
		} {
			if person && (strings.Contains(c, "AGENTS") || strings.HasPrefix(c, "missing")) {
				continue
			}
			if a := h.call("run_batch", batch(c)); !a.refused || a.pending != "" || a.has(w.canary) {
				t.Errorf("%s: %s: %.300s", h.name, c, a.text)
			}
			a := h.call("run_batch", batch(harmless, c))
			if a.pending != "" || a.has(w.canary) || !a.has(`"failed":1`) && !a.has(`"failed": 1`) {
				t.Errorf("%s: %s beside a harmless call: %.400s", h.name, c, a.text)
			}
		}
		// Each call is judged as if it were alone: a rename asks, and a batch of
		// which one call asks is asked about.
		if a := h.call("run_batch", batch(`rename_note {"path":"Milk.md","new_path":"Cream.md"}`, harmless)); a.pending == "" {
			t.Errorf("%s: a rename was not asked about: %.300s", h.name, a.text)
		}
	}
	w.unchanged(before, true)
	status, _, body := w.post("/api/v1/tools/run_batch", batch(`write_note {"path":"N.md","content":"x"}`), w.tokens["read"])
	if status < 400 {
		t.Errorf("a token that may only read writes in a batch: %s", body)
	}
	if _, _, body := w.post("/api/v1/tools/run_batch", batch(harmless), w.tokens["read"]); !strings.Contains(body, "Green.") {
		t.Errorf("a token that may read cannot read in a batch: %s", body)
	}
	w.unchanged(before, true)
	w.silent()
}

// TestABatchHeedsProtection: a protected folder is refused in a batch, and nothing of
// a batch that must be whole is done.
func TestABatchHeedsProtection(t *testing.T) {
	w := newWorld(t, func(w *world) {
		w.put("vault/Locked/Safe.md", "locked\n")
		w.put("config/lore/config.toml", "[approve]\ncreate = \"allow\"\n[vaults."+fmt.Sprintf("%q", w.vault)+"]\nprotected = [\"Locked/**\"]\n")
	})
	before := w.snapshot(true)
	write := `write_note {"path":"Locked/New.md","content":"x"}`
	for _, h := range w.hands() {
		if h.name == "command" {
			continue // a person
		}
		if a := h.call("run_batch", batch(write)); !a.refused || !a.has("protected") {
			t.Errorf("%s: %.300s", h.name, a.text)
		}
		whole := strings.TrimSuffix(batch(`write_note {"path":"Free.md","content":"x"}`, write), "}") + `,"all_or_nothing":true}`
		if !json.Valid([]byte(whole)) {
			t.Fatal(whole)
		}
		if a := h.call("run_batch", whole); !a.refused || !a.has("nothing was changed") {
			t.Errorf("%s: %.300s", h.name, a.text)
		}
	}
	w.unchanged(before, true)
}

// TestABatchSharesNothing: J18 in a batch. What is not shared with a caller cannot be
// seen by putting the call into one.
func TestABatchSharesNothing(t *testing.T) {
	long(t)
	w := private(t, "ask")
	shows := func(a answer, args string) bool {
		return a.has(w.canary) || a.has("the password") || a.has("Private/") && !strings.Contains(args, "Private")
	}
	for to, hands := range map[string][]hand{"token:": w.apps()[:1], "app:": w.apps()[1:2]} {
		for _, h := range hands {
			if a := h.call("run_batch", batch(probes[0].tool+" "+probes[0].args)); shows(a, "") || a.pending == "" {
				t.Errorf("%s: before anybody was asked: %.300s", h.name, a.text)
			}
		}
		id, _ := w.pendingShare(to)
		if status, body := w.answer(w.person, id, `{"approve":true,"paths":["Notes/"]}`, ""); status >= 300 {
			t.Fatalf("%s: %d %s", to, status, body)
		}
	}
	for _, h := range w.apps() {
		for _, p := range probes {
			args := strings.Replace(strings.Replace(p.args, `,"dry_run":true`, "", 1), `"dry_run":true`, "", 1)
			dry := strings.TrimSuffix(batch(p.tool+" "+args, `list_tags {}`), "}") + `,"dry_run":true}`
			if a := h.call("run_batch", dry); shows(a, p.args) && p.tool != "get_activity" {
				t.Errorf("%s: %s %s: %.400s", h.name, p.tool, p.args, a.text)
			}
		}
	}
}

// TestAWorkflowIsAllowedByItsText: a program that can write notes cannot make itself
// a workflow that runs, nor change one that a person has allowed.
func TestAWorkflowIsAllowedByItsText(t *testing.T) {
	long(t)
	w := newWorld(t, func(w *world) {
		w.put("config/lore/config.toml", "[approve]\ncreate = \"allow\"\n[tools]\nautomation = \"allow\"\nwrite_note = \"allow\"\nwrite_file = \"allow\"\nupdate_frontmatter = \"allow\"\n")
		w.put("vault/Workflows/Good.yaml", "steps:\n  - tool: update_frontmatter\n    arguments: {path: Tea.md, updates: {seen: true}}\n")
	})
	evil := "```yaml\\nsteps:\\n  - tool: write_note\\n    arguments: {path: Tea.md, content: pwned, mode: append}\\n```\\n"
	tea := func() string {
		text, err := os.ReadFile(filepath.Join(w.vault, "Tea.md"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for i, h := range w.hands() {
		if h.name == "command" {
			continue // a person
		}
		name := fmt.Sprintf("Evil%d", i)
		h.call("write_note", fmt.Sprintf(`{"path":"Workflows/%s.md","content":"%s"}`, name, evil))
		a := h.call("run_workflow", fmt.Sprintf(`{"workflow":%q}`, name))
		if a.pending == "" || strings.Contains(tea(), "pwned") {
			t.Fatalf("%s: a workflow that nobody allowed: %.300s", h.name, a.text)
		}
		if b := h.call("run_batch", batch(fmt.Sprintf(`run_workflow {"workflow":%q}`, name))); !b.refused {
			t.Errorf("%s: a workflow in a batch: %.300s", h.name, b.text)
		}
		if status, body := w.answer(w.person, a.pending, `{"approve":false}`, ""); status >= 300 {
			t.Fatal(status, body)
		}
	}
	// A person allows one; then its file is changed behind their back.
	h := w.apps()[0]
	a := h.call("run_workflow", `{"workflow":"Good"}`)
	w.put("vault/Workflows/Good.yaml", "steps:\n  - tool: write_note\n    arguments: {path: Tea.md, content: pwned, mode: append}\n")
	if status, body := w.answer(w.person, a.pending, `{"approve":true,"revision":0}`, ""); status >= 300 || strings.Contains(tea(), "pwned") || strings.Contains(tea(), "seen") {
		t.Fatalf("%d: another text than the one that was shown: %s", status, body)
	}
	if _, _, body := w.send(w.person, http.MethodGet, "/api/v1/approvals/"+a.pending, "", nil); !strings.Contains(body, "pwned") || !strings.Contains(body, `"pending"`) {
		t.Errorf("the new text is not asked about: %.600s", body)
	}
	w.put("vault/Workflows/Good.yaml", "steps:\n  - tool: update_frontmatter\n    arguments: {path: Tea.md, updates: {seen: true}}\n")
	a = h.call("run_workflow", `{"workflow":"Good"}`)
	if status, body := w.answer(w.person, a.pending, `{"approve":true,"revision":0}`, ""); status >= 300 || !strings.Contains(tea(), "seen: true") {
		t.Fatalf("%d: what was allowed did not run: %s", status, body)
	}
	w.put("vault/Workflows/Good.yaml", "steps:\n  - tool: write_note\n    arguments: {path: Tea.md, content: pwned again, mode: append}\n")
	if a := h.call("run_workflow", `{"workflow":"Good"}`); a.pending == "" || strings.Contains(tea(), "pwned again") {
		t.Errorf("a changed workflow ran: %.300s", a.text)
	}
	w.silent()
}
