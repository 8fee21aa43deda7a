package policy_test

import (
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/vault/pattern"
)

var now = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

func agent() access.Principal {
	return access.Principal{Kind: access.Agent, ID: "run-1", Surface: "web", Scopes: []access.Scope{access.Read, access.Write, access.Destroy, access.Egress, access.Exec}}
}

func person(explicit bool) access.Principal {
	p := access.Terminal()
	p.Explicit = explicit
	return p
}

func onPage(explicit bool) access.Principal {
	p := person(explicit)
	p.ID, p.Surface = "session-1", access.Page
	return p
}

func TestJudge(t *testing.T) {
	protected, err := pattern.Compile([]string{"private/**"})
	if err != nil {
		t.Fatal(err)
	}
	edit := policy.Facts{Who: agent(), Tool: "write", Effect: access.Changes, Paths: []string{"Tea.md"}, Files: 1, Now: now}
	with := func(f func(*policy.Facts)) policy.Facts { c := edit; f(&c); return c }
	read := func(sends string, paths ...string) policy.Facts {
		f := policy.Facts{Who: agent(), Tool: "read", Effect: access.Reads, Paths: paths, Selects: len(paths) > 0, Now: now}
		f.Who.Sends = sends
		return f
	}
	asks := policy.Settings{Tools: map[string]policy.Verdict{"read": policy.Ask}}
	allow := policy.Rule{ID: "r1", Verdict: policy.Allow, Tool: "write", Paths: "Tea.md"}
	for name, c := range map[string]struct {
		set   policy.Settings
		facts policy.Facts
		rules []policy.Rule
		want  policy.Verdict
		risk  policy.Risk
	}{
		"nothing changes":            {facts: with(func(f *policy.Facts) { f.Files, f.Paths = 0, nil }), want: policy.Allow, risk: policy.None},
		"a change is asked":          {facts: edit, want: policy.Ask, risk: policy.Change},
		"a creation is asked":        {facts: with(func(f *policy.Facts) { f.Creates = true }), want: policy.Ask, risk: policy.Create},
		"creations are free":         {set: policy.Settings{Create: policy.Allow}, facts: with(func(f *policy.Facts) { f.Creates = true }), want: policy.Allow, risk: policy.Create},
		"that frees no change":       {set: policy.Settings{Create: policy.Allow}, facts: edit, want: policy.Ask, risk: policy.Change},
		"a person's own act":         {facts: with(func(f *policy.Facts) { f.Who = person(true) }), want: policy.Allow, risk: policy.Change},
		"a person still looks":       {facts: with(func(f *policy.Facts) { f.Who = person(false) }), want: policy.Ask, risk: policy.Change},
		"an agent's own word":        {facts: with(func(f *policy.Facts) { f.Who.Explicit = true }), want: policy.Ask, risk: policy.Change},
		"a person's removal":         {facts: with(func(f *policy.Facts) { f.Who, f.Destroys = person(true), true }), want: policy.Ask, risk: policy.Destroy},
		"a person's undo":            {facts: with(func(f *policy.Facts) { f.Who, f.Destroys, f.Reverts = onPage(true), true, true }), want: policy.Allow, risk: policy.Destroy},
		"a large undo":               {facts: with(func(f *policy.Facts) { f.Who, f.Files, f.Erodes, f.Reverts = onPage(true), 50, true, true }), want: policy.Allow, risk: policy.Destroy},
		"an undo that was not meant": {facts: with(func(f *policy.Facts) { f.Who, f.Destroys, f.Reverts = onPage(false), true, true }), want: policy.Ask, risk: policy.Destroy},
		"an undo by a command":       {facts: with(func(f *policy.Facts) { f.Who, f.Destroys, f.Reverts = person(true), true, true }), want: policy.Ask, risk: policy.Destroy},
		"an agent's undo":            {facts: with(func(f *policy.Facts) { f.Who.Surface, f.Who.Explicit, f.Reverts = access.Page, true, true }), want: policy.Ask, risk: policy.Change},
		"a rename with many links":   {facts: with(func(f *policy.Facts) { f.Who, f.Files, f.Renames = onPage(true), 50, true }), want: policy.Allow, risk: policy.Destroy},
		"a rename that removes":      {facts: with(func(f *policy.Facts) { f.Who, f.Destroys, f.Renames = onPage(true), true, true }), want: policy.Ask, risk: policy.Destroy},
		"a removal on the page":      {facts: with(func(f *policy.Facts) { f.Who, f.Destroys = onPage(true), true }), want: policy.Ask, risk: policy.Destroy},
		"an undo that runs commands": {facts: with(func(f *policy.Facts) { f.Who, f.Needs, f.Reverts = onPage(true), access.Exec, true }), want: policy.Ask, risk: policy.Exec},
		"a denied undo":              {facts: with(func(f *policy.Facts) { f.Who, f.Reverts = onPage(true), true }), rules: []policy.Rule{{Verdict: policy.Deny, Tool: "*"}}, want: policy.Deny, risk: policy.Change},
		"a rule":                     {facts: edit, rules: []policy.Rule{allow}, want: policy.Allow, risk: policy.Change},
		"a rule for a removal":       {facts: with(func(f *policy.Facts) { f.Destroys = true }), rules: []policy.Rule{allow}, want: policy.Ask, risk: policy.Destroy},
		"a rule for shrinking":       {facts: with(func(f *policy.Facts) { f.Shrinks = true }), rules: []policy.Rule{allow}, want: policy.Ask, risk: policy.Destroy},
		"a rule for a loss":          {facts: with(func(f *policy.Facts) { f.Erodes = true }), rules: []policy.Rule{allow}, want: policy.Ask, risk: policy.Change},
		"a tool's leave, a loss":     {set: policy.Settings{Tools: map[string]policy.Verdict{"write": policy.Allow}}, facts: with(func(f *policy.Facts) { f.Erodes = true }), want: policy.Ask, risk: policy.Change},
		"a rule for many":            {facts: with(func(f *policy.Facts) { f.Files = 21 }), rules: []policy.Rule{allow}, want: policy.Ask, risk: policy.Destroy},
		"a rule for one of two":      {facts: with(func(f *policy.Facts) { f.Paths = []string{"Tea.md", "B.md"} }), rules: []policy.Rule{allow}, want: policy.Ask, risk: policy.Change},
		"an old rule":                {facts: edit, rules: []policy.Rule{{ID: "r", Verdict: policy.Allow, Tool: "write", Paths: "Tea.md", Until: now.Add(-time.Second)}}, want: policy.Ask, risk: policy.Change},
		"a rule of another run":      {facts: edit, rules: []policy.Rule{{ID: "r", Verdict: policy.Allow, Tool: "write", Paths: "Tea.md", Run: "run-2"}}, want: policy.Ask, risk: policy.Change},
		"a rule of another tool":     {facts: edit, rules: []policy.Rule{{ID: "r", Verdict: policy.Allow, Tool: "rename", Paths: "**"}}, want: policy.Ask, risk: policy.Change},
		"a rule of an older tool":    {facts: edit, rules: []policy.Rule{{ID: "r", Verdict: policy.Allow, Tool: "write", Paths: "**", Definition: "old"}}, want: policy.Ask, risk: policy.Change},
		"deny wins":                  {facts: edit, rules: []policy.Rule{allow, {ID: "r2", Verdict: policy.Deny, Tool: "*", Paths: "Tea.md"}}, want: policy.Deny, risk: policy.Change},
		"deny of one path":           {facts: with(func(f *policy.Facts) { f.Paths = []string{"B.md", "Tea.md"} }), rules: []policy.Rule{{Verdict: policy.Deny, Tool: "*", Paths: "Tea.md"}}, want: policy.Deny, risk: policy.Change},
		"switched off":               {set: policy.Settings{Tools: map[string]policy.Verdict{"write": policy.Deny}}, facts: edit, want: policy.Deny, risk: policy.Change},
		"protected":                  {set: policy.Settings{Protected: protected}, facts: with(func(f *policy.Facts) { f.Paths = []string{"Private/a.md"} }), want: policy.Deny, risk: policy.Change},
		"protected, in another case": {set: policy.Settings{Protected: protected}, facts: with(func(f *policy.Facts) { f.Paths = []string{"PRIVATE/a.md"} }), want: policy.Deny, risk: policy.Change},
		"instructions by rule":       {set: policy.Settings{Create: policy.Allow}, facts: with(func(f *policy.Facts) { f.Paths, f.Creates = []string{"sub/AGENTS.md"}, true }), rules: []policy.Rule{{Verdict: policy.Allow, Tool: "write", Paths: "**"}}, want: policy.Deny, risk: policy.Create},
		"a person's instructions":    {facts: with(func(f *policy.Facts) { f.Who, f.Paths = person(true), []string{"AGENTS.md"} }), want: policy.Allow, risk: policy.Change},
		"deny in another case":       {facts: edit, rules: []policy.Rule{{Verdict: policy.Deny, Tool: "*", Paths: "TEA.md"}}, want: policy.Deny, risk: policy.Change},
		"protected, a person":        {set: policy.Settings{Protected: protected}, facts: with(func(f *policy.Facts) { f.Who, f.Paths = person(true), []string{"Private/a.md"} }), want: policy.Allow, risk: policy.Change},
		"no right to write":          {facts: with(func(f *policy.Facts) { f.Who.Scopes = []access.Scope{access.Read} }), want: policy.Deny, risk: policy.Change},
		"no right to destroy":        {facts: with(func(f *policy.Facts) { f.Who.Scopes, f.Destroys = []access.Scope{access.Read, access.Write}, true }), want: policy.Deny, risk: policy.Destroy},
		"many with write alone":      {facts: with(func(f *policy.Facts) { f.Who.Scopes, f.Files = []access.Scope{access.Read, access.Write}, 21 }), want: policy.Ask, risk: policy.Destroy},
		"a wary change by rule":      {facts: with(func(f *policy.Facts) { f.Who.Wary = true }), rules: []policy.Rule{allow}, want: policy.Ask, risk: policy.Change},
		"a read":                     {facts: read(""), want: policy.Allow, risk: policy.None},
		"a read, asked by settings":  {set: asks, facts: read(""), want: policy.Ask, risk: policy.None},
		"a rule against a setting":   {set: asks, facts: read(""), rules: []policy.Rule{{Verdict: policy.Allow, Tool: "read"}}, want: policy.Ask, risk: policy.None},
		"a person's read":            {set: asks, facts: func() policy.Facts { f := read("x/y"); f.Who = person(false); return f }(), want: policy.Allow, risk: policy.None},
		"a read that leaves":         {facts: read("x/y"), want: policy.Allow, risk: policy.Share},
		"a sharing rule is no other": {facts: edit, rules: []policy.Rule{{Verdict: policy.Allow, Tool: "*", To: "app:x", Paths: "**"}}, want: policy.Ask, risk: policy.Change},
		"one of files that leaves":   {facts: read("x/y", "Private/a.md"), set: policy.Settings{Protected: protected}, want: policy.Ask, risk: policy.Share},
		"that stays":                 {facts: read("", "Tea.md"), want: policy.Allow, risk: policy.None},
		"that a rule allows":         {facts: read("x/y", "Tea.md"), rules: []policy.Rule{{Verdict: policy.Allow, Tool: "read", Paths: "*.md"}}, want: policy.Allow, risk: policy.Share},
		"that a setting allows":      {set: policy.Settings{Tools: map[string]policy.Verdict{"read": policy.Allow}}, facts: read("x/y", "Tea.md"), want: policy.Allow, risk: policy.Share},
		"that a rule denies":         {facts: read("x/y", "Tea.md"), rules: []policy.Rule{{Verdict: policy.Deny, Tool: "*", Paths: "tea.md"}}, want: policy.Deny, risk: policy.Share},
		"the network":                {facts: policy.Facts{Who: agent(), Tool: "fetch", Needs: access.Egress}, want: policy.Ask, risk: policy.Egress},
		"the network by rule":        {facts: policy.Facts{Who: agent(), Tool: "fetch", Needs: access.Egress}, rules: []policy.Rule{{Verdict: policy.Allow, Tool: "fetch"}}, want: policy.Allow, risk: policy.Egress},
		"a command by rule":          {facts: policy.Facts{Who: agent(), Tool: "run", Needs: access.Exec}, rules: []policy.Rule{{Verdict: policy.Allow, Tool: "run"}}, want: policy.Ask, risk: policy.Exec},
		"a person's command":         {facts: policy.Facts{Who: person(true), Tool: "run", Needs: access.Exec}, want: policy.Ask, risk: policy.Exec},
		"nobody":                     {facts: policy.Facts{Tool: "write", Files: 1}, want: policy.Deny, risk: policy.Change},
	} {
		got := c.set.Judge(c.facts, c.rules)
		if got.Verdict != c.want || got.Risk != c.risk || got.Reason == "" {
			t.Errorf("%s: %+v, want %s of risk %s", name, got, c.want, c.risk)
		}
	}
}

