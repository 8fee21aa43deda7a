package egress

import (
	"net/netip"
	"testing"
)

func TestPrivate(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string // "" is public
	}{
		{"8.8.8.8", ""},
		{"93.184.215.14", ""},
		{"1.1.1.1", ""},
		{"223.255.255.255", ""},
		{"100.63.255.255", ""},
		{"100.128.0.0", ""},
		{"172.15.255.255", ""},
		{"172.32.0.0", ""},
		{"198.17.255.255", ""},
		{"198.20.0.0", ""},
		{"2606:4700:4700::1111", ""},
		{"2a00:1450:4001:81b::200e", ""},
		{"::ffff:8.8.8.8", ""},
		{"64:ff9b::808:808", ""},
		{"2606:4700::200:5efe:808:808", ""},

		{"127.0.0.1", "it is this computer"},
		{"127.255.255.254", "it is this computer"},
		{"::1", "it is this computer"},
		{"::ffff:127.0.0.1", "it is this computer"},
		{"64:ff9b::7f00:1", "it is this computer"},
		{"64:ff9b::a00:1", "it is on a private network"},
		{"64:ff9b:1::808:808", "it is reserved for protocols"},
		{"2606:4700::200:5efe:a00:1", "it is on a private network"},
		{"2606:4700::5efe:7f00:1", "it is this computer"},
		{"fe80::5efe:808:808", "it is a link-local address"},
		{"fd00::5efe:808:808", "it is on a private network"},
		{"2002:7f00:1::1", "it is a tunnel to an address that cannot be checked"},
		{"2002:808:808::1", "it is a tunnel to an address that cannot be checked"},
		{"2001::7f00:1", "it is reserved for protocols"},
		{"10.0.0.1", "it is on a private network"},
		{"172.16.0.1", "it is on a private network"},
		{"172.31.255.255", "it is on a private network"},
		{"192.168.1.1", "it is on a private network"},
		{"::ffff:192.168.1.1", "it is on a private network"},
		{"fc00::1", "it is on a private network"},
		{"fdff::1", "it is on a private network"},
		{"fec0::1", "it is on a private network"},
		{"100.64.0.1", "it is on a provider's internal network"},
		{"100.127.255.255", "it is on a provider's internal network"},
		{"169.254.0.1", "it is a link-local address"},
		{"fe80::1", "it is a link-local address"},
		{"fe80::1%eth0", "it is a link-local address"},
		{"0.0.0.0", "it is an unspecified address"},
		{"0.1.2.3", "it is an unspecified address"},
		{"::", "it is an unspecified address"},
		{"::7f00:1", "it is reserved"}, // IPv4-compatible, long gone
		{"224.0.0.1", "it is a multicast address"},
		{"239.255.255.255", "it is a multicast address"},
		{"255.255.255.255", "it is a multicast address"},
		{"ff02::1", "it is a multicast address"},
		{"240.0.0.1", "it is reserved"},
		{"192.0.0.1", "it is reserved for protocols"},
		{"192.88.99.1", "it is reserved for protocols"},
		{"100::1", "it is reserved for protocols"},
		{"192.0.2.1", "it is reserved for documentation"},
		{"198.51.100.7", "it is reserved for documentation"},
		{"203.0.113.9", "it is reserved for documentation"},
		{"2001:db8::1", "it is reserved for documentation"},
		{"3fff:fff::1", "it is reserved for documentation"},
		{"198.18.0.1", "it is reserved for benchmarks"},
		{"198.19.255.255", "it is reserved for benchmarks"},
		{"5f00::1", "it is reserved"},
		{"4000::1", "it is reserved"},

		{"169.254.169.254", "it is a cloud metadata service, which reveals credentials"},
		{"::ffff:169.254.169.254", "it is a cloud metadata service, which reveals credentials"},
		{"64:ff9b::a9fe:a9fe", "it is a cloud metadata service, which reveals credentials"},
		{"fd00::5efe:a9fe:a9fe", "it is a cloud metadata service, which reveals credentials"},
		{"169.254.170.2", "it is a cloud metadata service, which reveals credentials"},
		{"100.100.100.200", "it is a cloud metadata service, which reveals credentials"},
		{"168.63.129.16", "it is a cloud metadata service, which reveals credentials"},
		{"192.0.0.192", "it is a cloud metadata service, which reveals credentials"},
		{"fd00:ec2::254", "it is a cloud metadata service, which reveals credentials"},
	} {
		if got := private(netip.MustParseAddr(c.in)); got != c.want {
			t.Errorf("%s: %q, want %q", c.in, got, c.want)
		}
	}
	if private(netip.Addr{}) == "" {
		t.Error("no address is public")
	}
}

