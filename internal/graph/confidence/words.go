package confidence

import (
	"fmt"
	"strings"
)

// reasoning tells in plain words what was counted and what came out.
func reasoning(r Result, pieces []piece, silent int) string {
	var b strings.Builder
	if r.Known {
		fmt.Fprintf(&b, "It starts from the stated %.2f.", r.Old)
	} else {
		fmt.Fprintf(&b, "No confidence is stated, so it starts from %.2f.", r.Old)
	}
	var pro, con, less int
	for _, p := range pieces {
		switch {
		case p.weight > 0:
			pro++
		case p.weight < 0:
			con++
		}
		if p.counted != p.weight {
			less++
		}
	}
	switch {
	case pro+con == 0:
		b.WriteString(" Nothing speaks for or against it.")
	case con == 0:
		fmt.Fprintf(&b, " %s for it, nothing against it.", speak(pro))
	case pro == 0:
		fmt.Fprintf(&b, " %s against it, nothing for it.", speak(con))
	default:
		fmt.Fprintf(&b, " %s for it, %d against it.", speak(pro), con)
	}
	if less > 0 {
		fmt.Fprintf(&b, " %d of them count less, because they share a source.", less)
	}
	switch {
	case silent == 1:
		b.WriteString(" 1 relation says nothing about whether it is true.")
	case silent > 1:
		fmt.Fprintf(&b, " %d relations say nothing about whether it is true.", silent)
	}
	was, is := Round(r.Old), Round(r.New)
	switch {
	case is > was:
		fmt.Fprintf(&b, " It rises to %.2f.", is)
	case is < was:
		fmt.Fprintf(&b, " It falls to %.2f.", is)
	default:
		fmt.Fprintf(&b, " It stays at %.2f.", is)
	}
	return b.String()
}

func speak(n int) string {
	if n == 1 {
		return "1 reason speaks"
	}
	return fmt.Sprintf("%d reasons speak", n)
}
