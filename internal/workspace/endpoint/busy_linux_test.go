package endpoint

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"
)

// TestABusyServerIsThere: a server that has no time for a knock listens all the same,
// and its card is not thrown away.
func TestABusyServerIsThere(t *testing.T) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	host := fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
	full := false
	for i := 0; i < 10 && !full; i++ { // until nobody is let in any more
		conn, err := net.DialTimeout("tcp", host, 100*time.Millisecond)
		if full = err != nil; !full {
			t.Cleanup(func() { _ = conn.Close() })
		}
	}
	if !full {
		t.Skip("this system always lets in one more")
	}
	dir := t.TempDir()
	if _, err := Light(dir, "http://"+host); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := Find(context.Background(), dir); got != "http://"+host {
			t.Fatalf("found %q", got)
		}
	}
}
