package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/workspace"
)

// A will is how a command says what may happen to the vault.
type will struct {
	yes    bool // the person means exactly this
	dry    bool // show the plan and do nothing
	follow bool // go on with what comes later
}

// person is who types, with their will.
func (w will) person() access.Principal {
	p := access.Terminal()
	p.Explicit = w.yes
	return p
}

// call runs one tool and shows its result. A call that needs a person asks the
// one at the terminal; without a terminal it says where to answer.
func (p *program) call(ctx context.Context, in io.Reader, t *tool.Tool, args json.RawMessage, w will) error {
	mode := workspace.Share
	switch {
	case t.Effect != access.Reads:
		mode = workspace.Insist
	case w.follow:
		mode = workspace.Observe
	}
	s, err := p.host.Open(ctx, p.g, workspace.Options{Mode: mode, Progress: p.progress()})
	if err != nil {
		return err
	}
	return errors.Join(p.callIn(ctx, s, in, t, args, w), s.Close())
}

func (p *program) callIn(ctx context.Context, s *Session, in io.Reader, t *tool.Tool, args json.RawMessage, w will) error {
	if w.dry {
		var err error
		if args, err = withSwitch(args, tool.DryRun); err != nil {
			return err
		}
	}
	res, err := s.Door.Call(ctx, w.person(), t.Name, args)
	if err != nil {
		return err
	}
	if w.follow {
		return p.follow(ctx, s, t, args, res)
	}
	return p.conclude(ctx, s, in, res)
}

// withSwitch sets one argument of an object to true.
func withSwitch(args json.RawMessage, name string) (json.RawMessage, error) {
	m := map[string]json.RawMessage{}
	if len(args) > 0 {
		if err := json.Unmarshal(args, &m); err != nil {
			return nil, fault.New(fault.Invalid, "the arguments are not a JSON object: %v", err)
		}
	}
	m[name] = json.RawMessage("true")
	return json.Marshal(m)
}

// conclude shows a result, and asks first when it waits for a person.
func (p *program) conclude(ctx context.Context, s *Session, in io.Reader, res tool.Result) error {
	for res.Question != nil {
		if p.g.JSON || !p.notice.Terminal || !draw.AtTerminal(in) {
			return p.leavePending(res)
		}
		var err error
		if res, err = p.ask(ctx, s, in, *res.Question); err != nil {
			return err
		}
	}
	if err := p.show(res, s.Dir); err != nil {
		return err
	}
	if res.Refused != "" {
		return errDenied
	}
	p.saidWhat(res)
	if code := res.View().Exit; code != 0 && !res.DryRun {
		return exitError(code)
	}
	return nil
}

// An exitError ends a command whose answer decides its exit code.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// errPending and errDenied end a command whose answer has told all.
var (
	errPending = errors.New("waiting for approval")
	errDenied  = errors.New("not allowed")
)

// leavePending tells where a question can be answered.
func (p *program) leavePending(res tool.Result) error {
	if p.g.JSON {
		if err := p.encode(res); err != nil {
			return err
		}
		return errPending
	}
	q := res.Question
	p.showQuestion(p.err, p.notice, *q, false, shownFiles)
	fmt.Fprintf(p.err, "A person must approve this on the web page or in a terminal by %s (%s).\n", q.Expires.Local().Format("2006-01-02 15:04"), shortID(q.ID))
	return errPending
}

// shortID is enough of an id for a person to type.
func shortID(id string) string {
	word, rest, ok := strings.Cut(id, "-")
	if !ok || len(rest) <= 8 {
		return id
	}
	return word + "-" + rest[:8]
}

// saidWhat tells what a change did and how to take it back.
func (p *program) saidWhat(res tool.Result) {
	if p.g.JSON || res.Operation == "" {
		return
	}
	p.say(fmt.Sprintf("%s. Undo: lore undo %s", countChanges(res.Changes), shortID(res.Operation)))
}

