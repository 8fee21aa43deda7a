package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/surface/cli"
)

// BenchmarkMCPRead reads a note over MCP on pipes: everything but the processes.
func BenchmarkMCPRead(b *testing.B) {
	for _, era := range []string{"2025-11-25", "2026-07-28"} {
		b.Run(era, func(b *testing.B) {
			around := b.TempDir()
			vault := filepath.Join(around, "vault")
			if err := os.MkdirAll(vault, 0o755); err != nil {
				b.Fatal(err)
			}
			text := "# Tea\n\n" + strings.Repeat("Green tea grows in the shade. See [[Milk]].\n", 40)
			if err := os.WriteFile(filepath.Join(vault, "Tea.md"), []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
			env := map[string]string{
				"XDG_DATA_HOME": filepath.Join(around, "data"), "XDG_CONFIG_HOME": filepath.Join(around, "config"), "LORE_VAULT": vault,
				"LORE_EMBED_MODEL": "none", "LORE_LIMITS_CALLS": "1000000000",
			}
			a := &app{now: time.Now, env: func(k string) string { return env[k] }, errOut: io.Discard}
			in, toServer := io.Pipe()
			fromServer, out := io.Pipe()
			done := make(chan error, 1)
			go func() { done <- a.mcp(context.Background(), cli.Globals{}, cli.MCPOptions{}, in, out) }()
			lines := bufio.NewReaderSize(fromServer, 1<<20)
			say := func(text string) {
				if _, err := io.WriteString(toServer, text+"\n"); err != nil {
					b.Fatal(err)
				}
			}
			hear := func() string {
				for {
					line, err := lines.ReadString('\n')
					if err != nil {
						b.Fatal(err)
					}
					if strings.Contains(line, `"id":`) { // what has none is news
						return line
					}
				}
			}
			meta := ""
			if era < "2026" {
				say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + era + `","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`)
				hear()
				say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			} else {
				meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + era + `","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"b","version":"1"}}`
			}
			call := func(i int) {
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read_note","arguments":{"path":"Tea.md"}%s}}`, i, meta))
				if got := hear(); !strings.Contains(got, "Green tea") {
					b.Fatal(got)
				}
			}
			call(1)
			b.ReportAllocs()
			i := 1
			for b.Loop() {
				i++
				call(i)
			}
			b.StopTimer()
			if err := toServer.Close(); err != nil {
				b.Fatal(err)
			}
			<-done
		})
	}
}
