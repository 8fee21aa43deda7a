package attacks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// peak is the most memory that a process has had, in megabytes.
func (w *world) peak(pid int) int { return w.peakIn(fmt.Sprintf("/proc/%d/status", pid)) }

// peakIn is what the status of a process tells of it. What the system tells the
// parent of an ended process may be the size of the parent itself, from which it began.
func (w *world) peakIn(status string) int {
	w.Helper()
	b, err := os.ReadFile(status)
	if err != nil {
		w.Skip("the memory of a process is not told here: ", err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err != nil {
				w.Fatal(err)
			}
			return kb >> 10
		}
	}
	w.Fatal("no VmHWM")
	return 0
}

// maxMemory is how many megabytes a process of Lore may take, whatever it is
// sent or finds.
const maxMemory = 500

// J09: a question of a megabyte is refused by its length, on every surface, and
// costs nothing.
func TestLongQuestionsAreRefused(t *testing.T) {
	w := newWorld(t, nil)
	hands := w.hands()
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		for _, text := range []string{strings.Repeat("a", size), strings.Repeat("a ", size/2), strings.Repeat("-a ", size/3), strings.Repeat("字", size/3), strings.Repeat("a-b ", size/4)} {
			for _, tool := range []string{"vault_search", "search_notes"} {
				args, _ := json.Marshal(map[string]string{"query": text})
				for _, h := range hands {
					if h.name == "command" && size > 100_000 {
						continue // the system refuses such a command
					}
					if a := h.call(tool, string(args)); !a.refused || !a.has("2,000") || len(a.text) > 5000 {
						t.Errorf("%s, %s of %d bytes: refused %v: %.300s", h.name, tool, size, a.refused, a.text)
					}
				}
			}
		}
	}
	if mb := w.peak(w.server.Process.Pid); mb > maxMemory {
		t.Errorf("the server took %d MB", mb)
	}
}

// J10: whatever notes are made of, indexing takes memory in proportion to them.
func TestNotesOfManyParts(t *testing.T) {
	// All shapes take minutes: without TORTURE, the one that once took 2 GB stands for all.
	long(t)
	const size = 5 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	keys, foot := strings.Builder{}, strings.Builder{}
	keys.WriteString("---\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&keys, "k%d: v\n", i)
	}
	keys.WriteString("---\n")
	for i := range 100_000 {
		fmt.Fprintf(&foot, "a[^%d]\n\n[^%d]: b\n\n", i, i)
	}
	for _, c := range []struct{ name, text, problem string }{
		{"wikilinks", fill("[[a]]"), "more than 20,000 links"},
		{"different wikilinks", different("[[n%d]] "), "more than 20,000 links"},
		{"tags", fill("#a "), "more than 20,000 tags"},
		{"different tags", different("#t%d "), "more than 20,000 tags"},
		{"tasks", fill("- [ ] x\n"), "more than 20,000 tasks"},
		{"headings", fill("# h\n"), "more than 20,000 headings"},
		{"links", fill("[a](b) "), "more than 20,000 links"},
		{"embeds", fill("![[a]]"), "more than 20,000 links"},
		{"fields", fill("a:: b\n"), "more than 20,000 fields"},
		{"blocks", fill("a ^b\n\n"), "more than 20,000 block ids"},
		{"relations", "## Relations\n" + fill("- supports [[a]]\n"), "more than 20,000 links"},
		{"keys", keys.String(), ""},
		{"open", fill("[["), ""},
		{"quotes", strings.Repeat(">", 10_000) + " a\n" + strings.Repeat("> ", 10_000) + "a\n", ""},
		{"lists", strings.Repeat("- ", 10_000) + "a\n", ""},
		{"one line", fill("word "), ""},
		{"one word", strings.Repeat("a", 20<<20), ""},
		{"footnotes", foot.String(), ""},
		{"empty paragraphs", fill("a\n\n"), ""},
	} {
		if !whole() && c.name != "wikilinks" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			w := &world{T: t, around: t.TempDir(), tokens: map[string]string{}}
			w.vault = filepath.Join(w.around, "vault")
			for i := range 4 {
				w.put(fmt.Sprintf("vault/N%d.md", i), c.text)
			}
			w.env = append(os.Environ(), "ATTACKED=1", "HOME="+filepath.Join(w.around, "home"), "XDG_DATA_HOME="+filepath.Join(w.around, "data"), "LORE_LIMITS_WAIT=60",
				"XDG_CONFIG_HOME="+filepath.Join(w.around, "config"), "LORE_VAULT="+w.vault, "LORE_EMBED_MODEL=none", "NO_COLOR=1", "LORE_KEYRING=off",
				"ATTACKED_STATUS="+filepath.Join(w.around, "status"))
			var out bytes.Buffer
			for _, args := range [][]string{{"index"}, {"call", "vault_health", "{}"}, {"call", "list_backlinks", `{"path":"N0.md"}`}, {"call", "find_broken_links", "{}"}, {"doctor"}} {
				cmd := w.command(args...)
				cmd.Stdout, cmd.Stderr = &out, &out
				_ = cmd.Run() // doctor tells problems by its status
				mb := w.peakIn(filepath.Join(w.around, "status"))
				_ = os.Remove(filepath.Join(w.around, "status"))
				t.Logf("%s: %d MB, %s of work", strings.Join(args, " "), mb, cmd.ProcessState.UserTime())
				if mb > maxMemory {
					t.Errorf("%s took %d MB", strings.Join(args, " "), mb)
				}
			}
			if !strings.Contains(out.String(), c.problem) {
				t.Errorf("nothing says %q:\n%.2000s", c.problem, out.String())
			}
		})
	}
}

