package vault

import "syscall"

func statChangeTime(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
