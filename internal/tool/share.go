package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/schema"
	"lore/internal/vault/pattern"
	"lore/internal/vault/visibility"
)

// Selects names the list of files that a person chooses from before the tool
// reads them for a model that is not on this machine.
func Selects(field string) Option { return func(t *Tool) { t.Selects = field } }

// refusalLasts is how long a refusal is remembered for callers whose run has no
// end that Lore sees.
const refusalLasts = 24 * time.Hour

// cannotUnshare stands on every card about sharing.
const cannotUnshare = "Sharing cannot be undone."

// share decides what of the vault the call may see, before its tool runs: this
// is the one place where notes leave for a remote model, another program or a
// token. With a question, a person has to decide first.
func (c *call) share(ctx context.Context) (*Question, error) {
	to := c.who.Recipient()
	if to == "" || c.tool.Ends || c.tool.Source != "" {
		return nil, nil
	}
	s, err := c.sharing(ctx, to, c.recipient())
	switch {
	case err != nil:
		return nil, err
	case s.Verdict == policy.Deny:
		c.rec.Decision, c.rec.Reason = policy.Deny, s.Reason
		return nil, fault.New(fault.Denied, "%s: %s", c.tool.Name, s.Reason)
	case s.Verdict == policy.Ask:
		q, err := c.consentQuestion(ctx, to, s.Reason)
		return &q, err
	}
	c.limit = s.Limit.Through(c.deps.Real)
	return nil, c.leaveOutRefused()
}

// leaveOutRefused takes the files out of the arguments that were refused before:
// nobody is asked about them again.
func (c *call) leaveOutRefused() error {
	all := c.selected()
	kept := visibility.Filter(c.limit, slices.Clone(all), func(p string) string { return p })
	switch {
	case len(kept) == len(all):
		return nil
	case len(kept) == 0:
		return fmt.Errorf("%s: %w", c.tool.Name, c.limit.Check(all[0]))
	}
	c.notices = append(c.notices, fmt.Sprintf("%d of %d files are not shared with %s", len(all)-len(kept), len(all), c.recipient()))
	return c.narrow(kept)
}

// sharing is what persons decided about a recipient.
func (c *call) sharing(ctx context.Context, to, name string) (policy.Sharing, error) {
	rules, err := c.Rules(ctx)
	if err != nil {
		return policy.Sharing{}, err
	}
	if to == c.who.Recipient() {
		for _, choice := range c.who.Shared {
			rules = append(rules, policy.Rule{Verdict: policy.Allow, Tool: "*", To: to, Paths: policy.FolderPattern(choice)})
		}
	}
	return c.deps.Policy.Sharing(to, name, c.who.ID, rules, c.deps.Now()), nil
}

// recipient names who gets what is read, for people.
func (c *call) recipient() string { return cmp.Or(c.who.Sends, c.who.Name, c.who.Client, "this app") }

// consentQuestion asks what a recipient may read: everything, or some folders.
func (c *call) consentQuestion(ctx context.Context, to, reason string) (Question, error) {
	choices := []string{policy.TopLevel}
	if c.deps.Folders != nil {
		var err error
		if choices, err = c.deps.Folders(ctx); err != nil {
			return Question{}, err
		}
	}
	p := Preview{
		Summary:  "Share notes with " + c.recipient(),
		Warnings: []string{cannotUnshare},
		Details:  map[string]any{"recipient": c.recipient(), "for": c.tool.Title, "lasts": c.lasts()},
	}
	q := c.newQuestion(p, nil, policy.Decision{Verdict: policy.Ask, Risk: policy.Share, Reason: reason})
	q.Consent = to
	for _, dir := range choices {
		q.Changes = append(q.Changes, FileChange{Path: dir, Action: change.Reads})
	}
	c.rec.Decision, c.rec.Reason = policy.Ask, reason
	return q, nil
}

// lasts says how long a person's consent holds.
func (c *call) lasts() string {
	if c.who.Kind == access.Agent {
		return "this chat"
	}
	return "until you revoke it"
}

// grant keeps what a person decided about a recipient: the folders that they
// chose may be read, the others not in this run.
func (r *Registry) grant(ctx context.Context, q Question) error {
	all := paths(q.Changes)
	chosen := all
	if q.Answer.Paths != nil {
		chosen = slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !slices.Contains(q.Answer.Paths, p) })
	}
	rule := policy.Rule{Verdict: policy.Allow, Tool: "*", To: q.Consent, Made: q.Answer.At}
	if q.Who.Kind == access.Agent && q.Answer.Always == nil { // a conversation, which has an end
		rule.Run, rule.Until = q.Who.ID, q.Answer.At.Add(refusalLasts)
	}
	if len(chosen) == len(all) {
		rule.ID, rule.Paths = r.deps.ID("rule"), "**"
		return r.deps.Questions.AddRule(ctx, rule)
	}
	for _, dir := range chosen {
		rule.ID, rule.Paths = r.deps.ID("rule"), policy.FolderPattern(dir)
		if err := r.deps.Questions.AddRule(ctx, rule); err != nil {
			return err
		}
	}
	return nil
}