// different repeats a form with numbers until it is as large as a large note.
func different(form string) string {
	var b strings.Builder
	for i := 0; b.Len() < 5<<20; i++ {
		fmt.Fprintf(&b, form, i)
	}
	return b.String()
}

// J13: a token sees the arguments, summaries, targets and diffs of its own calls
// only, whichever way it asks.
func TestActivityOfOthers(t *testing.T) {
	w := newWorld(t, nil)
	secret := "word" + w.canary[6:18]
	own := "mine" + w.canary[6:18]
	status, _, body := w.post("/api/v1/tools/write_note", fmt.Sprintf(`{"path":"Hidden/%s.md","content":"%s"}`, secret, secret), w.tokens["all"])
	id := judged(body, false).pending
	if status >= 300 {
		t.Fatal(status, body)
	}
	if id != "" {
		w.answer(w.person, id, `{"approve":true}`, "")
	}
	if status, _, body := w.post("/api/v1/tools/vault_search", fmt.Sprintf(`{"query":"%s"}`, secret), w.tokens["all"]); status != 200 {
		t.Fatal(body)
	}
	if status, _, body := w.post("/api/v1/tools/write_note", fmt.Sprintf(`{"path":"Pending/%s.md","content":"%s"}`, secret, secret), w.tokens["all"]); status >= 300 {
		t.Fatal(body)
	}
	if status, _, body := w.post("/api/v1/tools/vault_search", fmt.Sprintf(`{"query":"%s"}`, own), w.tokens["read"]); status != 200 {
		t.Fatal(body)
	}
	var list struct {
		Activity []struct {
			Operation string `json:"operation_id"`
		} `json:"activity"`
	}
	head := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	_, _, body = w.send(http.DefaultClient, http.MethodGet, "/api/v1/activity?limit=50", "", head(w.tokens["all"]))
	if !strings.Contains(body, secret) {
		t.Fatalf("who called does not see the own arguments: %s", body)
	}
	_ = json.Unmarshal([]byte(body), &list)
	operation := ""
	for _, c := range list.Activity {
		if c.Operation != "" {
			operation = c.Operation
		}
	}
	web := w.connect(w.streamable("/mcp/x/all", w.tokens["read"]))
	looks := map[string]func() string{}
	for _, path := range []string{"/activity?limit=50", "/activity?path=Hidden", "/activity?tool=write_note", "/approvals?state=all", "/operations/" + operation, "/operations/last", "/status"} {
		looks[path] = func() string {
			_, _, body := w.send(http.DefaultClient, http.MethodGet, "/api/v1"+path, "", head(w.tokens["read"]))
			return body
		}
	}
	for _, call := range [][2]string{{"get_activity", `{"limit":50}`}, {"get_activity", `{"path":"Hidden"}`}, {"get_operation", `{"operation":"` + operation + `"}`}, {"get_operation", `{}`}, {"list_pending_operations", `{}`}} {
		looks["mcp "+call[0]+call[1]] = func() string { return w.overMCP(web, call[0], call[1]).text }
	}
	for name, look := range looks {
		if text := look(); strings.Contains(text, secret) {
			t.Errorf("%s tells what another token did: %.1500s", name, text)
		}
	}
	if text := looks["/activity?limit=50"](); !strings.Contains(text, own) {
		t.Errorf("the own calls are left out: %s", text)
	}
	if _, _, body := w.send(w.person, http.MethodGet, "/api/v1/activity?limit=50", "", nil); !strings.Contains(body, secret) {
		t.Errorf("a person does not see everything: %s", body)
	}
}

