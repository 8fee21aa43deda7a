package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"lore/internal/access"
	"lore/internal/change"
	"lore/internal/note"
	"lore/internal/schema"
)

// Words from outside are followed through the door: a result that shows an
// untrusted note is untrusted, whoever got it is tainted from then on, and what a
// tainted caller writes is an untrusted note.

// taintLasts is how long a caller whose run has no end that Lore sees stays
// tainted.
const taintLasts = 12 * time.Hour

// A taintList remembers which callers got words from outside.
type taintList struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// most is how many callers are remembered before those of long ago are dropped.
const mostTainted = 4096

func (l *taintList) add(who access.Principal, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since == nil || len(l.since) >= mostTainted {
		old := l.since
		l.since = map[string]time.Time{}
		for k, t := range old {
			if now.Sub(t) < taintLasts {
				l.since[k] = t
			}
		}
	}
	l.since[who.Recipient()] = now
}

func (l *taintList) has(who access.Principal, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.since[who.Recipient()]
	return ok && now.Sub(t) < taintLasts
}

// remembersTaint reports whether the door remembers what a caller got: an agent
// keeps that with its run, and a person is not led by what they read.
func remembersTaint(who access.Principal) bool {
	return who.Kind == access.MCP || who.Kind == access.REST
}

// taint marks a result that shows untrusted notes, and remembers who got it.
func (c *call) taint(ctx context.Context, res *Result) {
	if c.who.Kind == access.Person || res.Value == nil || res.Question != nil {
		return
	}
	if !res.Untrusted && c.deps.Untrusted != nil {
		res.Untrusted = c.showsUntrusted(ctx, res.Value)
	}
	if res.Untrusted && remembersTaint(c.who) {
		c.tainted.add(c.who, c.deps.Now())
	}
}

// showsUntrusted reports whether a result names a note that is marked as
// untrusted. When that cannot be found out, it is taken for true.
func (c *call) showsUntrusted(ctx context.Context, value any) bool {
	names, err := c.deps.Untrusted(context.WithoutCancel(ctx))
	if err != nil || len(names) == 0 {
		return err != nil
	}
	raw, err := schema.Marshal(value)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(names, func(n string) bool {
		quoted, err := schema.Marshal(n)
		if strings.HasSuffix(n, ".md") { // a path may stand in a text, an id may be a common word
			quoted = bytes.Trim(quoted, `"`)
		}
		return err != nil || bytes.Contains(raw, quoted)
	})
}

// mark adds the property to notes that would get words from outside. It changes
// the plan, so a person sees it.
func (c *call) mark(set change.Set) change.Set {
	tainted := c.tool.Untrusted || c.who.Tainted && c.who.Kind != access.Person
	var given []string // texts that the caller wrote
	if tainted && !c.tool.Untrusted {
		given = texts(c.args)
	}
	gone := slices.ContainsFunc(set, func(e change.Edit) bool { // its words go elsewhere in the set
		return e.After == nil && e.From == "" && e.Before != nil && note.Parse(e.Path, []byte(*e.Before)).IsUntrusted()
	})
	if !tainted && !gone {
		return set
	}
	out := slices.Clone(set)
	for i, e := range set {
		if e.After == nil || !strings.EqualFold(extension(e.Path), ".md") {
			continue
		}
		if !gone && !c.tool.Untrusted && !adds(e, given) {
			continue
		}
		marked, err := note.MarkUntrusted(e.Path, *e.After)
		if err != nil {
			c.notices = append(c.notices, e.Path+" holds text from outside, and could not be marked as untrusted: "+err.Error())
			continue
		}
		if marked != *e.After {
			out[i].After = &marked
			c.notices = append(c.notices, e.Path+" is marked as untrusted, because it holds text from outside; read it again for its hash")
		}
	}
	return out
}

// keepMarks puts the property back where an edit takes it away: that text from
// outside can be trusted is for a person to say. A change that is taken back takes
// its words along, and then its mark.
func (c *call) keepMarks(set change.Set, reverts bool) change.Set {
	if c.who.Kind == access.Person {
		return set
	}
	out := set
	for i, e := range set {
		if e.Before == nil || e.After == nil || !note.Parse(cmp.Or(e.From, e.Path), []byte(*e.Before)).IsUntrusted() || note.Parse(e.Path, []byte(*e.After)).IsUntrusted() {
			continue
		}
		if reverts && bodyOf(*e.Before) != bodyOf(*e.After) {
			continue
		}
		marked, err := note.MarkUntrusted(e.Path, *e.After)
		if err != nil || marked == *e.After {
			c.notices = append(c.notices, e.Path+" loses its mark as untrusted")
			continue
		}
		if len(out) > 0 && &out[0] == &set[0] {
			out = slices.Clone(set)
		}
		out[i].After = &marked
		c.notices = append(c.notices, e.Path+" stays marked as untrusted; only a person can take the mark off")
	}
	return out
}

// bodyOf is a text without its front matter.
func bodyOf(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if _, rest, ok := strings.Cut(text, "---\n"); ok && strings.HasPrefix(text, "---\n") {
		if _, body, ok := strings.Cut(rest, "\n---"); ok {
			return strings.TrimSpace(body)
		}
	}
	return strings.TrimSpace(text)
}

func extension(path string) string { return path[max(0, strings.LastIndexByte(path, '.')):] }

// leastTaint is the length from which on a line that a caller wrote counts.
const leastTaint = 8

// adds reports whether an edit brings in a line that the caller wrote. Links that
// follow a renamed note, or a tag that is renamed, are not the caller's words.
func adds(e change.Edit, given []string) bool {
	old := ""
	if e.Before != nil {
		old = *e.Before
	}
	for line := range strings.Lines(*e.After) {
		line = strings.TrimSpace(line)
		if line == "" || strings.Contains(old, line) {
			continue
		}
		if slices.ContainsFunc(given, func(g string) bool {
			return strings.Contains(g, line) || len(strings.TrimSpace(g)) >= leastTaint && strings.Contains(line, strings.TrimSpace(g))
		}) {
			return true
		}
	}
	return false
}

// texts are all strings in arguments, however deep, the names of fields too: a
// property is named by the caller.
func texts(args json.RawMessage) []string {
	var v any
	if json.Unmarshal(args, &v) != nil {
		return nil
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for name, x := range v {
				out = append(out, name)
				walk(x)
			}
		}
	}
	walk(v)
	return out
}
