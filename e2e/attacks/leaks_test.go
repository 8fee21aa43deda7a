package attacks

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestResultsAreTheRunsOwn: what a tool answered to the assistant is not read by
// a program that knows the number of the call.
func TestResultsAreTheRunsOwn(t *testing.T) {
	long(t)
	m := newEvil(t, wants("read_note", `{"path":"Private/Keys.md"}`), says("Read."))
	w := led(t, m, nil)
	w.run("--toolsets", "notes", "look at my keys")
	_, _, body := w.send(w.person, http.MethodGet, "/api/v1/chats", "", nil)
	var list struct{ Chats []struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Chats) == 0 {
		t.Fatalf("%v %s", err, body)
	}
	_, _, body = w.send(w.person, http.MethodGet, "/api/v1/chats/"+list.Chats[0].ID, "", nil)
	var one struct{ Runs []struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &one); err != nil || len(one.Runs) == 0 {
		t.Fatalf("%v %s", err, body)
	}
	if !strings.Contains(body, w.canary) {
		t.Fatalf("the note was not read: %s", body)
	}
	for _, h := range w.apps() {
		for _, seq := range []string{"0", "1", "2"} {
			if a := h.call("read_result", `{"id":"`+one.Runs[0].ID+`/`+seq+`"}`); a.has(w.canary) || !a.refused {
				t.Errorf("%s reads the result of a run: %.300s", h.name, a.text)
			}
		}
		if a := h.call("save_chat", `{"chat":"`+list.Chats[0].ID+`","path":"Got.md","dry_run":true}`); a.has(w.canary) || !a.refused {
			t.Errorf("%s saves a conversation: %.300s", h.name, a.text)
		}
	}
}

// TestNewsCountsNothingUnshared: a token that reads some folders does not learn
// from news or the state of the server how much there is beside them.
func TestNewsCountsNothingUnshared(t *testing.T) {
	long(t)
	w := sharing(t, func(w *world) {
		for i := range 37 {
			w.put("vault/Private/n"+string(rune('a'+i%26))+string(rune('a'+i/26))+".md", "# N\n")
		}
		w.put("config/lore/servers.json", `{"mcpServers":{"stranger":{"command":"/nowhere/`+w.canary+`"}}}`)
	})
	_, _, status := w.send(http.DefaultClient, http.MethodGet, "/api/v1/status", "", bearing(w.tokens["all"]))
	if strings.Contains(status, w.around) {
		t.Errorf("the status names a folder of the machine: %s", status)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = bearing(w.tokens["all"])
	req.Header.Set("Last-Event-ID", "0")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	topic, began := "", false
	for lines.Scan() {
		line := lines.Text()
		if !began {
			began = true
			w.send(w.person, http.MethodGet, "/api/v1/servers?try=1", "", nil)
			for i := range 5 {
				w.put("vault/Private/more"+string(rune('a'+i))+".md", "# More\n")
			}
			time.AfterFunc(time.Second, func() { w.put("vault/Notes/Seen.md", "# Seen\n") })
		}
		if t, ok := strings.CutPrefix(line, "event: "); ok {
			topic = t
		}
		if strings.HasPrefix(line, "data: ") && (strings.HasSuffix(topic, ".progress") && strings.Contains(line, "total") || topic == "server.changed") || strings.Contains(line, w.canary) || strings.Contains(line, w.around) {
			t.Errorf("%s is told: %s", topic, line)
		}
		if strings.Contains(line, "Notes/Seen.md") {
			return
		}
	}
	t.Fatalf("the news ended: %v", lines.Err())
}

// TestALimitedModelSeesNoOtherWork: a remote model that may read some folders
// learns nothing of the rest from the record of what others did.
func TestALimitedModelSeesNoOtherWork(t *testing.T) {
	long(t)
	asks := []string{
		"get_activity", `{"limit":200}`, "get_activity", `{"path":"Private"}`, "list_pending", `{}`, "get_operation", `{}`, "get_activity", `{"tool":"read_note"}`, "undo", `{"dry_run":true}`,
	}
	m := newEvil(t, wants("read_note", `{"path":"Notes/Cup.md"}`), wants(asks...), says("That is all."))
	w := newWorld(t, func(w *world) {
		w.put("config/lore/config.toml", "model = \"evil/x\"\n[approve]\nshare = \"ask\"\n[providers.evil]\nkind = \"openai\"\nbase_url = \""+m.URL+"\"\n")
		w.put("vault/Private/"+w.canary+".md", "# Keys\n\nthe password\n")
		w.put("vault/Notes/Cup.md", "# Cup\n\nA cup in the kitchen.\n")
	})
	w.lore("call", "read_note", `{"path":"Private/`+w.canary+`.md"}`)
	w.lore("call", "search_notes", `{"query":"`+w.canary+`"}`)
	w.lore("call", "edit_note", `{"path":"Private/`+w.canary+`.md","search":"nothing","replace":"`+w.canary+`"}`, "--yes")
	w.lore("call", "write_note", `{"path":"Private/New.md","content":"`+w.canary+`"}`, "--yes")
	w.lore("call", "delete_note", `{"path":"Private/`+w.canary+`.md"}`)
	out, _ := w.run("--toolsets", "notes,work", "look around")
	id, _ := w.pendingShare("model:")
	if id == "" {
		t.Fatalf("nobody was asked: %s", out)
	}
	if status, body := w.answer(w.person, id, `{"approve":true,"paths":["Notes/"]}`, ""); status >= 300 {
		t.Fatalf("%d %s", status, body)
	}
	heard := m.requests()
	for range 3000 { // the run goes on in the server
		if heard = m.requests(); len(heard) >= 3 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(heard) < 3 || !slices.ContainsFunc(heard, func(r request) bool {
		return strings.Contains(r.raw, `initiated_by`) && strings.Contains(r.raw, `next`)
	}) {
		t.Fatalf("the run did not go on: %d requests\n%s", len(heard), out)
	}
	for i, r := range heard {
		others := strings.ReplaceAll(r.raw, `\"path\":\"Private\"`, "") // its own argument, which the record of its own calls has
		if strings.Contains(r.raw, w.canary) || strings.Contains(others, "Private") {
			t.Errorf("request %d tells of a note that is not shared: %.6000s", i, r.raw)
		}
	}
}

// TestPromptsEndWithSharing: a client that may no longer read the notes that are
// prompts is not told of them.
func TestPromptsEndWithSharing(t *testing.T) {
	long(t)
	w := newWorld(t, func(w *world) {
		w.put("vault/Prompts/Plan.md", "---\ntitle: Plan\ndescription: "+w.canary+"\n---\nMake a plan for {{topic}}.\n")
	})
	s := w.connect(&sdk.CommandTransport{Command: w.stdio("--toolsets", "all")})
	list := func() string {
		res, err := s.ListPrompts(t.Context(), nil)
		b, _ := json.Marshal(res)
		return fmt.Sprint(string(b), err)
	}
	if got := list(); !strings.Contains(got, w.canary) {
		t.Fatalf("the prompt is not offered: %s", got)
	}
	if out, code := w.lore("share", "deny", "attacker"); code != 0 {
		t.Fatal(out)
	}
	if got := list(); strings.Contains(got, w.canary) {
		t.Errorf("still offered: %s", got)
	}
}
