package attacks

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tricks are calls whose arguments try to be read in two ways, or to cost much. A
// function: every lore process of these tests is this program, and would make them.
func tricks() map[string][2]string {
	return map[string][2]string{
		"twice":             {"write_note", `{"path":"New.md","path":"Other.md","content":"x"}`},
		"twice, escaped":    {"write_note", `{"path":"New.md","p\u0061th":"Other.md","content":"x"}`},
		"in another case":   {"write_note", `{"path":"New.md","Path":"Other.md","content":"x"}`},
		"only another case": {"write_note", `{"PATH":"New.md","content":"x"}`},
		"switch, escaped":   {"create_node", `{"type":"Claim","title":"New","content":"x","auto\u005flink":true}`},
		"text as number":    {"vault_search", `{"query":"tea","limit":"many"}`},
		"number as text":    {"vault_search", `{"query":"tea","limit":"1e309"}`}, // bounded, and told
		"nested":            {"write_note", `{"path":"New.md","content":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`},
		"50 MB":             {"write_note", `{"path":"New.md","content":"` + strings.Repeat("x", 50<<20) + `"}`},
	}
}

// TestTricksOverStdio: every trick is answered with a refusal or a question, and the
// next message is answered as ever.
func TestTricksOverStdio(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	before := w.snapshot(true)
	cmd := w.stdio("--toolsets", "all")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	replies := bufio.NewReader(out)
	say := func(line string) string {
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		for { // news come between
			reply, err := replies.ReadString('\n')
			if err != nil {
				t.Fatalf("it is gone: %v %.300s", err, w.heard())
			}
			if strings.Contains(reply, `"id"`) {
				return reply
			}
		}
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	if _, err := in.Write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")); err != nil {
		t.Fatal(err)
	}
	for name, c := range tricks() {
		reply := say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + c[0] + `","arguments":` + c[1] + `}}`)
		if !strings.Contains(reply, `"error"`) && !strings.Contains(reply, `"isError":true`) && !strings.Contains(reply, "pending_confirmation") && !strings.Contains(reply, "above the maximum") {
			t.Errorf("%s was done: %.500s", name, reply)
		}
		if len(reply) > 20_000 {
			t.Errorf("%s: the answer has %d bytes", name, len(reply))
		}
		if reply := say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_note","arguments":{"path":"Tea.md"}}}`); !strings.Contains(reply, "Green.") {
			t.Errorf("after %s: %.500s", name, reply)
		}
	}
	w.unchanged(before, true)
	if mb := w.peak(cmd.Process.Pid); mb > maxMemory {
		t.Errorf("it took %d MB", mb)
	}
}

// TestTricksOverTheSocket: the same for the socket by which processes of one user
// share a vault.
func TestTricksOverTheSocket(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	before := w.snapshot(true)
	found, _ := filepath.Glob(filepath.Join(w.around, "data", "lore", "*", "holder.json"))
	if len(found) != 1 {
		t.Fatalf("nobody holds the vault: %v", found)
	}
	b, err := os.ReadFile(found[0])
	var card struct{ Socket string }
	if err != nil || json.Unmarshal(b, &card) != nil || card.Socket == "" {
		t.Fatalf("%v %s", err, b)
	}
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", card.Socket)
	}}}
	base := w.base
	w.base = "http://lore"
	defer func() { w.base = base }()
	call := func(tool, args string) (int, string) {
		status, _, body := w.send(c, http.MethodPost, "/call", `{"who":{"kind":"mcp","id":"stdio","surface":"mcp","scopes":["read","write"]},"tool":"`+tool+`","args":`+args+`}`, nil)
		return status, body
	}
	all := tricks()
	all["70 MB"] = [2]string{"write_note", `{"path":"New.md","content":"` + strings.Repeat("x", 70<<20) + `"}`}
	for name, k := range all {
		status, body := call(k[0], k[1])
		if status < 400 && !strings.Contains(body, `"failure"`) && !strings.Contains(body, `"state":"pending"`) && !strings.Contains(body, "above the maximum") || len(body) > 20_000 {
			t.Errorf("%s: %d %.500s", name, status, body)
		}
		if status, body := call("read_note", `{"path":"Tea.md"}`); status != http.StatusOK || !strings.Contains(body, "Green.") {
			t.Errorf("after %s: %d %.500s", name, status, body)
		}
	}
	w.unchanged(before, true)
	if mb := w.peak(w.server.Process.Pid); mb > maxMemory {
		t.Errorf("the server took %d MB", mb)
	}
}
