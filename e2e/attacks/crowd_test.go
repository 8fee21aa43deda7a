package attacks

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// crowd is how many of everything one caller opens.
const crowd = 600

// inTurns calls f for each number, eight at a time.
func inTurns(n int, f func(i int)) {
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := worker; i < n; i += 8 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// TestManySessions: D15. A program that opens sessions of MCP without end loses
// those that it has not used for longest. Its last one works, and so does that of
// another program.
func TestManySessions(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	const ask = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	open := func(path, token string) string {
		status, head, body := w.send(http.DefaultClient, http.MethodPost, path, hello, w.mcpHead(token, ""))
		if status != http.StatusOK && status != http.StatusTooManyRequests {
			w.Errorf("%d %s", status, body)
		}
		return head.Get("Mcp-Session-Id")
	}
	works := func(path, token, id string) bool {
		status, _, _ := w.send(http.DefaultClient, http.MethodPost, path, ask, w.mcpHead(token, id))
		return id != "" && status == http.StatusOK
	}
	others := open("/mcp", "other")
	paths := []string{"/mcp", "/mcp/x/notes", "/mcp/x/all", "/mcp/readonly"}
	ids := make([]string, crowd)
	inTurns(crowd, func(i int) { ids[i] = open(paths[i%len(paths)], "all") })
	last := open("/mcp", "all")
	if !works("/mcp", "all", last) || !works("/mcp", "other", others) {
		t.Error("a session that must work does not")
	}
	var mu sync.Mutex
	alive := 0
	inTurns(crowd, func(i int) {
		if works(paths[i%len(paths)], "all", ids[i]) {
			mu.Lock()
			defer mu.Unlock()
			alive++
		}
	})
	if alive > crowd/2 {
		t.Errorf("%d of %d sessions are kept", alive, crowd)
	}
	if mb := w.peak(w.server.Process.Pid); mb > maxMemory {
		t.Errorf("the server took %d MB", mb)
	}
}

// TestManyListeners: D15. Requests that never end are bounded for each caller, half
// requests are many, and the server answers all the while.
func TestManyListeners(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	host := strings.TrimPrefix(w.base, "http://")
	var mu sync.Mutex
	var open []io.Closer
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	inTurns(crowd, func(i int) { // a header, and a body, that do not end
		c, err := net.Dial("tcp", host)
		if err != nil {
			w.Error(err)
			return
		}
		mu.Lock()
		open = append(open, c)
		mu.Unlock()
		if i%2 == 0 {
			fmt.Fprintf(c, "GET /api/v1/events HTTP/1.1\r\nHost: %s\r\nX-Slow: ", host)
			return
		}
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{", host, w.tokens["all"])
	})
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	got := map[int]int{}
	inTurns(crowd, func(int) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.base+"/mcp", strings.NewReader(listen))
		if err != nil {
			w.Error(err)
			return
		}
		req.Header = w.mcpHead("all", "")
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", "subscriptions/listen")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			w.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		got[res.StatusCode]++
		open = append(open, res.Body)
	})
	if got[http.StatusOK] == 0 || got[http.StatusOK] > 256 || got[http.StatusTooManyRequests] != crowd-got[http.StatusOK] {
		t.Errorf("streams of one caller: %v", got)
	}
	for _, token := range []string{"all", "other"} {
		if status, _, body := w.post("/api/v1/tools/read_note", `{"path":"Tea.md"}`, w.tokens[token]); status != http.StatusOK {
			t.Errorf("%s, under siege: %d %s", token, status, body)
		}
	}
	if mb := w.peak(w.server.Process.Pid); mb > maxMemory {
		t.Errorf("the server took %d MB", mb)
	}
}
