package tool

import (
	"testing"

	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// TestWhoMayAnswer: an app's dialog answers what the app asked, as far as the
// person in front of it could see all of it.
func TestWhoMayAnswer(t *testing.T) {
	t.Parallel()
	app := access.Principal{Kind: access.MCP, ID: "token-1", Scopes: []access.Scope{access.Read, access.Write, access.Confirm}}
	dialog := access.Principal{Kind: access.Dialog, ID: "token-1"}
	person := access.Principal{Kind: access.Person, ID: "person"}
	yes := Answer{Approve: true}
	for _, c := range []struct {
		name   string
		q      Question
		who    access.Principal
		answer Answer
		may    bool
	}{
		{"its own call", Question{Who: app}, dialog, yes, true},
		{"the call of another", Question{Who: access.Principal{Kind: access.MCP, ID: "token-2", Scopes: app.Scopes}}, dialog, yes, false},
		{"without the right", Question{Who: access.Principal{Kind: access.MCP, ID: "token-1"}}, dialog, yes, false},
		{"what is shared with it", Question{Who: app, Risk: policy.Share}, dialog, yes, false},
		{"a standing rule", Question{Who: app}, dialog, Answer{Approve: true, Always: &policy.Rule{}}, false},
		{"other arguments", Question{Who: app}, dialog, Answer{Approve: true, Args: []byte("{}")}, false},
		{"a change of notes that it does not see", Question{Who: app, Unshared: []string{"Private/Keys.md"}}, dialog, yes, false},
		{"a no to it", Question{Who: app, Unshared: []string{"Private/Keys.md"}}, dialog, Answer{}, true},
		{"a person sees all of it", Question{Who: app, Unshared: []string{"Private/Keys.md"}}, person, yes, true},
	} {
		if err := admitAnswer(c.q, c.who, c.answer); (err == nil) != c.may {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
