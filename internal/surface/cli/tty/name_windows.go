package tty

const (
	inName  = "CONIN$"
	outName = "CONOUT$"
)
