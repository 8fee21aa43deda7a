package vector

import "golang.org/x/sys/cpu"

//go:noescape
func dotsAVX2(q, rows *int8, dim, count int, out *int32)

//go:noescape
func dotsVNNI(q, rows *int8, dim, count int, out *int32, bias int32)

func detect() []kernel {
	found := []kernel{scalar}
	if cpu.X86.HasAVX2 {
		found = append(found, kernel{name: "avx2", dots: func(q, rows []int8, out []int32) {
			if checked(q, rows, out) {
				dotsAVX2(&q[0], &rows[0], len(q), len(out), &out[0])
			}
		}})
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI {
		found = append(found, kernel{name: "avx512-vnni", prepares: true, dots: func(q, rows []int8, out []int32) {
			if !checked(q, rows, out) {
				return
			}
			// The instruction wants one unsigned side: rows are shifted by
			// 128 on the fly, which adds 128 times the sum of q.
			var sum int32
			for _, x := range q {
				sum += int32(x)
			}
			dotsVNNI(&q[0], &rows[0], len(q), len(out), &out[0], 128*sum)
		}})
	}
	return found
}
