package process

import (
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lore/internal/tool/access"
)

// Peer is the program at the other end of a TCP connection on this machine: from
// is its address, to is ours. It is nil for another machine, and for a process
// of another user.
func Peer(from, to netip.AddrPort) []access.Process {
	if !from.Addr().IsLoopback() {
		return nil
	}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if socket := socketOf(string(b), from, to); socket != "" {
			return System().Program(ownerOf(socket))
		}
	}
	return nil
}

// socketOf finds the socket of a connection in a table of the kernel.
func socketOf(table string, from, to netip.AddrPort) string {
	local, remote := kernelForm(from), kernelForm(to)
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) > 9 && slices.Contains(local, f[1]) && slices.Contains(remote, f[2]) {
			return f[9]
		}
	}
	return ""
}

// kernelForm is an address as the tables write it: words of four bytes, each in
// the order of this machine; an IPv4 address may stand in the table of IPv6.
func kernelForm(a netip.AddrPort) []string {
	port := ":" + strings.ToUpper(hex.EncodeToString([]byte{byte(a.Port() >> 8), byte(a.Port())}))
	sixteen := a.Addr().As16()
	out := []string{words(sixteen[:]) + port}
	if ip := a.Addr().Unmap(); ip.Is4() {
		four := ip.As4()
		out = append(out, words(four[:])+port)
	}
	return out
}

func words(b []byte) string {
	var out []byte
	for w := range slices.Chunk(b, 4) {
		out = append(out, w[3], w[2], w[1], w[0]) // every system that Lore is built for is little-endian
	}
	return strings.ToUpper(hex.EncodeToString(out))
}

// ownerOf is the process that has a socket open, or 0.
func ownerOf(socket string) int {
	want := "socket:[" + socket + "]"
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0
	}
	for _, dir := range slices.Backward(all) {
		files, err := os.ReadDir(dir + "/fd")
		if err != nil {
			continue // another user's, or it ended
		}
		for _, f := range files {
			if to, err := os.Readlink(dir + "/fd/" + f.Name()); err == nil && to == want {
				pid, _ := strconv.Atoi(filepath.Base(dir)) // digits, see above
				return pid
			}
		}
	}
	return 0
}
