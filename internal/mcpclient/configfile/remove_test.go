package configfile

import "testing"

// TestRemoveWhatAPersonWrote: entries of any layout go, comments around them
// stay, and what is left can be read.
func TestRemoveWhatAPersonWrote(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{`{"mcpServers": {"lore": {}, "b": {}}}`, `{"mcpServers": { "b": {}}}`},
		{`{"mcpServers": {"a": {}, "lore": {}, "b": {}}}`, `{"mcpServers": {"a": {}, "b": {}}}`},
		{`{"mcpServers": {"a": {}, "lore": {}}}`, `{"mcpServers": {"a": {}}}`},
		{`{"mcpServers": {"lore": {}}, "b": 1}`, `{"mcpServers": {}, "b": 1}`},
		{"{\n  \"mcpServers\": {\n    // mine\n    \"lore\": {}, \"b\": {}\n  }\n}", "{\n  \"mcpServers\": {\n    // mine\n     \"b\": {}\n  }\n}"},
		{"{\n  \"mcpServers\": {\n    \"lore\": {}, // mine\n    \"b\": {}\n  }\n}", "{\n  \"mcpServers\": { // mine\n    \"b\": {}\n  }\n}"},
		{"{\n  \"mcpServers\": {\n    \"lore\": {},\n  },\n}", "{\n  \"mcpServers\": {\n  },\n}"},
		{"{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"lore\": {}\n  }\n}", "{\n  \"a\": 1\n}"},
		{`{"mcpServers": {"a": {}}}`, `{"mcpServers": {"a": {}}}`},
		{`{"a": 1}`, `{"a": 1}`},
		{``, ``},
	} {
		got, err := Client{form: generic}.Remove(tc.text, "lore")
		if err != nil || got != tc.want {
			t.Errorf("%q: %q, %v; want %q", tc.text, got, err, tc.want)
		}
	}
	for _, tc := range []struct{ text, want string }{
		{"a = 1\n\n[mcp_servers.lore]\ncommand = 'x'\n[mcp_servers.lore.env]\nA = 'b' # c\n\n[b]\nc = 1\n", "a = 1\n\n[b]\nc = 1\n"},
		{"[mcp_servers.lore]\ncommand = 'x'\n# about b\n[b]\nc = 1\n", "# about b\n[b]\nc = 1\n"},
		{"[b]\nc = 1\n", "[b]\nc = 1\n"},
	} {
		got, err := Client{form: form{group: "mcp_servers", toml: true, fields: plainFields}}.Remove(tc.text, "lore")
		if err != nil || got != tc.want {
			t.Errorf("%q: %q, %v; want %q", tc.text, got, err, tc.want)
		}
	}
}
