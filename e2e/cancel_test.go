package e2e

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lore/internal/app"
	"lore/internal/vault/sample"
)

// home gives the test folders of its own and returns a copy of the sample vault.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, sub := range map[string]string{"HOME": "home", "USERPROFILE": "home", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data"} {
		t.Setenv(name, filepath.Join(dir, sub))
	}
	for _, name := range []string{"LORE_VAULT", "LORE_LOG_LEVEL", "LORE_EMBED_MODEL"} {
		t.Setenv(name, "")
	}
	t.Setenv("LORE_MODEL", "quote") // whatever runs on this machine
	t.Setenv("LORE_KEYRING", "off")
	t.Setenv("LORE_LIMITS_WAIT", "60") // a machine at work is no reason to be behind
	vault := filepath.Join(dir, "vault")
	if err := sample.Copy(vault); err != nil {
		t.Fatal(err)
	}
	return vault
}

// usable asks the vault once more: whatever was interrupted, the answer is right.
func usable(t *testing.T, vault string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code := app.Run(t.Context(), []string{"search", "gaiwan", "--mode", "lexical", "--json", "--vault", vault}, strings.NewReader(""), &out, &errOut)
	if code != 0 || !strings.Contains(out.String(), `"path": "Notes/Gaiwan.md"`) || !strings.Contains(out.String(), `"fresh": true`) {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errOut.String())
	}
}

// A tripwire cancels when a text is written through it.
type tripwire struct {
	text   string
	cancel context.CancelFunc
}

func (w tripwire) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(w.text)) {
		w.cancel()
	}
	return len(b), nil
}

func TestInterrupted(t *testing.T) {
	t.Run("before it began", func(t *testing.T) {
		vault := home(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var errOut bytes.Buffer
		if code := app.Run(ctx, []string{"search", "tea", "--vault", vault}, nil, io.Discard, &errOut); code != 130 {
			t.Errorf("exit code %d: %s", code, errOut.String())
		}
		usable(t, vault)
	})
	t.Run("between reading and embedding", func(t *testing.T) {
		vault := home(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		wire := tripwire{"vault indexed", cancel}
		var out bytes.Buffer
		if code := app.Run(ctx, []string{"index", "--log-level", "info", "--json", "--vault", vault}, nil, &out, wire); code != 130 {
			t.Errorf("exit code %d", code)
		}
		if !strings.Contains(out.String(), `"kind": "cancelled"`) {
			t.Errorf("answered %s", out.String())
		}
		usable(t, vault)
	})
	t.Run("while it waits for input", func(t *testing.T) {
		home(t)
		ctx, cancel := context.WithCancel(t.Context())
		in, w := io.Pipe()
		defer func() { _ = w.Close() }() // ends the reader that was left behind
		if code := app.Run(ctx, []string{"call", "search_notes"}, readTrip{in, cancel}, io.Discard, io.Discard); code != 130 {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("at any moment", func(t *testing.T) {
		vault := home(t)
		for _, after := range []time.Duration{1, 3, 9, 27, 81} {
			ctx, cancel := context.WithCancel(t.Context())
			timer := time.AfterFunc(after*time.Millisecond, cancel)
			code := app.Run(ctx, []string{"index", "--rebuild", "--vault", vault}, nil, io.Discard, io.Discard)
			timer.Stop()
			cancel()
			if code != 0 && code != 130 {
				t.Errorf("after %d ms: exit code %d", after, code)
			}
			usable(t, vault)
		}
	})
}

// A readTrip cancels when it is read from, and then waits.
type readTrip struct {
	io.Reader
	cancel context.CancelFunc
}

func (r readTrip) Read(b []byte) (int, error) {
	r.cancel()
	return r.Reader.Read(b)
}

// TestFollowing: who follows the activity sees what others do, and keeps nobody
// from doing it.
func TestFollowing(t *testing.T) {
	vault := home(t)
	write := func(name string) {
		t.Helper()
		var out bytes.Buffer
		if code := app.Run(t.Context(), []string{"write", name, "--content", "x", "--yes", "--vault", vault}, nil, &out, &out); code != 0 {
			t.Errorf("exit code %d: %s", code, out.String())
		}
	}
	write("first")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun, stop := context.WithCancel(ctx)
	done := make(chan int, 1)
	go func() {
		out := io.MultiWriter(tripwire{"first.md", stop}, tripwire{"second.md", cancel})
		done <- app.Run(ctx, []string{"activity", "--follow", "--vault", vault}, nil, out, io.Discard)
	}()
	<-begun.Done()
	write("second")
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