// FuzzPrivate compares the table with the same rules told in another way: by
// the numbers of the bytes, and by what the standard library knows.
func FuzzPrivate(f *testing.F) {
	for _, s := range []string{
		"8.8.8.8", "127.0.0.1", "::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:a00:1::", "2001:0:1::", "2001:200::1", "2001:db8::", "3fff::1",
		"3fff:1000::1", "fe80::5efe:808:808", "2606:4700::5efe:a00:1", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "100.100.100.200", "::808:808", "ff02::1", "223.255.255.255",
	} {
		a := netip.MustParseAddr(s).As16()
		f.Add(a[:])
		b := netip.MustParseAddr(s).AsSlice()
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		if got, want := private(a) == "", public(b); got != want {
			t.Errorf("%s: public %v, by the other rules %v (%s)", a, got, want, private(a))
		}
	})
}

// public is the second formulation.
func public(b []byte) bool {
	if len(b) == 4 {
		return public4(b[0], b[1], b[2], b[3])
	}
	word := func(i int) int { return int(b[2*i])<<8 | int(b[2*i+1]) }
	zero := func(from, to int) bool {
		for i := from; i < to; i++ {
			if word(i) != 0 {
				return false
			}
		}
		return true
	}
	last := func() bool { return public4(b[12], b[13], b[14], b[15]) }
	if zero(0, 5) && word(5) == 0xffff {
		return last()
	}
	if word(0) == 0x64 && word(1) == 0xff9b && zero(2, 6) {
		return last()
	}
	if (word(4) == 0 || word(4) == 0x200) && word(5) == 0x5efe && !last() {
		return false
	}
	first := word(0)
	switch {
	case first < 0x2000, first > 0x3fff:
		return false
	case first == 0x2002:
		return false
	case first == 0x2001 && (word(1) < 0x200 || word(1) == 0xdb8):
		return false
	case first == 0x3fff && word(1) < 0x1000:
		return false
	}
	return true
}

func public4(a, b, c, d byte) bool {
	ip := netip.AddrFrom4([4]byte{a, b, c, d})
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	switch {
	case a == 0, a >= 224:
		return false
	case a == 100 && b >= 64 && b < 128:
		return false
	case a == 168 && b == 63 && c == 129 && d == 16:
		return false
	case a == 192 && b == 0 && (c == 0 || c == 2), a == 192 && b == 88 && c == 99:
		return false
	case a == 198 && (b == 18 || b == 19), a == 198 && b == 51 && c == 100, a == 203 && b == 0 && c == 113:
		return false
	}
	return true
}

func TestAllowWords(t *testing.T) {
	for _, c := range []struct {
		word string
		ok   bool
	}{
		{"localhost", true},
		{"localhost:8080", true},
		{"Search.Example:443", true},
		{"10.0.0.0/8", true},
		{"fd00::/8", true},
		{"127.0.0.1", true},
		{"::1", true},
		{"[::1]:8080", true},
		{"", false},
		{":8080", false},
		{"localhost:0", false},
		{"localhost:http", false},
		{"10.0.0.0/33", false},
		{"http://localhost:8080", false},
		{"me@host", false},
		{"a:b:c", false},
	} {
		if _, err := readAllowed([]string{c.word}); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.word, err)
		}
	}
}

func TestDisguised(t *testing.T) {
	for host, want := range map[string]bool{
		"127.1": true, "2130706433": true, "0x7f000001": true, "0X7F.1": true, "0177.0.0.1": true, "0": true, "1.2.3.4.5": true, "127.0.0.1.": true, "0x": true,
		"127.0.0.1": false, "::1": false, "example.org": false, "3com.com": false, "0x7f.example": false, "localhost": false, "a.b1": false,
	} {
		if disguised(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
}
