//go:build clients

package clients

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A raw client sends what it likes, as no good client would.
type raw struct {
	t       *testing.T
	url     string
	token   string
	version string
	session string
}

// An answer of the server.
type reply struct {
	Result struct {
		ResultType   string
		RequestState string
		IsError      bool
	}
	Error *struct {
		Code    int
		Message string
	}
}

// send sends one request and reads the last message of the answer.
func (c *raw) send(method, name string, params map[string]any) reply {
	c.t.Helper()
	if c.version == modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    modern,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}},
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Authorization": "Bearer " + c.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": c.version, "Mcp-Method": method, "Mcp-Name": name, "Mcp-Session-Id": c.session,
	} {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	text := string(b)
	for l := range strings.Lines(string(b)) {
		if data, ok := strings.CutPrefix(l, "data: "); ok {
			text = data
		}
	}
	var out reply
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		c.t.Fatalf("%s: %v in %q", res.Status, err, b)
	}
	return out
}

// The versions of the two eras.
const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// TestForgedStates: what a client carries from our question to its answer is
// believed only as it was given, to whom it was given, for the same call, once.
func TestForgedStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve()
	mine := &raw{t: t, url: s.Address + "/mcp", token: w.token("read,write,confirm"), version: modern}
	other := *mine
	other.token = w.token("read,write,destroy,confirm")
	call := func(c *raw, path, state string) reply {
		params := map[string]any{"name": "write_note", "arguments": map[string]any{"path": path, "content": "hello\n"}}
		if state != "" {
			params["requestState"] = state
			params["inputResponses"] = map[string]any{"confirm": map[string]any{"action": "accept", "content": map[string]any{"confirm": true}}}
		}
		return c.send("tools/call", "write_note", params)
	}
	const path = "New.md"
	asked := call(mine, path, "")
	state := asked.Result.RequestState
	if asked.Result.ResultType != "input_required" || state == "" {
		t.Fatalf("not asked: %+v", asked)
	}
	flipped := []byte(state)
	flipped[len(flipped)/4] ^= 1
	for _, c := range []struct {
		name  string
		who   *raw
		path  string
		state string
	}{
		{"a byte is another", mine, path, string(flipped)},
		{"something is added", mine, path, state + "x"},
		{"the code is cut off", mine, path, state[:strings.Index(state, ".")]},
		{"made up", mine, path, "yes"},
		{"for another note", mine, "Other.md", state},
		{"of another caller", &other, path, state},
	} {
		if r := call(c.who, c.path, c.state); r.Error == nil || r.Error.Code != -32602 {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	if w.read(path) != "" || w.read("Other.md") != "" {
		t.Fatal("a note was written")
	}
	if r := call(mine, path, state); r.Error != nil || r.Result.IsError || w.read(path) != "hello\n" {
		t.Fatalf("the true state: %+v", r)
	}
	if err := os.Remove(filepath.Join(w.vault, path)); err != nil {
		t.Fatal(err)
	}
	if r := call(mine, path, state); w.read(path) != "" {
		t.Errorf("the same state twice: %+v", r)
	}

	// A client of the older era has no states: the server asks by itself.
	old := *mine
	old.version = legacy
	old.send("initialize", "", map[string]any{"protocolVersion": legacy, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "raw", "version": "1"}})
	for _, st := range []string{state, "yes"} {
		if r := call(&old, path, st); w.read(path) != "" || st == "yes" && r.Error == nil {
			t.Errorf("the state %.5s in the older era: %+v", st, r)
		}
	}
}
