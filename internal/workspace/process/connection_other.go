//go:build !linux

package process

import (
	"net/netip"

	"lore/internal/tool/access"
)

// Peer is the program at the other end of a connection: nothing is known here.
func Peer(_, _ netip.AddrPort) []access.Process { return nil }
