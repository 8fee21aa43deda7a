// Package bounds tells which limit a run has reached, or nearly. It counts nothing
// itself.
package bounds

import (
	"fmt"
	"time"

	"lore/internal/agent/chat"
)

// Reached says which limit a run has reached, before a request of so many tokens, at
// a price, is sent; "": none.
func Reached(r *chat.Run, tokens func() int, price func() float64) string {
	switch l := r.Limits; {
	case l.Steps > 0 && r.Steps >= l.Steps:
		return fmt.Sprintf("the limit of %d steps is reached", l.Steps)
	case l.Time > 0 && r.Worked >= l.Time:
		return fmt.Sprintf("the limit of %s of work is reached", l.Time)
	case l.Tokens > 0 && r.Usage.In+r.Usage.Out+tokens() > l.Tokens:
		return fmt.Sprintf("the limit of %d tokens is reached", l.Tokens)
	case l.Cost > 0 && r.Usage.CostUSD != nil && *r.Usage.CostUSD+price() > l.Cost:
		return fmt.Sprintf("the limit of $%.2f is reached", l.Cost)
	}
	return ""
}

// Near says which limit a run has reached by four fifths; "": none.
func Near(r *chat.Run) string {
	if r.Last {
		return "" // it is reached, and said
	}
	const most = 0.8
	switch l, used := r.Limits, r.Usage.In+r.Usage.Out; {
	case l.Steps > 0 && float64(r.Steps) >= most*float64(l.Steps):
		return fmt.Sprintf("%d of %d steps are used", r.Steps, l.Steps)
	case l.Time > 0 && float64(r.Worked) >= most*float64(l.Time):
		return fmt.Sprintf("%s of %s are used", r.Worked.Round(time.Second), l.Time)
	case l.Tokens > 0 && float64(used) >= most*float64(l.Tokens):
		return fmt.Sprintf("%d of %d tokens are used", used, l.Tokens)
	case l.Cost > 0 && r.Usage.CostUSD != nil && *r.Usage.CostUSD >= most*l.Cost:
		return fmt.Sprintf("$%.2f of $%.2f are used", *r.Usage.CostUSD, l.Cost)
	}
	return ""
}
