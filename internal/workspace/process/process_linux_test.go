package process

import (
	"net"
	"net/netip"
	"os"
	"testing"
)

func TestStat(t *testing.T) {
	for line, want := range map[string]string{
		"12 (a b) c) S 7 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 1 1 1": "a b) c",
		"12 () S 7 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 1 1 1":       "",
	} {
		i, ok := parseStat(line)
		if !ok || i.PID != 12 || i.Parent != 7 || i.Start != 4242 || i.Name != want || !i.Leads {
			t.Errorf("%q: %+v, %v", line, i, ok)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add("12 (x) S 7 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 1 1 1")
	f.Add("1 )(")
	f.Fuzz(func(_ *testing.T, line string) { parseStat(line) })
}

func TestOwn(t *testing.T) {
	own := Own()
	if len(own) < 2 || own[0].PID != os.Getpid() || own[1].PID != os.Getppid() || own[0].Start == 0 {
		t.Errorf("%+v", own)
	}
}

// TestPeer finds this very process at the other end of a connection.
func TestPeer(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Log("not here: ", err)
			continue
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got := Peer(netip.MustParseAddrPort(c.LocalAddr().String()), netip.MustParseAddrPort(c.RemoteAddr().String()))
		if len(got) == 0 || got[0].PID != os.Getpid() {
			t.Errorf("%s: %+v", at, got)
		}
	}
	if got := Peer(netip.MustParseAddrPort("10.0.0.1:5"), netip.MustParseAddrPort("127.0.0.1:6")); got != nil {
		t.Errorf("another machine: %+v", got)
	}
}
