package access_test

import (
	"testing"

	"lore/internal/access"
)

func TestMay(t *testing.T) {
	all := access.Scopes()
	for _, c := range []struct {
		name  string
		who   access.Principal
		scope access.Scope
		want  bool
	}{
		{"nobody", access.Principal{}, access.Read, false},
		{"terminal reads", access.Terminal(), access.Read, true},
		{"terminal approves", access.Terminal(), access.Approve, true},
		{"agent reads", access.Principal{Kind: access.Agent, Scopes: all}, access.Read, true},
		{"agent approves", access.Principal{Kind: access.Agent, Scopes: all}, access.Approve, false},
		{"agent administers", access.Principal{Kind: access.Agent, Scopes: all}, access.Admin, false},
		{"client approves", access.Principal{Kind: access.MCP, Scopes: all}, access.Approve, false},
		{"token approves", access.Principal{Kind: access.REST, Scopes: all}, access.Approve, false},
		{"job approves", access.Principal{Kind: access.Schedule, Scopes: all}, access.Approve, false},
		{"no kind approves", access.Principal{Scopes: all}, access.Approve, false},
		{"person without the scope", access.Principal{Kind: access.Person, Scopes: []access.Scope{access.Read}}, access.Write, false},
		{"unknown scope", access.Terminal(), "fly", false},
	} {
		if got := c.who.May(c.scope); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestRecipient(t *testing.T) {
	for _, c := range []struct {
		who  access.Principal
		want string
	}{
		{access.Terminal(), ""},
		{access.Principal{Kind: access.Person, Sends: "x/y"}, ""},
		{access.Principal{Kind: access.Agent, ID: "run-1"}, ""},
		{access.Principal{Kind: access.Agent, ID: "run-1", Sends: "anthropic/claude"}, "model:anthropic"},
		{access.Principal{Kind: access.MCP, ID: "stdio"}, "app:stdio"},
		{access.Principal{Kind: access.MCP, ID: "stdio", Client: "Claude Desktop"}, "app:claude-desktop"},
		{access.Principal{Kind: access.MCP, ID: "stdio", Client: "a\u202eb/../c"}, "app:a-b-..-c"},
		{access.Principal{Kind: access.MCP, ID: "token-abc", Client: "backup"}, "token:token-abc"},
		{access.Principal{Kind: access.REST, ID: "token-abc"}, "token:token-abc"},
		{access.Principal{Kind: access.Schedule, ID: "nightly"}, ""},
	} {
		if got := c.who.Recipient(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.who, got, c.want)
		}
	}
}
