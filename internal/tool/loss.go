package tool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lore/internal/change"
	"lore/internal/tool/access"
)

// A loss is what of the old text a plan takes away, beyond what a standing
// answer allows.
type loss struct {
	shrinks bool   // a note loses more than half of its text
	erodes  bool   // nearly all of a short note, or a little of many notes
	words   string // for the person who is asked
}

const (
	// runLength is how far back the steps of one caller count as one piece of
	// work: a token has no end.
	runLength = 24 * time.Hour
	// mostGone is how many words a caller may take out of notes in that time
	// before a person is asked.
	mostGone = 250
	// nearlyAll is the share of a short note whose loss is asked about.
	nearlyAll = 0.75
)

// earlierToo says that the words are counted from before the caller's work.
const earlierToo = ", counting its earlier changes"

// measure finds out what a plan loses. For programs and models it is measured
// against the state before their work, so that many small cuts count as the one
// that they come to.
func (c *call) measure(ctx context.Context, set change.Set) (loss, error) {
	own := set.Losses()
	out := loss{shrinks: set.Shrinks()}
	if len(own) > 0 {
		out.words = own[0].String()
	}
	if c.who.Kind == access.Person || len(own) == 0 {
		return out, nil
	}
	var earlier change.Set
	if c.deps.Since != nil {
		var err error
		if earlier, err = c.deps.Since(ctx, c.who, c.deps.Now().Add(-runLength)); err != nil {
			return out, fmt.Errorf("%s: earlier changes cannot be read: %w", c.tool.Name, err)
		}
	}
	all := continued(earlier, set).Losses()
	gone := 0
	for i, l := range all {
		gone += l.Gone
		out.shrinks = out.shrinks || l.Halves()
		out.erodes = out.erodes || l.Share() > nearlyAll
		if i == 0 {
			out.words = l.String()
			if len(earlier) > 0 {
				out.words += earlierToo
			}
		}
	}
	if gone > mostGone && !out.shrinks && !out.erodes {
		out.erodes = true
		out.words = fmt.Sprintf("%d words in %d notes would be lost"+earlierToo, gone, len(all))
	}
	return out, nil
}

// continued is a set as if it were made together with what its caller did
// earlier.
func continued(earlier, set change.Set) change.Set {
	was := make(map[string]change.Edit, len(earlier))
	for _, e := range earlier {
		was[e.Path] = e
	}
	var out change.Set
	for _, e := range set {
		at := e.Path
		if e.From != "" {
			at = e.From
		}
		prev, ok := was[at]
		delete(was, at)
		switch {
		case !ok:
			out = append(out, e)
		case e.Kind() == change.Moves && e.After == nil: // as it is
			out = append(out, change.Edit{Path: e.Path, Before: prev.Before, After: prev.After})
		case e.After == nil: // removed, which is asked about in any case
		default:
			out = append(out, change.Edit{Path: e.Path, Before: base(prev, e), After: e.After})
		}
	}
	for _, e := range earlier {
		if _, left := was[e.Path]; left {
			out = append(out, e)
		}
	}
	return out
}

// base is what a note held before its caller began: the text then, and what
// others have added since. It is nil for a note that is the caller's own.
func base(prev, e change.Edit) *string {
	if e.Before == nil || prev.After == nil || *e.Before == *prev.After {
		return prev.Before
	}
	left := map[string]int{}
	for l := range strings.Lines(*prev.After) {
		left[strings.TrimRight(l, "\r\n")]++
	}
	var b strings.Builder
	if prev.Before != nil {
		b.WriteString(*prev.Before + "\n")
	}
	for l := range strings.Lines(*e.Before) {
		l = strings.TrimRight(l, "\r\n")
		if left[l] > 0 {
			left[l]--
			continue
		}
		b.WriteString(l + "\n")
	}
	text := b.String()
	return &text
}

// warnings are what a person should know about the files of a plan.
func (c *call) warnings(set change.Set) []string {
	out := c.links(set)
	if c.deps.Warn != nil && len(set) > 0 {
		out = append(out, c.deps.Warn(set)...)
	}
	return out
}