func countChanges(list []tool.FileChange) string {
	added, removed := 0, 0
	for _, c := range list {
		added += c.Added
		removed += c.Removed
	}
	return fmt.Sprintf("%s, %s added, %s removed", count(len(list), "file"), count(added, "line"), count(removed, "line"))
}

// shownFiles is how many files of a question are drawn before a person asks for
// the rest.
const shownFiles = 20

// showQuestion draws what a person decides on: who asks for what, why, and the
// exact change of the first files, at most most.
func (p *program) showQuestion(w io.Writer, s draw.Screen, q tool.Question, diffs bool, most int) {
	var b strings.Builder
	b.WriteString(s.Bold(draw.OneLine(q.Preview.Summary)) + "\n")
	b.WriteString(s.Dim(draw.Requested(q)) + "\n")
	writeSteps(&b, q.Preview.Steps)
	for _, n := range append(q.Preview.Warnings, q.Notices...) {
		b.WriteString(s.Mark("! "+draw.OneLine(n)) + "\n")
	}
	if len(q.Changes) == 0 {
		fmt.Fprintf(&b, "%s\n", draw.Harmless(string(q.Args)))
	}
	for i, c := range q.Changes {
		if i == most {
			b.WriteString(s.Mark(fmt.Sprintf("%d more; press d to show all", len(q.Changes)-most)) + "\n")
			break
		}
		s.Change(&b, c, diffs)
	}
	if len(q.Changes) > 1 {
		b.WriteString(s.Dim(countChanges(q.Changes)) + "\n")
	}
	_, _ = io.WriteString(w, b.String()) // nobody is left to tell
}

// writeSteps lists the calls that a plan makes.
func writeSteps(b *strings.Builder, steps []string) {
	for _, step := range steps {
		b.WriteString("  " + draw.Harmless(draw.OneLine(step)) + "\n")
	}
}

// showPlan draws what a dry run found.
func (p *program) showPlan(res tool.Result) error {
	var b strings.Builder
	if res.Preview != nil {
		b.WriteString(p.screen.Bold(draw.OneLine(res.Preview.Summary)) + "\n")
		writeSteps(&b, res.Preview.Steps)
		for _, w := range res.Preview.Warnings {
			b.WriteString(p.screen.Mark("! "+draw.OneLine(w)) + "\n")
		}
	}
	for _, c := range res.Changes {
		p.screen.Change(&b, c, true)
	}
	_, err := io.WriteString(p.out, b.String())
	if err == nil {
		p.say("Dry run: nothing was changed.")
	}
	return err
}

// followEvery is how often a list that grows is asked for more.
const followEvery = 500 * time.Millisecond

// follow shows what a feed holds, and then what comes, until it is interrupted.
func (p *program) follow(ctx context.Context, s *Session, t *tool.Tool, args json.RawMessage, res tool.Result) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		if err := p.show(res, s.Dir); err != nil {
			return err
		}
		p.noHead = true
		next, err := nextOf(res)
		if err != nil {
			return err
		}
		for more := true; more; {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			later, err := withValue(args, "after", next)
			if err != nil {
				return err
			}
			if res, err = s.Door.Call(ctx, access.Terminal(), t.Name, later); err != nil {
				return err
			}
			now, err := nextOf(res)
			if err != nil {
				return err
			}
			more = string(now) == string(next)
		}
	}
}

// nextOf is the place from which a feed goes on.
func nextOf(res tool.Result) (json.RawMessage, error) {
	b, err := json.Marshal(res.Value)
	if err != nil {
		return nil, err
	}
	var v struct {
		Next json.RawMessage `json:"next"`
	}
	err = json.Unmarshal(b, &v)
	return v.Next, err
}

func withValue(args json.RawMessage, name string, v json.RawMessage) (json.RawMessage, error) {
	m := map[string]json.RawMessage{}
	if len(args) > 0 {
		if err := json.Unmarshal(args, &m); err != nil {
			return nil, err
		}
	}
	m[name] = v
	return json.Marshal(m)
}
