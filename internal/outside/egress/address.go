package egress

import "net/netip"

// A span is a range of addresses that are not on the public internet.
type span struct {
	prefix netip.Prefix
	why    string
}

func spans(why string, prefixes ...string) []span {
	var out []span
	for _, p := range prefixes {
		out = append(out, span{netip.MustParsePrefix(p), why})
	}
	return out
}

func join(parts ...[]span) []span {
	var out []span
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// instance are the addresses at which machines in data centres tell programs on
// them their keys. Nobody keeps a search engine there, so no setting opens them.
// The one of Azure lies in public space.
var instance = spans("it is a cloud metadata service, which reveals credentials",
	"169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32",
	"fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128")

// nowhere are addresses that are nobody's: no setting opens them either.
var nowhere = join(
	spans("it is an unspecified address", "0.0.0.0/8", "::/128"),
	spans("it is a multicast address", "224.0.0.0/4", "255.255.255.255/32", "ff00::/8"),
)

// v4 is what IANA's registry of special addresses does not call global.
var v4 = join(
	spans("it is this computer", "127.0.0.0/8"),
	spans("it is on a private network", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
	spans("it is on a provider's internal network", "100.64.0.0/10"),
	spans("it is a link-local address", "169.254.0.0/16"),
	spans("it is reserved for protocols", "192.0.0.0/24", "192.88.99.0/24"),
	spans("it is reserved for documentation", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
	spans("it is reserved for benchmarks", "198.18.0.0/15"),
	spans("it is reserved", "240.0.0.0/4"),
)

// v6 is what is private within [global], and names for what lies beyond it.
var v6 = join(
	spans("it is this computer", "::1/128"),
	spans("it is on a private network", "fc00::/7", "fec0::/10"),
	spans("it is a link-local address", "fe80::/10"),
	spans("it is reserved for protocols", "2001::/23", "100::/64", "64:ff9b:1::/48"),
	spans("it is a tunnel to an address that cannot be checked", "2002::/16"),
	spans("it is reserved for documentation", "2001:db8::/32", "3fff::/20"),
)

var (
	// global is the one part of IPv6 that was given out.
	global = netip.MustParsePrefix("2000::/3")
	// nat64 carries IPv4 for networks that have none.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

// never tells why an address is refused whatever a person configured, or "".
func never(a netip.Addr) string {
	a = bare(a)
	for _, at := range []netip.Addr{a, carried(a)} {
		for _, s := range [][]span{instance, nowhere} {
			if why := find(s, at); why != "" {
				return why
			}
		}
	}
	return ""
}

// private tells why an address is not on the public internet, or "" when it is.
func private(a netip.Addr) string {
	a = bare(a)
	if !a.IsValid() {
		return "it is not a valid address"
	}
	if why := never(a); why != "" {
		return why
	}
	if a.Is4() {
		return find(v4, a)
	}
	if why := find(v6, a); why != "" {
		return why
	}
	if !global.Contains(a) && !nat64.Contains(a) {
		return "it is reserved"
	}
	// Both must be public, the address and what it carries.
	return find(v4, carried(a))
}

// bare is an address in its one form: IPv4 is IPv4 however it is written, and
// the name of a network card on this machine is left out.
func bare(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// carried is the IPv4 address that an IPv6 address stands for, else no address:
// that of a NAT64, or that of a machine behind ISATAP, in whatever network.
func carried(a netip.Addr) netip.Addr {
	if !a.Is6() {
		return netip.Addr{}
	}
	b := a.As16()
	isatap := b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
	if nat64.Contains(a) || isatap {
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return netip.Addr{}
}

func find(all []span, a netip.Addr) string {
	for _, s := range all {
		if s.prefix.Contains(a) {
			return s.why
		}
	}
	return ""
}
