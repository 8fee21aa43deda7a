package vector

import "golang.org/x/sys/cpu"

//go:noescape
func dotsNEON(q, rows *int8, dim, count int, out *int32)

//go:noescape
func dotsSDOT(q, rows *int8, dim, count int, out *int32)

func detect() []kernel {
	found := []kernel{scalar, {name: "neon", dots: func(q, rows []int8, out []int32) {
		if checked(q, rows, out) {
			dotsNEON(&q[0], &rows[0], len(q), len(out), &out[0])
		}
	}}}
	if cpu.ARM64.HasASIMDDP {
		found = append(found, kernel{name: "neon-sdot", dots: func(q, rows []int8, out []int32) {
			if checked(q, rows, out) {
				dotsSDOT(&q[0], &rows[0], len(q), len(out), &out[0])
			}
		}})
	}
	return found
}
