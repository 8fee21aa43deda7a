package mcp_test

import (
	"net/http"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp"
	"lore/internal/tool/tooltest"
)

// as sends every request in somebody's name.
type as struct{ who string }

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if a.who != "" {
		r.Header.Set("Who", a.who)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func dial(t *testing.T, url, who, era string, o *sdk.ClientOptions) (*sdk.ClientSession, error) {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	cs, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: as{who}}},
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
		res, err := (as{who}).RoundTrip(req)
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
