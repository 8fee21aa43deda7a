package servers

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/surface"
	"lore/internal/surface/cli/draw"
)

// told writes what a person should know about a server before agreeing.
func (p *program) told(s surface.Server) string {
	sc := p.Notice
	pairs := [][2]string{{"server", s.Name}, {"defined in", s.File}}
	if len(s.Command) > 0 {
		var words []string
		for _, w := range s.Command {
			words = append(words, quoted(w))
		}
		pairs = append(pairs, [2]string{"command", strings.Join(words, " ")}, [2]string{"folder", s.Dir})
	}
	if s.URL != "" {
		pairs = append(pairs, [2]string{"address", s.URL})
	}
	for _, what := range []string{"variable", "header"} {
		m := map[string]map[string]string{"variable": s.Env, "header": s.Headers}[what]
		for _, k := range slices.Sorted(maps.Keys(m)) {
			pairs = append(pairs, [2]string{what, k + " = " + m[k]})
		}
	}
	if s.EnvFile != "" {
		pairs = append(pairs, [2]string{"variables", "from " + s.EnvFile})
	}
	pairs = append(pairs, [2]string{"digest", s.Digest})
	for i := range pairs {
		pairs[i][1] = draw.Revealed(draw.OneLine(pairs[i][1]))
	}
	var b strings.Builder
	sc.Pairs(&b, pairs)
	for _, w := range s.Warnings {
		b.WriteString(sc.Mark("! "+draw.OneLine(w)) + "\n")
	}
	return b.String()
}

// quoted shows where a word begins and ends.
func quoted(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n\"'\\$`&|;<>()*?[]{}") {
		return s
	}
	return fmt.Sprintf("%q", s)
}

func (p *program) allow(ctx context.Context, args []string) error {
	s, err := p.find(ctx, args[0])
	if err != nil {
		return err
	}
	what := "run this program with your permissions"
	if s.URL != "" {
		what = "send your data to this address"
	}
	if err := p.agreed(ctx, p.told(s), "Allow this server? Lore will "+what+"."); err != nil {
		return err
	}
	if err := p.host.Allow(ctx, p.at(), s); err != nil {
		return err
	}
	return p.said(s, "allowed", fmt.Sprintf("Allowed %s, as long as its configuration does not change", s.Name))
}

func (p *program) deny(ctx context.Context, args []string) error {
	s, err := p.find(ctx, args[0])
	if err != nil {
		return err
	}
	if err := p.host.Deny(ctx, p.at(), s); err != nil {
		return err
	}
	return p.said(s, "denied", "Stopped using "+s.Name+". Run lore servers allow "+s.Name+" to use it again.")
}

// said tells what was done.
func (p *program) said(s surface.Server, what, words string) error {
	if p.JSON {
		return p.Encode(map[string]any{"success": true, "server": s.Name, "done": what, "digest": s.Digest})
	}
	p.Say(words)
	return nil
}

func (p *program) tools(ctx context.Context, args []string) error {
	s, list, err := p.host.Tools(ctx, p.at(), args[0], !p.noTry)
	if err != nil {
		return err
	}
	if p.JSON {
		return p.Encode(struct {
			Server surface.Server `json:"server"`
			Tools  []surface.Tool `json:"tools"`
		}{s, append([]surface.Tool{}, list...)})
	}
	var rows [][]string
	var b strings.Builder
	for _, t := range list {
		if t.Change == nil {
			rows = append(rows, []string{t.Name, draw.Revealed(draw.OneLine(t.Description))})
		}
	}
	if len(rows) > 0 {
		p.Screen.Table(&b, []string{"tool", "description by the server"}, rows)
	}
	for _, t := range list {
		if t.Change != nil {
			b.WriteString("\n" + p.Screen.Mark("! "+draw.OneLine(t.Own)+" changed and is not used until you accept it") + "\n" + p.diff(p.Screen, t))
		}
	}
	if _, err := io.WriteString(p.Out, b.String()); err != nil {
		return err
	}
	if s.Why != "" {
		p.Say(fmt.Sprintf("%s: %s. Showing the last known tools.", s.State, s.Why))
	}
	for _, l := range s.LeftOut {
		p.Say("skipped: " + l)
	}
	if slices.ContainsFunc(list, func(t surface.Tool) bool { return t.Change != nil }) {
		p.Say("Run lore servers accept " + s.Name + " to accept the changed tools.")
	}
	return nil
}

