//go:build torture && linux

package torture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A server is a running lore serve, called with a token as a program would.
type server struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string
	token   string
}

var addressOf = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// serve starts lore serve on the vault and waits until it answers.
func (w *world) serve() *server {
	w.t.Helper()
	w.mustLore("config", "set", "--yes", "limits.calls", "1000000")
	w.mustLore("config", "set", "--yes", "limits.changes", "1000000")
	made := w.mustLore("token", "create", "--yes", "--name", fmt.Sprint("torture ", time.Now().UnixNano()), "--scope", "read,write", "--json")
	var secret struct {
		Token string `json:"token"`
	}
	made.decode(w.t, &secret)
	if secret.Token == "" {
		w.t.Fatalf("no token in %v", made)
	}
	s := &server{t: w.t, token: secret.Token, cmd: w.command(context.Background(), "serve", "--listen", "127.0.0.1:0")}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	s.cmd.Stderr = s.cmd.Stdout
	if err := s.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(s.kill)
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if a := addressOf.FindString(lines.Text()); a != "" {
				select {
				case found <- a:
				default:
				}
			}
		}
	}()
	select {
	case s.address = <-found:
	case <-time.After(time.Minute):
		w.t.Fatal("the server says no address")
	}
	return s
}

// kill ends the server as a crash would.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()
}

// call calls a tool and decodes its answer.
func (s *server) call(name string, args map[string]any, into any) error {
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, s.address+"/api/v1/tools/"+name, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", name, res.Status, strings.TrimSpace(string(b)))
	}
	return json.Unmarshal(b, into)
}
