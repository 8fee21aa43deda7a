package access_test

import (
	"testing"

	"lore/internal/tool/access"
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
		{"dialog approves", access.Principal{Kind: access.Dialog, Scopes: all}, access.Approve, true},
		{"dialog administers", access.Principal{Kind: access.Dialog, Scopes: all}, access.Admin, false},
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

func TestAnswers(t *testing.T) {
	for want, who := range map[string]access.Principal{
		"a person approved it": access.Terminal(),
		"approved in a dialog shown by Claude Desktop (token laptop)": {Kind: access.Dialog, ID: "token-x", Client: "Claude Desktop", Name: "laptop"},
		"approved in a dialog shown by Zed (lore acp)":                {Kind: access.Dialog, ID: "run-1", Client: "Zed", Surface: "acp"},
		"approved in a dialog shown by an app (lore mcp)":             {Kind: access.Dialog, ID: "stdio"},
	} {
		if got := who.Answers("approved"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestComesFrom(t *testing.T) {
	agent, shell := access.Process{PID: 10, Start: 100}, access.Process{PID: 20, Start: 200}
	for _, c := range []struct {
		name          string
		line, program []access.Process
		want          bool
	}{
		{"a child of the agent", []access.Process{shell, agent}, []access.Process{agent}, true},
		{"another program", []access.Process{shell}, []access.Process{agent}, false},
		{"the number was used again", []access.Process{{PID: 10, Start: 101}}, []access.Process{agent}, false},
		{"nothing is known of the caller", []access.Process{shell, agent}, nil, false},
		{"nothing is known of the answer", nil, []access.Process{agent}, false},
	} {
		if got := access.ComesFrom(c.line, c.program); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
