package policy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lore/internal/tool/policy"
)

func TestSharing(t *testing.T) {
	const to = "app:claude"
	rule := func(v policy.Verdict, paths string) policy.Rule {
		return policy.Rule{Verdict: v, Tool: "*", To: to, Paths: paths}
	}
	in := func(r policy.Rule, change func(*policy.Rule)) policy.Rule { change(&r); return r }
	ask, never := policy.Settings{Share: policy.Ask}, policy.Settings{Share: policy.Deny}
	for name, c := range map[string]struct {
		set   policy.Settings
		to    string
		rules []policy.Rule
		want  policy.Verdict
		sees  string // paths that may go, of those below
	}{
		"nothing leaves":                   {set: never, to: "", want: policy.Allow, sees: "Work/a.md Private/k.md b.md"},
		"never":                            {set: never, to: to, rules: []policy.Rule{rule(policy.Allow, "**")}, want: policy.Deny},
		"nobody decided, allowed":          {to: to, want: policy.Allow, sees: "Work/a.md Private/k.md b.md"},
		"nobody decided, asked":            {set: ask, to: to, want: policy.Ask},
		"all notes":                        {set: ask, to: to, rules: []policy.Rule{rule(policy.Allow, "**")}, want: policy.Allow, sees: "Work/a.md Private/k.md b.md"},
		"one folder":                       {set: ask, to: to, rules: []policy.Rule{rule(policy.Allow, "Work/**")}, want: policy.Allow, sees: "Work/a.md"},
		"one folder limits when allowed":   {to: to, rules: []policy.Rule{rule(policy.Allow, "Work/**")}, want: policy.Allow, sees: "Work/a.md"},
		"the top level":                    {to: to, rules: []policy.Rule{rule(policy.Allow, policy.FolderPattern(policy.TopLevel))}, want: policy.Allow, sees: "b.md"},
		"a folder, chosen":                 {to: to, rules: []policy.Rule{rule(policy.Allow, policy.FolderPattern("Work/"))}, want: policy.Allow, sees: "Work/a.md"},
		"two folders":                      {to: to, rules: []policy.Rule{rule(policy.Allow, "Work/**"), rule(policy.Allow, "/b.md")}, want: policy.Allow, sees: "Work/a.md b.md"},
		"all but one":                      {to: to, rules: []policy.Rule{rule(policy.Deny, "Private/k.md")}, want: policy.Allow, sees: "Work/a.md b.md"},
		"a refusal wins":                   {to: to, rules: []policy.Rule{rule(policy.Allow, "**"), rule(policy.Deny, "Work/**")}, want: policy.Allow, sees: "Private/k.md b.md"},
		"all refused":                      {to: to, rules: []policy.Rule{rule(policy.Allow, "**"), rule(policy.Deny, "**")}, want: policy.Deny},
		"another's rule":                   {set: ask, to: to, rules: []policy.Rule{in(rule(policy.Allow, "**"), func(r *policy.Rule) { r.To = "app:claude2" })}, want: policy.Ask},
		"a rule about changes":             {set: ask, to: to, rules: []policy.Rule{in(rule(policy.Allow, "**"), func(r *policy.Rule) { r.To = "" })}, want: policy.Ask},
		"a rule of this run":               {set: ask, to: to, rules: []policy.Rule{in(rule(policy.Allow, "**"), func(r *policy.Rule) { r.Run = "run-1" })}, want: policy.Allow, sees: "Work/a.md Private/k.md b.md"},
		"a rule of another run":            {set: ask, to: to, rules: []policy.Rule{in(rule(policy.Allow, "**"), func(r *policy.Rule) { r.Run = "run-2" })}, want: policy.Ask},
		"a rule whose time is over":        {set: ask, to: to, rules: []policy.Rule{in(rule(policy.Allow, "**"), func(r *policy.Rule) { r.Until = now.Add(-time.Hour) })}, want: policy.Ask},
		"a rule that cannot be read":       {to: to, rules: []policy.Rule{rule(policy.Deny, "[")}, want: policy.Deny},
		"an allowance that cannot be read": {to: to, rules: []policy.Rule{rule(policy.Allow, "[")}, want: policy.Deny},
	} {
		got := c.set.Sharing(c.to, "Claude", "run-1", c.rules, now)
		if got.Verdict != c.want || got.Reason == "" {
			t.Errorf("%s: %v %q, want %v", name, got.Verdict, got.Reason, c.want)
		}
		if got.Verdict != policy.Allow {
			continue
		}
		var sees []string
		for _, p := range []string{"Work/a.md", "Private/k.md", "b.md"} {
			if got.Limit.Allows(p) {
				sees = append(sees, p)
			}
		}
		if s := strings.Join(sees, " "); s != c.sees {
			t.Errorf("%s: sees %q, want %q", name, s, c.sees)
		}
	}
}

func TestChoices(t *testing.T) {
	t.Parallel()
	got, err := policy.Choices([]string{"Work", "/Work/Deep/", "/", "all", " Notes ", " all ", "a..b", "Work/...", " / "})
	if want := []string{"Work/", "Work/Deep/", policy.TopLevel, policy.Everything, "Notes/", policy.Everything, "a..b/", "Work/.../", policy.TopLevel}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, wrong := range []string{"", " ", "..", "../Work", "Work/../..", "Work/..", " .. "} {
		if got, err := policy.Choices([]string{wrong}); err == nil {
			t.Errorf("%q is taken as %q", wrong, got)
		}
	}
}
