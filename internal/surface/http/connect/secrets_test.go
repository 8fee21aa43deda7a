package connect_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"lore/internal/surface/http/connect"
)

// TestSecretsStay: no answer repeats a secret that stands in a file of servers, of
// Lore or of a client, be it of another entry than the one that is asked for.
func TestSecretsStay(t *testing.T) {
	w := open(t)
	w.put("config/lore/servers.json", `{"mcpServers": {
		"base": {"command": "base", "env": {"DB_PASS": "sesame", "DATABASE_URL": "postgres://me:sesame@host/notes"}},
		"far": {"url": "https://example.com/mcp?exaApiKey=sesame", "headers": {"X-Api-Key": "sesame"}}}}`)
	const neighbour = `"near": {"command": "npx", "args": ["--token", "sesame", "--header", "Authorization: Bearer sesame"], "env": {"API_KEY": "sesame"}}`
	w.put(".cursor/mcp.json", `{"mcpServers": {`+neighbour+`}}`)
	w.put(".gemini/settings.json", "{\n  \"mcpServers\": {\n    "+neighbour+"\n  }\n}\n")
	w.put(".codex/config.toml", "[mcp_servers.near]\ncommand = \"npx\"\n\n[mcp_servers.near.env]\nANYTHING = \"sesame\"\n")
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/servers", nil}, {"GET", "/servers/base/tools", nil}, {"GET", "/clients", nil},
		{"POST", "/clients/cursor", connect.Joining{}}, {"POST", "/clients/gemini", connect.Joining{}}, {"POST", "/clients/codex", connect.Joining{}},
	} {
		var got json.RawMessage
		w.want(http.StatusOK, c.method, c.path, c.body, &got)
		if strings.Contains(string(got), "sesame") {
			t.Errorf("%s %s: %s", c.method, c.path, got)
		}
		if c.body != nil && !strings.Contains(string(got), "--vault") {
			t.Errorf("%s %s does not show what is written: %s", c.method, c.path, got)
		}
	}
}

// TestImportLeavesLoreOut, whatever its program is called on the system.
func TestImportLeavesLoreOut(t *testing.T) {
	w := open(t)
	w.put(".cursor/mcp.json", `{"mcpServers": {"mine": {"command": "/programs/Lore.EXE", "args": ["mcp", "--vault", "x"]}, "other": {"command": "explore", "args": ["mcp"]}}}`)
	var plan struct {
		Servers []struct{ Name string } `json:"servers"`
		Skipped []string                `json:"skipped"`
	}
	w.want(http.StatusOK, "POST", "/servers/import", connect.Importing{Client: "cursor"}, &plan)
	if len(plan.Servers) != 1 || plan.Servers[0].Name != "other" || len(plan.Skipped) != 1 {
		t.Errorf("%+v", plan)
	}
}
