//go:build unix

package tty

const (
	inName  = "/dev/tty"
	outName = inName
)