// diff is what changed about a tool, with nothing hidden in it.
func (p *program) diff(sc draw.Screen, t surface.Tool) string {
	before, after := draw.Revealed(t.Change.Old), draw.Revealed(t.Change.New)
	var b strings.Builder
	sc.Diff(&b, change.Unified("accepted version", "new version", change.Diff(before, after, change.DiffOptions{Context: 2, NoMarks: true})))
	return b.String()
}

func (p *program) accept(ctx context.Context, args []string) error {
	s, list, err := p.host.Tools(ctx, p.at(), args[0], false)
	if err != nil {
		return err
	}
	done := []string{}
	for _, t := range list {
		if t.Change == nil || len(args) == 2 && args[1] != t.Own && args[1] != t.Name {
			continue
		}
		text := p.Notice.Mark("! "+draw.OneLine(t.Own)+" changed") + "\n" + p.diff(p.Notice, t)
		if err := p.agreed(ctx, text, "Accept the new version of "+draw.OneLine(t.Own)+"?"); err != nil {
			return err
		}
		if err := p.host.Accept(ctx, p.at(), s.Name, t.Own, t.Change.Digest); err != nil {
			return err
		}
		done = append(done, t.Own)
	}
	if len(done) == 0 {
		return fault.Fix(fault.NotFound, "run lore servers tools "+s.Name+" to list its tools", "%s has no changed tool with that name", s.Name)
	}
	if p.JSON {
		return p.Encode(map[string]any{"success": true, "server": s.Name, "accepted": done})
	}
	p.Say("Accepted " + strings.Join(done, ", ") + ". Permission rules for them no longer apply.")
	return nil
}

func (p *program) login(ctx context.Context, args []string) error {
	s, err := p.host.Login(ctx, p.at(), args[0], func(address string) {
		fmt.Fprintf(p.Err, "%s\n%s\n", p.Notice.Bold("Sign in with your browser. If it did not open, go to:"), address)
	})
	if err != nil {
		return err
	}
	return p.said(s, "logged in", fmt.Sprintf("Signed in to %s; number of tools: %d", s.Name, s.Tools))
}

func (p *program) logout(ctx context.Context, args []string) error {
	found, err := p.host.Logout(ctx, p.at(), args[0])
	if err != nil {
		return err
	}
	if p.JSON {
		return p.Encode(map[string]any{"success": true, "server": args[0], "found": found})
	}
	words := "Signed out of " + args[0]
	if !found {
		words = "You were not signed in to " + args[0]
	}
	p.Say(words)
	return nil
}

func (p *program) imports(ctx context.Context, args []string) error {
	plan, err := p.host.Import(args[0])
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, s := range plan.Servers {
		b.WriteString(p.told(s) + "\n")
	}
	for _, s := range plan.Skipped {
		b.WriteString(p.Notice.Dim("skipped: "+draw.OneLine(s)) + "\n")
	}
	if len(plan.Servers) == 0 {
		_, _ = io.WriteString(p.Err, b.String()) // nobody is left to tell
		return fault.New(fault.NotFound, "%s has no servers that can be copied", plan.From)
	}
	if err := p.agreed(ctx, b.String(), fmt.Sprintf("Copy these servers (%d) to %s? Lore will use them from now on.", len(plan.Servers), plan.To)); err != nil {
		return err
	}
	if err := plan.Write(); err != nil {
		return err
	}
	if p.JSON {
		return p.Encode(plan)
	}
	p.Say(fmt.Sprintf("Copied to %s. Run lore servers --try to connect to them.", plan.To))
	return nil
}
