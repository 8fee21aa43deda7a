package tool

import (
	"context"
	"errors"
	"sync"
	"time"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/tool/access"
	"lore/internal/vault"
)

// Words from outside are followed through the door: a result that shows an
// untrusted note is untrusted, whoever got it is tainted from then on, and what a
// tainted caller writes is an untrusted note. What shows one is in shown.go, and how
// notes are marked in mark.go.

// taintLasts is how long a caller whose run has no end that Lore sees stays
// tainted after it last got such text.
const taintLasts = 12 * time.Hour

// Taints keeps which callers read text from outside beyond the end of a process.
type Taints interface {
	// Taint remembers that a caller did, and forgets those that did before
	// expired.
	Taint(ctx context.Context, who string, at, expired time.Time) error
	// TaintedAt is when a caller last did; zero when it never did.
	TaintedAt(ctx context.Context, who string) (time.Time, error)
}

// A taintList remembers which callers got words from outside.
type taintList struct {
	mu    sync.Mutex
	since map[string]time.Time
	kept  map[string]time.Time // what Taints was told last
}

// most is how many callers are remembered before those of long ago are dropped.
const mostTainted = 4096

// keepTaintEvery is how old a kept time may be before it is written again.
const keepTaintEvery = time.Minute

// add remembers a caller, and reports whether that must be kept.
func (l *taintList) add(who string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since == nil || len(l.since) >= mostTainted {
		old := l.since
		l.since, l.kept = map[string]time.Time{}, map[string]time.Time{}
		for k, t := range old {
			if now.Sub(t) < taintLasts {
				l.since[k] = t
			}
		}
	}
	l.since[who] = now
	if t, ok := l.kept[who]; ok && now.Sub(t) < keepTaintEvery {
		return false
	}
	l.kept[who] = now
	return true
}

func (l *taintList) has(who string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.since[who]
	return ok && now.Sub(t) < taintLasts
}

// rememberTaint remembers that a caller got words from outside, here and for the
// next process.
func (r *Registry) rememberTaint(ctx context.Context, caller access.Principal) {
	now, who := r.deps.Now(), caller.Recipient()
	if !r.tainted.add(who, now) || r.deps.Taints == nil {
		return
	}
	if err := r.deps.Taints.Taint(context.WithoutCancel(ctx), who, now, now.Add(-taintLasts)); err != nil {
		r.deps.Log.Warn("reading untrusted text could not be recorded", "kind", string(fault.Of(err)))
	}
}

// isTainted reports whether a caller got words from outside, also from an earlier
// process. When that cannot be found out, it is taken for true.
func (r *Registry) isTainted(ctx context.Context, caller access.Principal, now time.Time) bool {
	who := caller.Recipient()
	switch {
	case !remembersTaint(caller):
		return false
	case r.tainted.has(who, now):
		return true
	case r.deps.Taints == nil:
		return false
	}
	at, err := r.deps.Taints.TaintedAt(context.WithoutCancel(ctx), who)
	return err != nil || !at.IsZero() && now.Sub(at) < taintLasts
}

// remembersTaint reports whether the door remembers what a caller got: an agent
// keeps that with its run, and a person is not led by what they read.
func remembersTaint(who access.Principal) bool {
	return who.Kind == access.MCP || who.Kind == access.REST
}

// Taint remembers that a caller got text from outside by another way than a call:
// it looked at a question. A person is not led by what they read.
func (r *Registry) Taint(ctx context.Context, who access.Principal) error {
	if remembersTaint(who) {
		r.rememberTaint(ctx, who)
	}
	return nil
}

// An Outsider is a result that knows better than the names in it whether it shows
// text from outside: of a note as it once was, or of a caller who had read some.
type Outsider interface{ ShowsOutside() bool }

// taint marks a result that shows text from outside, also one that waits or was
// only planned, and remembers who got it.
func (c *call) taint(ctx context.Context, res *Result) {
	if c.who.Kind == access.Person {
		return
	}
	if o, ok := res.Value.(Outsider); ok && o.ShowsOutside() {
		res.Untrusted = true
	}
	res.Untrusted = res.Untrusted || c.guided || res.Question != nil && res.Question.Untrusted || res.DryRun && c.outside || c.askedAboutUntrusted() || c.showsUntrusted(ctx, *res)
	if res.Untrusted && remembersTaint(c.who) {
		c.rememberTaint(ctx, c.who)
	}
}

// noteOutside tells of a question whether it shows text from outside to the program
// that asked, which may look at it as often as it likes.
func (c *call) noteOutside(ctx context.Context, q *Question) {
	if c.who.Kind == access.Person {
		return
	}
	q.Untrusted = q.Untrusted || c.showsUntrusted(ctx, q.VisibleTo(c.who))
	if q.Untrusted && remembersTaint(c.who) {
		c.rememberTaint(ctx, c.who)
	}
}

// hasOutside reports whether a diff of the edits, as the caller may see it, shows
// text of an untrusted note. The notes need not be in the index any more.
func (c *call) hasOutside(set change.Set) bool {
	for _, e := range set {
		if !c.limit.Everything() && (!c.limit.Allows(e.Path) || e.From != "" && !c.limit.Allows(e.From)) {
			continue
		}
		for _, side := range []*string{e.Before, e.After} {
			if side != nil && note.IsUntrusted([]byte(*side)) {
				return true
			}
		}
	}
	return false
}

// sawFile remembers an untrusted note that the tool has read. The index does not
// know of every one: of copies that sync tools set aside, of links, and of what was
// written a moment ago.
func (c *call) sawFile(f vault.File) {
	if !vault.IsNoteName(f.Path) || !note.IsUntrusted(f.Data) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.saw == nil {
		c.saw = map[string]bool{}
	}
	c.saw[f.Path] = true
}

// askedAboutUntrusted reports whether a tool that asks a model has read untrusted
// notes: what the model says can be theirs, whether they are named or not.
func (c *call) askedAboutUntrusted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tool.AsksModel && len(c.saw) > 0
}

// An untrustedError is an error that quotes text from outside.
type untrustedError struct{ error }

func (e untrustedError) Unwrap() error { return e.error }

// IsUntrusted reports whether an error quotes text from outside. An agent keeps
// that with its run, as it keeps [Result.Untrusted].
func IsUntrusted(err error) bool {
	var u untrustedError
	return errors.As(err, &u)
}

// taintByError marks an error that quotes another server that was called, or an
// untrusted note, and remembers who got it.
func (c *call) taintByError(ctx context.Context, err error) error {
	if c.tool == nil || c.who.Kind == access.Person || errors.Is(err, errAgain) {
		return err
	}
	foreign := c.reached && (c.tool.Source != "" || c.tool.Untrusted)
	if !foreign && !c.showsUntrusted(ctx, err.Error()) {
		return err
	}
	if remembersTaint(c.who) {
		c.rememberTaint(ctx, c.who)
	}
	return untrustedError{err}
}