// J15: what is protected is protected when the answer comes, in every process.
func TestProtectedAtOnce(t *testing.T) {
	for _, name := range []string{"server", "beside"} { // one holds the vault, the other leans
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			hands := w.hands()
			for i := range 5 {
				folder := fmt.Sprintf("Locked%d", i)
				for _, h := range hands {
					h.call("write_note", fmt.Sprintf(`{"path":"%s/%s.md","content":"x"}`, folder, strings.ReplaceAll(h.name, " ", "")))
				}
				body, _ := json.Marshal(map[string][]string{"protected": {folder + "/**"}, "exclude": {"Gone" + folder + "/**"}})
				status, _, text := w.send(w.person, http.MethodPost, "/api/v1/settings/paths", string(body), http.Header{"Content-Type": {"application/json"}, "Origin": {w.base}})
				if status != http.StatusOK {
					t.Fatal(status, text)
				}
				for _, h := range hands {
					if h.name == "command" {
						continue // a person
					}
					if a := h.call("write_note", fmt.Sprintf(`{"path":"%s/after%s.md","content":"x"}`, folder, strings.ReplaceAll(h.name, " ", ""))); !a.refused || !a.has("protected") {
						t.Errorf("%d, %s: refused %v: %.300s", i, h.name, a.refused, a.text)
					}
				}
			}
		})
	}
}