func TestRuleCheck(t *testing.T) {
	for name, c := range map[string]struct {
		rule policy.Rule
		risk policy.Risk
		ok   bool
	}{
		"plain":         {policy.Rule{Verdict: policy.Allow, Tool: "write", Paths: "Journal/**"}, policy.Change, true},
		"deny anything": {policy.Rule{Verdict: policy.Deny, Tool: "*"}, policy.Destroy, true},
		"destroys":      {policy.Rule{Verdict: policy.Allow, Tool: "write", Paths: "**"}, policy.Destroy, false},
		"commands":      {policy.Rule{Verdict: policy.Allow, Tool: "run"}, policy.Exec, false},
		"everything":    {policy.Rule{Verdict: policy.Allow, Tool: "*", Paths: "**"}, policy.Change, false},
		"no tool":       {policy.Rule{Verdict: policy.Allow}, policy.Change, false},
		"ask":           {policy.Rule{Verdict: policy.Ask, Tool: "write"}, policy.Change, false},
		"bad pattern":   {policy.Rule{Verdict: policy.Deny, Tool: "*", Paths: "[a"}, policy.Change, false},
	} {
		if err := c.rule.Check(c.risk); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMeter(t *testing.T) {
	m := policy.NewMeter(policy.Limits{Calls: policy.Limit{Calls: 3, Per: time.Minute}, Changes: policy.Limit{Calls: 1, Per: time.Minute}})
	take := func(who access.Principal, e access.Effect, own policy.Limit, at time.Time) fault.Kind {
		return fault.Of(m.Take(who, "t", e, own, at))
	}
	own := policy.Limit{Calls: 2, Per: time.Minute}
	for i, c := range []struct {
		who  access.Principal
		e    access.Effect
		own  policy.Limit
		at   time.Duration
		want fault.Kind
	}{
		{agent(), access.Changes, policy.Limit{}, 0, ""},
		{agent(), access.Changes, policy.Limit{}, time.Second, fault.RateLimited},
		{agent(), access.Reads, policy.Limit{}, time.Second, ""}, // a refused call was not counted
		{agent(), access.Reads, policy.Limit{}, time.Second, ""},
		{agent(), access.Reads, policy.Limit{}, time.Second, fault.RateLimited},
		{agent(), access.Changes, policy.Limit{}, time.Minute, ""},
		{person(true), access.Reads, own, 0, ""},
		{person(true), access.Reads, own, 0, ""},
		{person(true), access.Reads, own, 0, fault.RateLimited},
		{person(true), access.Reads, policy.Limit{}, 0, ""},
	} {
		if got := take(c.who, c.e, c.own, now.Add(c.at)); got != c.want {
			t.Errorf("call %d: %q, want %q", i, got, c.want)
		}
	}
}
