package egress

import (
	"net"
	"net/url"
	"strings"
)

// Loopback reports whether an address leads to this machine, by a name or a
// number that can mean nothing else.
func Loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