// J17: /mcp takes neither large batches, nor long names, nor keys that stand twice.
func TestMessagesOfMCP(t *testing.T) {
	w := newWorld(t, nil)
	long := strings.Repeat("m", 1<<20)
	one := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	deep := strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70)
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i+1)
		}
		return "[" + b.String()[1:] + "]"
	}
	cases := map[string]string{
		"batch of 10,000":       many(10_000),
		"batch of 51":           many(51),
		"method of a megabyte":  `{"jsonrpc":"2.0","id":1,"method":"` + long + `"}`,
		"id of a megabyte":      `{"jsonrpc":"2.0","id":"` + long + `","method":"tools/list"}`,
		"method twice":          `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"ping"}`,
		"method in two cases":   `{"jsonrpc":"2.0","id":1,"method":"tools/list","METHOD":"ping"}`,
		"escaped twin":          `{"jsonrpc":"2.0","id":1,"method":"tools/list","meth\u006fd":"ping"}`,
		"id twice":              `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}`,
		"params twice":          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note"},"params":{"name":"delete_note"}}`,
		"name twice":            `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","name":"delete_note","arguments":{}}}`,
		"name in two cases":     `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","Name":"delete_note","arguments":{}}}`,
		"arguments in two":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","arguments":{"path":"Tea.md"},"Arguments":{"path":"Milk.md"}}}`,
		"too deep":              `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":` + deep + `}`,
		"name of a megabyte":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + long + `","arguments":{}}}`,
		"uri of a megabyte":     `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + long + `"}}`,
		"prompt of a megabyte":  `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"` + long + `"}}`,
		"argument name, prompt": `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"` + long + `","value":"` + long + `"}}}`,
	}
	for _, version := range []string{"", "2025-03-26", "2025-06-18", "2026-07-28"} {
		head := w.mcpHead("all", "")
		if version != "" {
			head.Set("Mcp-Protocol-Version", version)
		}
		for name, body := range cases {
			status, _, text := w.send(http.DefaultClient, http.MethodPost, "/mcp", body, head)
			if status == http.StatusUnauthorized {
				t.Fatalf("the token is not known: %s", text)
			}
			if refused := status >= 400 || strings.Contains(text, `"error"`) || strings.Contains(text, `"isError":true`); !refused || len(text) > 4000 {
				t.Errorf("%s (%s): status %d, %d bytes: %.300s", name, version, status, len(text), text)
			}
		}
	}
	if status, _, text := w.send(http.DefaultClient, http.MethodPost, "/mcp", "["+one+"]", w.versioned("2025-06-18")); status < 400 {
		t.Errorf("a batch where there are none: %d %s", status, text)
	}
	for _, h := range []string{"Mcp-Session-Id", "Last-Event-Id", "Idempotency-Key", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		head := w.mcpHead("all", "")
		head.Set(h, strings.Repeat("k", 5000))
		if status, _, text := w.send(http.DefaultClient, http.MethodPost, "/mcp", one, head); status < 400 || status >= 500 || len(text) > 4000 {
			t.Errorf("%s of 5,000 characters: %d %.300s", h, status, text)
		}
	}
	if mb := w.peak(w.server.Process.Pid); mb > maxMemory {
		t.Errorf("the server took %d MB", mb)
	}
}

func (w *world) versioned(version string) http.Header {
	head := w.mcpHead("all", "")
	head.Set("Mcp-Protocol-Version", version)
	return head
}

// A caller that is too fast is told so in the words of its protocol, and the one
// beside it is not slowed down.
func TestTooFast(t *testing.T) {
	w := newWorld(t, func(w *world) { w.env = append(w.env, "LORE_LIMITS_CALLS=5") })
	status, head, body := 0, http.Header(nil), ""
	for range 7 {
		status, head, body = w.post("/api/v1/tools/read_note", `{"path":"Tea.md"}`, w.tokens["all"])
	}
	if n, err := strconv.Atoi(head.Get("Retry-After")); status != http.StatusTooManyRequests || err != nil || n < 1 || n > 60 || !strings.Contains(body, "rate_limited") {
		t.Errorf("%d, Retry-After %q: %s", status, head.Get("Retry-After"), body)
	}
	if status, _, body := w.post("/api/v1/tools/read_note", `{"path":"Tea.md"}`, w.tokens["other"]); status != http.StatusOK {
		t.Errorf("another token is slowed down: %d %s", status, body)
	}
	web := w.connect(w.streamable("/mcp", w.tokens["all"]))
	for range 7 {
		if a := w.overMCP(web, "read_note", `{"path":"Tea.md"}`); a.refused && a.has("rate_limited") {
			return
		}
	}
	t.Error("MCP has no limit")
}

// The switch that makes a tool a change is found however its name is written.
func TestSwitchInDisguise(t *testing.T) {
	w := newWorld(t, func(w *world) { w.env = append(w.env, "LORE_LIMITS_CHANGES=3") })
	for _, key := range []string{"auto_link", `auto\u005flink`, `\u0061uto_link`} {
		last := 0
		for range 8 {
			last, _, _ = w.post("/api/v1/tools/find_related_nodes", `{"node_id":"Tea.md","`+key+`":true}`, w.tokens["all"])
		}
		if last != http.StatusTooManyRequests {
			t.Errorf("%s counts as a read: %d", key, last)
		}
	}
}

