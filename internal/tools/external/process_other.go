//go:build !unix

package external

import "os/exec"

// inherited are the variables that every program is given; without the first
// ones hardly any starts on Windows.
var inherited = []string{
	"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "PATH", "TEMP", "TMP", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "APPDATA",
	"LOCALAPPDATA", "ProgramData", "ProgramFiles", "ProgramFiles(x86)", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "windir",
}

func alone(*exec.Cmd) {}

// terminate does nothing: there is no signal that a program could heed.
func terminate(*exec.Cmd) {}

func kill(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill() // it may be gone already
	}
}