// remember keeps a refusal to share: for the run, no tool sends these files to
// the same recipient.
func (r *Registry) remember(ctx context.Context, q Question, refused []string) error {
	to := q.Who.Recipient()
	if q.Risk != policy.Share || to == "" {
		return nil
	}
	for _, p := range refused {
		rule := policy.Rule{ID: r.deps.ID("rule"), Verdict: policy.Deny, Tool: "*", To: to, Paths: p, Run: q.Who.ID, Made: q.Answer.At, Until: q.Answer.At.Add(refusalLasts)}
		if err := r.deps.Questions.AddRule(ctx, rule); err != nil {
			return err
		}
	}
	return nil
}

// refusedFiles are the patterns of what a denied question asked for.
func (q *Question) refusedFiles(real func([]string) []string) []string {
	if q.Consent != "" {
		return []string{"**"}
	}
	return literals(paths(q.Changes), real)
}

// literals are patterns for files, and for the files that they are links to.
func literals(files []string, real func([]string) []string) []string {
	var out []string
	if real != nil {
		files = slices.Concat(files, real(files))
	}
	for _, f := range files {
		if p := pattern.Literal(f); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// answerOthers gives a person's decision about a recipient to the other calls of
// the same caller that wait for it.
func (r *Registry) answerOthers(ctx context.Context, person access.Principal, q Question, a Answer) {
	if q.Consent == "" {
		return
	}
	list, err := r.Questions(ctx, Pending)
	if err != nil {
		r.deps.Log.Warn("other sharing requests could not be listed", "error", err)
		return
	}
	for _, other := range list {
		if other.Consent != q.Consent || other.Who.ID != q.Who.ID || other.ID == q.ID {
			continue
		}
		same := Answer{Approve: a.Approve, Revision: other.Revision, Paths: a.Paths, Word: a.Word, Always: a.Always, same: true}
		if _, err := r.Answer(ctx, person, other.ID, same); err != nil {
			r.deps.Log.Warn("a sharing request could not be answered", "approval", other.ID, "kind", string(fault.Of(err)))
		}
	}
}

// MaySend decides whether the text of notes may go to a remote model that a tool
// wants to ask, and counts the request. It is refused outside of a call.
func MaySend(ctx context.Context, model string, notes []string) error {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		return fault.New(fault.Denied, "models can be used only while a tool is running")
	}
	if !c.who.May(access.Model) {
		return fault.New(fault.Denied, "this caller does not have the model scope")
	}
	s, err := c.sharing(ctx, access.ModelRecipient(model), model)
	switch {
	case err != nil:
		return err
	case s.Verdict != policy.Allow:
		return fault.New(fault.Denied, "%s", s.Reason)
	}
	limit := s.Limit.Through(c.deps.Real)
	for _, p := range notes {
		if err := limit.Check(p); err != nil {
			return err
		}
	}
	if err := c.deps.Meter.TakeModel(c.who, c.deps.Now()); err != nil {
		return err
	}
	c.sent(model, notes)
	return nil
}

type callKey struct{}

// sent notes in the record what went to a model.
func (c *call) sent(model string, notes []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.models == nil {
		c.models = map[string]map[string]bool{}
	}
	if c.models[model] == nil {
		c.models[model] = map[string]bool{}
	}
	for _, p := range notes {
		c.models[model][p] = true
	}
}

// tellSent adds to the record's reason which models were asked.
func (c *call) tellSent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for model, notes := range c.models {
		text := fmt.Sprintf("text from %d notes was sent to %s", len(notes), model)
		if len(notes) == 1 {
			text = "text from 1 note was sent to " + model
		}
		if c.rec.Reason != "" {
			text = c.rec.Reason + "; " + text
		}
		c.rec.Reason = text
		for p := range notes {
			if p != "" && len(c.rec.Targets) < mostTargets && !slices.Contains(c.rec.Targets, p) {
				c.rec.Targets = append(c.rec.Targets, p)
			}
		}
	}
	c.models = nil
}

// seen leaves out what the caller must not know of a change.
func (c *call) seen(list []FileChange) []FileChange {
	return visibility.Filter(c.limit, list, func(f FileChange) string { return f.Path })
}

// show runs a tool that changes nothing. Single tools may have to be asked about.
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
	rules, err := c.Rules(ctx)
	if err != nil {
		return policy.Decision{}, err
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
	var warnings []string
	if c.who.Sends != "" {
		summary += ", for " + c.who.Sends
		warnings = []string{cannotUnshare}
	}
	q := c.newQuestion(Preview{Summary: summary, Warnings: warnings}, nil, d)
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
			unticked := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return slices.Contains(kept, p) })
			if err := c.remember(ctx, q, literals(unticked, c.deps.Real)); err != nil {
				return Result{}, err
			}
			if _, err := c.share(ctx); err != nil { // what was refused just now is not read either
				return Result{}, err
			}
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