// Every string argument of every tool with a megabyte, every list with 100,000
// items: refused clearly or done, and the server goes on in bounded memory.
func TestEveryArgumentIsBounded(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	_, _, body := w.send(http.DefaultClient, http.MethodGet, "/api/v1/tools", "", http.Header{"Authorization": {"Bearer " + w.tokens["all"]}})
	var all struct {
		Tools []struct {
			Name  string                     `json:"name"`
			Input map[string]json.RawMessage `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal([]byte(body), &all); err != nil || len(all.Tools) < 20 {
		t.Fatal(err, body)
	}
	type field struct {
		Type       string           `json:"type"`
		Items      *field           `json:"items"`
		Enum       []string         `json:"enum"`
		Properties map[string]field `json:"properties"`
	}
	megabyte, deep := strings.Repeat("a", 1<<20), json.RawMessage(strings.Repeat(`[`, 100)+strings.Repeat(`]`, 100))
	var value func(f field, large bool) any
	value = func(f field, large bool) any {
		switch f.Type {
		case "string":
			if large {
				return megabyte
			}
			if len(f.Enum) > 0 {
				return f.Enum[0]
			}
			return "Tea.md"
		case "array":
			n := 1
			if large {
				n = 100_000
			}
			out := make([]any, n)
			for i := range out {
				out[i] = "a" + strconv.Itoa(i)
				if f.Items != nil && f.Items.Type != "string" {
					out[i] = value(*f.Items, false)
				}
			}
			return out
		case "object":
			out := map[string]any{}
			if large && len(f.Properties) == 0 {
				for i := range 100_000 {
					out["k"+strconv.Itoa(i)] = "v"
				}
			}
			for name, p := range f.Properties {
				out[name] = value(p, large && (p.Type == "string" || p.Type == "array"))
			}
			return out
		case "integer", "number":
			if large {
				return 1_000_000_000
			}
			return 1
		case "boolean":
			return false
		}
		if large {
			return deep
		}
		return "x"
	}
	for i, tool := range all.Tools {
		if !whole() && i%6 != 0 {
			continue
		}
		var properties map[string]field
		_ = json.Unmarshal(tool.Input["properties"], &properties)
		var required []string
		_ = json.Unmarshal(tool.Input["required"], &required)
		for name, p := range properties {
			if p.Type == "boolean" || p.Type == "integer" || p.Type == "number" {
				continue // they have no size
			}
			args := map[string]any{}
			for _, r := range required {
				args[r] = value(properties[r], false)
			}
			args[name] = value(p, true)
			b, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			status, _, text := w.post("/api/v1/tools/"+tool.Name, string(b), w.tokens["all"])
			if took := time.Since(begin); took > time.Second {
				t.Logf("%s, %s, %d bytes: %d after %s: %.100s", tool.Name, name, len(b), status, took, text)
			}
			switch {
			case status >= 500 && status != http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
				t.Errorf("%s, %s: %d %.300s", tool.Name, name, status, text)
			case status >= 400 && len(text) > 20_000:
				t.Errorf("%s, %s: the refusal has %d bytes", tool.Name, name, len(text))
			}
		}
	}
	if status, _, text := w.post("/api/v1/tools/read_note", `{"path":"Tea.md"}`, w.tokens["all"]); status != http.StatusOK {
		t.Errorf("the server does not answer any more: %d %s", status, text)
	}
	mb := w.peak(w.server.Process.Pid)
	t.Logf("%d tools, %d MB", len(all.Tools), mb)
	if mb > maxMemory {
		t.Errorf("the server took %d MB", mb)
	}
}

// whole reports whether the long matrices are run as a whole, as make torture
// does, or a part of them that changes nothing about what each proves.
func whole() bool { return os.Getenv("TORTURE") != "" }
