package egress

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"lore/internal/fault"
)

// allowed is what a person configured.
type allowed struct {
	hosts  map[string]bool // "host", "host:port"
	ranges []netip.Prefix
}

func readAllowed(words []string) (allowed, error) {
	out := allowed{hosts: map[string]bool{}}
	for _, w := range words {
		if strings.Contains(w, "/") {
			p, err := netip.ParsePrefix(w)
			if err != nil {
				return out, wrongAllow(w)
			}
			out.ranges = append(out.ranges, p.Masked())
			continue
		}
		if a, err := netip.ParseAddr(strings.Trim(w, "[]")); err == nil {
			out.hosts[a.String()] = true
			continue
		}
		host, port, err := net.SplitHostPort(w)
		if err != nil {
			host, port = w, ""
		}
		if host == "" || strings.ContainsAny(host, " \t@?#") || port == "" && strings.Contains(host, ":") {
			return out, wrongAllow(w)
		}
		if port == "" {
			out.hosts[strings.ToLower(host)] = true
			continue
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return out, wrongAllow(w)
		}
		out.hosts[strings.ToLower(net.JoinHostPort(host, port))] = true
	}
	return out, nil
}

func wrongAllow(w string) error {
	return fault.Fix(fault.Invalid, "write host:port, a host, or a range like 10.1.0.0/16", "%q is not a host, host:port or address range", w)
}

func (a allowed) covers(ip netip.Addr) bool {
	ip = bare(ip)
	for _, p := range a.ranges {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

// Place is the host and port of an address, as [Options].Allow wants it.
func Place(u *url.URL) string { return hostPort(u) }
