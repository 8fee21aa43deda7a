package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"lore/internal/access"
	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/policy"
	"lore/internal/schema"
)

// Selects names the list of files that a person chooses from before the tool
// reads them for a model that is not on this machine.
func Selects(field string) Option { return func(t *Tool) { t.Selects = field } }

// show runs a tool that changes nothing. What is read for somebody elsewhere may
// have to be asked about.
func (c *call) show(ctx context.Context) (Result, error) {
	c.rec.Decision, c.rec.Reason = policy.Allow, "it changes nothing"
	if c.who.Kind != access.Person && (c.who.Sends != "" || c.deps.Policy.Tools[c.tool.Name] == policy.Ask) {
		d, err := c.judgeRead(ctx)
		switch {
		case err != nil:
			return Result{}, err
		case d.Verdict == policy.Ask:
			return c.ask(ctx, c.shown(d))
		case d.Verdict != policy.Allow:
			return Result{}, fault.New(fault.Denied, "%s: %s", c.tool.Name, d.Reason)
		}
	}
	return c.read(ctx)
}

// read is the work of it.
func (c *call) read(ctx context.Context) (Result, error) {
	value, _, err := c.guarded(ctx, c.tool.run)
	if err != nil {
		return Result{}, err
	}
	return c.result(value), nil
}

// judgeRead decides about a read.
func (c *call) judgeRead(ctx context.Context) (policy.Decision, error) {
	var rules []policy.Rule
	if c.deps.Questions != nil {
		var err error
		if rules, err = c.deps.Questions.Rules(ctx); err != nil {
			return policy.Decision{}, err
		}
	}
	paths := c.selected()
	d := c.deps.Policy.Judge(policy.Facts{
		Who: c.who, Tool: c.tool.Name, Definition: c.tool.definition(), Effect: access.Reads, Paths: c.real(paths), Selects: c.tool.Selects != "", Now: c.deps.Now(),
	}, rules)
	c.rec.Decision, c.rec.Reason, c.rec.Targets = d.Verdict, d.Reason, few(paths)
	return d, nil
}

// shown is the question about a read: the files, and where they would go.
func (c *call) shown(d policy.Decision) Question {
	var list []FileChange
	for _, p := range c.selected() {
		list = append(list, FileChange{Path: p, Action: change.Reads})
	}
	summary := c.tool.Title
	if n := len(list); n == 1 {
		summary += ": " + list[0].Path
	} else if n > 1 {
		summary += fmt.Sprintf(": %d files", n)
	}
	if c.who.Sends != "" {
		summary += ", for " + c.who.Sends
	}
	q := c.newQuestion(Preview{Summary: summary}, nil, d)
	q.Changes = list
	return q
}

// selected are the files that the arguments name.
func (c *call) selected() []string {
	if c.tool.Selects == "" {
		return nil
	}
	var m map[string]json.RawMessage
	var out []string
	if json.Unmarshal(c.args, &m) != nil || json.Unmarshal(m[c.tool.Selects], &out) != nil {
		return nil
	}
	return out
}

// performRead reads what the person chose.
func (c *call) performRead(ctx context.Context, q Question) (Result, error) {
	c.rec.Decision, c.rec.Reason = policy.Allow, q.Answer.By.Answers("approved")
	if len(q.Answer.Args) > 0 {
		c.notices = append(c.notices, "a person edited the arguments: "+string(c.rec.Args))
	}
	if all := c.selected(); q.Answer.Paths != nil && len(all) > 0 {
		kept := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !slices.Contains(q.Answer.Paths, p) })
		if err := c.narrow(kept); err != nil {
			return Result{}, err
		}
		if len(kept) < len(all) {
			c.notices = append(c.notices, fmt.Sprintf("a person chose %d of %d files", len(kept), len(all)))
		}
	}
	c.rec.Targets = few(c.selected())
	res, err := c.read(ctx)
	res.Feedback = q.Answer.Word
	return res, err
}

// narrow puts fewer files into the arguments.
func (c *call) narrow(files []string) error {
	var m map[string]any
	if err := json.Unmarshal(c.args, &m); err != nil {
		return err
	}
	m[c.tool.Selects] = files
	var err error
	if c.args, err = schema.Marshal(m); err == nil {
		c.rec.Args, c.rec.ArgsHash = c.tool.redacted(c.args), hashOf(c.args)
	}
	return err
}
