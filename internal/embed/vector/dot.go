//go:build amd64 || arm64

package vector

// checked makes the lengths safe for assembly, which trusts them, and says
// whether there is anything to compute.
func checked(q, rows []int8, out []int32) bool {
	if len(out) == 0 {
		return false
	}
	if len(q) == 0 {
		clear(out)
		return false
	}
	_ = rows[:len(q)*len(out)]
	return true
}
