package widget

import (
	"strings"

	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/markdown"
)

// An Offer is which notes may be meant by what is typed after [[.
type Offer struct {
	Notes []string // all that there are
	list  []string // those that fit
	at    int
	from  int // where the name begins
}

// mostOffers is how many notes are offered.
const mostOffers = 5

// Close offers nothing any more.
func (o *Offer) Close() { o.list, o.at = nil, 0 }

// Look offers the notes that fit, and reports whether one is being named.
func (o *Offer) Look(e *Editor) bool {
	o.Close()
	before := string(e.text[:e.at])
	i := strings.LastIndex(before, "[[")
	if i < 0 || strings.ContainsAny(before[i+2:], "]\n|#") {
		return false
	}
	typed := strings.ToLower(before[i+2:])
	o.from = len([]rune(before[:i+2]))
	var holds []string
	for _, n := range o.Notes {
		low := strings.ToLower(n)
		name := low[strings.LastIndexByte(low, '/')+1:]
		switch {
		case strings.HasPrefix(low, typed), strings.HasPrefix(name, typed):
			o.list = append(o.list, n)
		case strings.Contains(low, typed):
			holds = append(holds, n)
		}
	}
	o.list = append(o.list, holds...)
	o.list = o.list[:min(len(o.list), mostOffers)]
	return true
}

// Key takes a key while notes are offered, and reports whether it was one for
// that.
func (o *Offer) Key(stroke string, e *Editor) bool {
	if len(o.list) == 0 {
		return false
	}
	switch stroke {
	case "up":
		o.at = max(0, o.at-1)
	case "down":
		o.at = min(len(o.list)-1, o.at+1)
	case "tab", "enter":
		e.cut(o.from, e.at)
		e.Insert(strings.TrimSuffix(o.list[o.at], ".md") + "]]")
		o.Close()
	case "esc":
		o.Close()
	default:
		return false
	}
	return true
}

// Draw draws what is offered.
func (o *Offer) Draw(p draw.Screen, width int) []string {
	var out []string
	for i, n := range o.list {
		text := markdown.Clip("    [["+draw.OneLine(n), width)
		if i == o.at {
			text = p.Bold(markdown.Clip("  ▸ [["+draw.OneLine(n), width))
		}
		out = append(out, text)
	}
	return out
}
