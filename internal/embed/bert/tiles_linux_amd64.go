package bert

import (
	"sync"
	"syscall"
)

// mayUseTiles asks Linux for the tile registers of AMX, which a process has to
// do once. The state is large, so that the kernel gives it only on demand.
// Assembly that uses tiles gives them back before it returns, and the Go
// scheduler does not interrupt it in between.
var mayUseTiles = sync.OnceValue(func() bool {
	const requestPermission, tileData = 0x1023, 18
	_, _, errno := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return errno == 0
})
