//go:build !linux

package bert

// mayUseTiles is about AMX, which is used on Linux only.
func mayUseTiles() bool { return false }
