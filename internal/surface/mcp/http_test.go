package mcp_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp"
	"lore/internal/tool/tooltest"
)

// as sends every request in somebody's name, with further headers.
type as struct {
	who  string
	more http.Header
}

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range a.more {
		r.Header[k] = v
	}
	if a.who != "" {
		r.Header.Set("Who", a.who)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func dial(t *testing.T, url, who, era string, o *sdk.ClientOptions, hooks ...func(*sdk.Client)) (*sdk.ClientSession, error) {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	for _, h := range hooks {
		h(c)
	}
	cs, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: as{who: who}}},
		&sdk.ClientSessionOptions{ProtocolVersion: era})
	if err == nil {
		t.Cleanup(func() { _ = cs.Close() })
	}
	return cs, err
}

func TestHandlerServesEveryEra(t *testing.T) {
	w := open(t)
	srv := serve(t, w, mcp.Options{Now: tooltest.Now})
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			shown := ""
			cs, err := dial(t, srv.url+"/mcp", "anna", era, says("accept", map[string]any{"confirm": true}, &shown))
			if err != nil {
				t.Fatal(err)
			}
			if got := cs.InitializeResult().ProtocolVersion; got != era {
				t.Errorf("speaks %s", got)
			}
			res := call(t, cs, "write_note", map[string]any{"path": era + ".md", "content": "hello\n"})
			if read(t, w.dir, era+".md") == "" {
				t.Errorf("the elicited change was not made: %s", textOf(res))
			}
			cs, err = dial(t, srv.url+"/mcp/x/find/readonly", "anna", era, nil)
			if err != nil {
				t.Fatal(err)
			}
			names := toolsOf(t, cs)
			if !slices.Contains(names, "list_notes") || slices.Contains(names, "move_folder") || slices.Contains(names, "read_note") {
				t.Errorf("chosen by path: %v", names)
			}
			if _, err := dial(t, srv.url+"/mcp", "", era, nil); err == nil {
				t.Error("nobody was let in")
			}
		})
	}
}

// TestSessionOfAnother takes the id of a session to someone else.
func TestSessionOfAnother(t *testing.T) {
	w := open(t)
	srv := serve(t, w, mcp.Options{Now: tooltest.Now})
	cs, err := dial(t, srv.url+"/mcp", "anna", eras[1], nil)
	if err != nil {
		t.Fatal(err)
	}
	for who, want := range map[string]int{"bert": http.StatusNotFound, "": http.StatusForbidden} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, srv.url+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Mcp-Session-Id", cs.ID())
		res, err := (as{who: who}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%q: %d", who, res.StatusCode)
		}
	}
	if res := call(t, cs, "read_note", map[string]any{"path": "Matcha"}); res.IsError {
		t.Error(textOf(res))
	}
}

// TestToolsetsByHeader chooses tools as a client's configuration does, where it
// can only add headers. Whatever narrows wins.
func TestToolsetsByHeader(t *testing.T) {
	w := open(t)
	srv := serve(t, w, mcp.Options{Now: tooltest.Now})
	for _, c := range []struct {
		name, path, sets, readonly string
		has, not                   []string
		refused                    bool
	}{
		{name: "one set", path: "/mcp", sets: "explore", has: []string{"list_notes"}, not: []string{"read_note", "move_folder"}},
		{name: "a former name", path: "/mcp", sets: "find", has: []string{"list_notes", "move_folder"}, not: []string{"read_note"}},
		{name: "two, with spaces", path: "/mcp", sets: " explore , notes,explore", has: []string{"list_notes", "read_note"}},
		{name: "all", path: "/mcp", sets: "all", has: []string{"list_notes", "read_note", "hang"}},
		{name: "empty", path: "/mcp", sets: "", has: []string{"read_note", "list_notes"}, not: []string{"find_orphans"}},
		{name: "read only path", path: "/mcp/readonly", sets: "explore,organize", has: []string{"list_notes"}, not: []string{"move_folder", "read_note"}},
		{name: "read only path, header says no", path: "/mcp/readonly", sets: "find", readonly: "false", has: []string{"list_notes"}, not: []string{"move_folder"}},
		{name: "read only header", path: "/mcp", sets: "explore,organize", readonly: "true", has: []string{"list_notes"}, not: []string{"move_folder"}},
		{name: "the path wins", path: "/mcp/x/explore", sets: "notes", has: []string{"list_notes"}, not: []string{"read_note"}},
		{name: "a former name in the path", path: "/mcp/x/find", sets: "notes", has: []string{"list_notes", "move_folder"}, not: []string{"read_note"}},
		{name: "unknown", path: "/mcp", sets: "nots", refused: true},
		{name: "neither", path: "/mcp", readonly: "perhaps", refused: true},
	} {
		for _, era := range eras[:2] {
			t.Run(c.name+" "+era, func(t *testing.T) {
				more := http.Header{}
				if c.sets != "" {
					more.Set("X-MCP-Toolsets", c.sets)
				}
				if c.readonly != "" {
					more.Set("X-MCP-Readonly", c.readonly)
				}
				client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
				cs, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: srv.url + c.path, HTTPClient: &http.Client{Transport: as{"anna", more}}},
					&sdk.ClientSessionOptions{ProtocolVersion: era})
				if (err != nil) != c.refused {
					t.Fatal(err)
				}
				if c.refused {
					return
				}
				defer cs.Close()
				names := toolsOf(t, cs)
				for _, n := range c.has {
					if !slices.Contains(names, n) {
						t.Errorf("%s is missing", n)
					}
				}
				for _, n := range c.not {
					if slices.Contains(names, n) {
						t.Errorf("%s is offered", n)
					}
				}
			})
		}
	}
}

// TestListenersEndWithTheServer: a stream of news does not hold up the end.
func TestListenersEndWithTheServer(t *testing.T) {
	w, closing := open(t), make(chan struct{})
	srv := serve(t, w, mcp.Options{Now: tooltest.Now, Closing: closing})
	done := make(chan string, 1)
	go func() {
		_, body := srv.send("subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`)
		done <- body
	}()
	close(closing)
	<-done
}

// TestManyChoices: whoever chooses tools in a hundred ways does not end the
// sessions of others.
func TestManyChoices(t *testing.T) {
	w := open(t)
	srv := serve(t, w, mcp.Options{Now: tooltest.Now})
	cs, err := dial(t, srv.url+"/mcp", "anna", eras[1], nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, fmt.Sprintf("%s/mcp/x/%d", srv.url, i), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := (as{who: "bert"}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	if res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "read_note", Arguments: map[string]any{"path": "Matcha"}}); err != nil || res.IsError {
		t.Errorf("%+v, %v", res, err)
	}
}
