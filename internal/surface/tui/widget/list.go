package widget

import (
	"strings"
	"unicode/utf8"

	"lore/internal/surface/cli/draw"
	"lore/internal/surface/tui/markdown"
)

// An Item is one line of a list.
type Item struct{ Label, Value string }

// A List lets the person choose, filtered by what is typed.
type List struct {
	Title   string
	Items   []Item
	Waiting bool   // the items are on their way
	Wrong   string // what went wrong with some of them
	filter  string
	at      int
}

// fit are the items that hold every word of the filter.
func (l *List) fit() []Item {
	var out []Item
	words := strings.Fields(strings.ToLower(l.filter))
next:
	for _, it := range l.Items {
		low := strings.ToLower(it.Label)
		for _, w := range words {
			if !strings.Contains(low, w) {
				continue next
			}
		}
		out = append(out, it)
	}
	return out
}

// Type adds to the filter.
func (l *List) Type(text string) {
	l.filter += strings.Join(strings.Fields(text), " ")
	if strings.HasSuffix(text, " ") {
		l.filter += " "
	}
	l.at = 0
}

// Key takes a key that moves or filters, and returns what Enter chose.
func (l *List) Key(stroke, text string) (chosen *Item) {
	fit := l.fit()
	switch stroke {
	case "up":
		l.at = max(0, l.at-1)
	case "down":
		l.at = max(0, min(len(fit)-1, l.at+1))
	case "backspace":
		if l.filter != "" {
			_, size := utf8.DecodeLastRuneInString(l.filter)
			l.filter, l.at = l.filter[:len(l.filter)-size], 0
		}
	case "enter":
		if l.at < len(fit) {
			return &fit[l.at]
		}
	default:
		l.Type(text)
	}
	return nil
}

// Draw draws the list in so many lines.
func (l *List) Draw(p draw.Screen, width, height int) []string {
	out := []string{p.Bold(markdown.Clip(l.Title+": "+draw.OneLine(l.filter)+"▏", width))}
	fit := l.fit()
	room := max(1, height-2)
	from := max(0, min(l.at-room/2, len(fit)-room))
	for i := from; i < len(fit) && i < from+room; i++ {
		text := markdown.Clip("  "+draw.OneLine(fit[i].Label), width)
		if i == l.at {
			text = p.Bold(markdown.Clip("▸ "+draw.OneLine(fit[i].Label), width))
		}
		out = append(out, text)
	}
	switch {
	case l.Waiting:
		out = append(out, p.Dim("  Loading …"))
	case len(fit) == 0:
		out = append(out, p.Dim("  No matches"))
	}
	if l.Wrong != "" {
		out = append(out, p.Dim(markdown.Clip("  "+draw.OneLine(l.Wrong), width)))
	}
	return out
}
