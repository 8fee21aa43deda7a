package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/app"
	"lore/internal/vault/sample"
)

// childMark makes the test binary the program itself.
const childMark = "LORE_TEST_IS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(childMark) != "" {
		os.Exit(app.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(os.Args[0], append([]string{"--vault", dir}, args...)...)
	cmd.Env = append(os.Environ(), childMark+"=1", "HOME="+home, "USERPROFILE="+home, "LOCALAPPDATA="+home, "APPDATA="+home,
		"XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "LORE_EMBED_MODEL=none")
	cmd.Stderr = os.Stderr
	return cmd
}

// TestChildProcess talks to the program as clients do, over its standard input
// and output, with the whole program behind it.
func TestChildProcess(t *testing.T) {
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			dir, shown := t.TempDir(), ""
			if err := sample.Copy(dir); err != nil {
				t.Fatal(err)
			}
			c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, says("accept", map[string]any{"confirm": true}, &shown))
			cs, err := c.Connect(t.Context(), &sdk.CommandTransport{Command: program(t, dir, "mcp", "--hold", "0s", "--confirm")}, &sdk.ClientSessionOptions{ProtocolVersion: era})
			if err != nil {
				t.Fatal(err)
			}
			// The vault was never indexed: the list is there at once, the call waits.
			if n := len(toolsOf(t, cs)); n != 16 {
				t.Errorf("%d tools", n)
			}
			if res := call(t, cs, "read_note", map[string]any{"path": "Matcha"}); res.IsError {
				t.Error(textOf(res))
			}
			res := call(t, cs, "edit_note", map[string]any{"path": "Notes/Matcha.md", "search": "temperature: 75", "replace": "temperature: 71"})
			if !strings.Contains(read(t, dir, "Notes/Matcha.md"), "temperature: 71") {
				t.Errorf("not written: %s", textOf(res))
			}
			res = call(t, cs, "delete_note", map[string]any{"path": "Matcha"})
			if !strings.Contains(textOf(res), "pending_confirmation") {
				t.Error(textOf(res))
			}
			if err := cs.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRefusedAtTheStart(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"mcp", "--toolsets", "nots"}, {"mcp", "--vault", dir + "/no"}, {"mcp", "word"}} {
		cmd := program(t, dir, args...)
		cmd.Stderr = nil
		out, err := cmd.Output()
		if err == nil || len(out) > 0 {
			t.Errorf("%v: %v, %q", args, err, out)
		}
	}
}

// TestChildGoesOn: what is not a message ends nothing.
func TestChildGoesOn(t *testing.T) {
	cmd := program(t, t.TempDir(), "mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	for _, c := range []struct{ say, hear string }{
		{"GET / HTTP/1.1\r\n\r\n", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{`{"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,`},
		{`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, `{"jsonrpc":"2.0","id":2,"result":{`},
		{`{"jsonrpc":"2.0","id":"three","method":"ping"`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{`[{"jsonrpc":"2.0","id":4,"method":"ping"}]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`},
		{`{"jsonrpc":"2.0","id":"five","method":"ping"}`, `{"jsonrpc":"2.0","id":"five","result":{}}`},
	} {
		if _, err := io.WriteString(in, c.say+"\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := answers.ReadString('\n'); err != nil || !strings.HasPrefix(got, c.hear) {
			t.Errorf("%s was answered with %s %v", c.say, got, err)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(answers); err != nil || len(rest) > 0 {
		t.Errorf("after the end: %s, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the client hung up, which is a good end: %v", err)
	}
}

// TestChildTellsNews edits a note beside the running program, as an editor does:
// the watcher sees it, the index follows, and the client hears of it.
func TestChildTellsNews(t *testing.T) {
	for _, era := range eras[:2] {
		t.Run(era, func(t *testing.T) {
			dir, e := t.TempDir(), newEar()
			if err := sample.Copy(dir); err != nil {
				t.Fatal(err)
			}
			c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, e.options())
			e.hook(c)
			cs, err := c.Connect(t.Context(), &sdk.CommandTransport{Command: program(t, dir, "mcp")}, &sdk.ClientSessionOptions{ProtocolVersion: era})
			if err != nil {
				t.Fatal(err)
			}
			e.listen(t, cs, "note:///Notes/Matcha.md")
			write(t, dir, "Prompts/Another.md", "About {{topic}}.\n")
			// The program may begin to watch a moment after it answers: an editor
			// saves again and again.
			again := time.NewTicker(time.Second)
			defer again.Stop()
			for n, heard := 0, ""; heard == ""; n++ {
				write(t, dir, "Notes/Matcha.md", fmt.Sprintf("# Matcha\n\nwritten by an editor, %d\n", n))
				select {
				case heard = <-e.updated:
					if heard != "note:///Notes/Matcha.md" {
						t.Errorf("heard of %s", heard)
					}
				case <-again.C:
				}
			}
			for promptsOf(t, cs)["another"] == nil {
				<-e.prompts
			}
			if err := cs.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
