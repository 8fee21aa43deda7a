//go:build !linux && !darwin

package process

// System is the table of this machine: nothing is known here.
func System() Table { return func(int) (Info, bool) { return Info{}, false } }
