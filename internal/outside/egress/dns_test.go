package egress

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// A zone is a name server that answers on a real socket. Each name has a list
// of answers; the last one stays.
type zone struct {
	mu      sync.Mutex
	answers map[string][]string
	asked   map[string]int
}

// resolver starts the name server and returns what asks it.
func resolver(t *testing.T, answers map[string][]string) (*net.Resolver, *zone) {
	t.Helper()
	z := &zone{answers: answers, asked: map[string]int{}}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if _, err := conn.WriteTo(z.answer(buf[:n]), from); err != nil {
				return
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}, z
}

// answer is the packet that answers one question, RFC 1035.
func (z *zone) answer(question []byte) []byte {
	const head = 12
	var labels []string
	at := head
	for question[at] != 0 {
		labels = append(labels, string(question[at+1:at+1+int(question[at])]))
		at += 1 + int(question[at])
	}
	kind := binary.BigEndian.Uint16(question[at+1:])
	question = question[:at+5] // without the options that follow
	out := append([]byte{}, question...)
	copy(out[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	ip, ok := z.next(strings.ToLower(strings.Join(labels, ".")), kind)
	if !ok {
		out[3] |= 3 // no such name
		return out
	}
	if !ip.IsValid() {
		return out
	}
	out[7] = 1
	out = append(out, 0xc0, head)
	out = binary.BigEndian.AppendUint16(out, kind)
	out = append(out, 0, 1, 0, 0, 0, 0)
	out = binary.BigEndian.AppendUint16(out, uint16(len(ip.AsSlice())))
	return append(out, ip.AsSlice()...)
}

// next is the answer for a name, and false when nobody knows it. Only answers
// of the kind that was asked for count: 1 is A, 28 is AAAA.
func (z *zone) next(name string, kind uint16) (netip.Addr, bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	all, ok := z.answers[name]
	if !ok {
		return netip.Addr{}, false
	}
	ip := netip.MustParseAddr(all[min(z.asked[name], len(all)-1)])
	if ip.Is4() != (kind == 1) {
		return netip.Addr{}, true
	}
	z.asked[name]++
	return ip, true
}

// count is how often a name was asked for, in the kind that it has.
func (z *zone) count(name string) int {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.asked[name]
}
