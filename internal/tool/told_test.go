package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// TestResultsThatWait: what a program asked for and a person approved is told to
// it later only if it is shared with it then.
func TestResultsThatWait(t *testing.T) {
	program := access.Principal{Kind: access.REST, ID: "token-1", Name: "laptop", Surface: "rest", Scopes: []access.Scope{access.Read, access.Write}}
	for name, c := range map[string]struct {
		rule *policy.Rule
		want bool
	}{
		"as before":         {nil, true},
		"everything denied": {&policy.Rule{Verdict: policy.Deny, Paths: "**"}, false},
		"a folder denied":   {&policy.Rule{Verdict: policy.Deny, Paths: "/Private"}, false},
		"one folder left":   {&policy.Rule{Verdict: policy.Allow, Paths: "/Work"}, false},
		"another recipient": {&policy.Rule{Verdict: policy.Deny, Paths: "**", To: "token:other"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, func(d *tool.Deps) {
				d.Policy.Tools = map[string]policy.Verdict{"peek": policy.Ask}
			})
			for _, one := range []struct{ tool, args string }{{"peek", `{}`}, {"jot", `{"path":"a.md","line":"two"}`}} {
				q := *b.call(t, program, one.tool, one.args).Question
				if _, err := b.reg.Answer(t.Context(), person, q.ID, tool.Answer{Approve: true, Revision: q.Revision}); err != nil {
					t.Fatal(err)
				}
				whole, err := b.reg.Await(t.Context(), q.ID, q.Revision)
				if err != nil {
					t.Fatal(err)
				}
				if c.rule != nil {
					rule := *c.rule
					rule.ID, rule.Tool = "rule-"+one.tool, "*"
					if rule.To == "" {
						rule.To = program.Recipient()
					}
					if err := b.at.Questions.AddRule(t.Context(), rule); err != nil {
						t.Fatal(err)
					}
				}
				res, err := b.reg.Await(t.Context(), q.ID, q.Revision)
				was, _ := json.Marshal(whole)
				got, _ := json.Marshal(res)
				same := err == nil && string(was) == string(got)
				switch {
				case same != c.want:
					t.Errorf("%s: %s, %v", one.tool, got, err)
				case !c.want && one.tool == "peek" && fault.Of(err) != fault.Denied:
					t.Errorf("%s: %v", one.tool, err)
				case !c.want && one.tool == "jot" && (err != nil || res.Operation == "" || len(res.Changes) > 0):
					t.Errorf("%s: %s %v", one.tool, got, err)
				}
				if kept, err := b.reg.Question(t.Context(), q.ID); err != nil || strings.Contains(encoded(t, kept.VisibleTo(program)), "limit") {
					t.Errorf("%v: the program is told what is not shared", err)
				}
				if c.rule != nil {
					if err := b.at.Questions.DropRule(t.Context(), "rule-"+one.tool); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
