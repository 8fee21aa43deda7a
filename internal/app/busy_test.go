package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lore/internal/event"
	"lore/internal/machine/home"
	"lore/internal/workspace/peer"
)

// A slowModel is a server of embeddings that answers nobody before it is let.
type slowModel struct {
	*httptest.Server
	asked atomic.Int64
	quick atomic.Bool // it answers all the same
	let   chan struct{}
}

func newSlowModel(t *testing.T) *slowModel {
	m := &slowModel{let: make(chan struct{})}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if json.NewDecoder(r.Body).Decode(&in) != nil {
			return
		}
		m.asked.Add(1)
		now := make(chan struct{})
		if m.quick.Load() {
			close(now)
		}
		select {
		case <-now:
		case <-m.let:
		case <-r.Context().Done():
			return
		}
		out := struct {
			Embeddings [][]float32 `json:"embeddings"`
		}{}
		for range in.Input {
			out.Embeddings = append(out.Embeddings, []float32{1, 2, 2})
		}
		_ = json.NewEncoder(w).Encode(out) // who is gone does not miss it
	}))
	t.Cleanup(m.Close)
	return m
}

// waits waits until the model was asked so often.
func (m *slowModel) waits(t *testing.T, n int64) {
	t.Helper()
	for range 2000 {
		if m.asked.Load() >= n {
			return
		}
		time.Sleep(10 * time.Millisecond) // another process is on its way
	}
	t.Fatalf("asked %d times, not %d", m.asked.Load(), n)
}

// indexing is a vault whose meaning is being learnt, which takes as long as the
// model wants.
func indexing(t *testing.T) (*lab, *slowModel, *exec.Cmd) {
	t.Helper()
	l, m := newLab(t), newSlowModel(t)
	l.env = append(l.env, "LORE_EMBED_MODEL=ollama:slow", "LORE_EMBED_BASE_URL="+m.URL)
	l.put("tea.md", "# Tea\n\nzebra\n")
	m.quick.Store(true)
	l.must(0, "index")
	m.quick.Store(false)
	m.asked.Store(0)
	l.put("cup.md", "# Cup\n\nhorse\n")
	cmd := l.command(nil, "index")
	cmd.Stderr = &logged{t, "index"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m.waits(t, 1)
	l.holder() // it can be reached
	return l, m, cmd
}

// TestOthersAskWhileMeaningIsLearnt searches a vault by its words while another
// process gives its passages their vectors.
func TestOthersAskWhileMeaningIsLearnt(t *testing.T) {
	l, m, index := indexing(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	search := l.command(nil, "search", "zebra", "--mode", "lexical")
	found := make(chan string, 1)
	go func() {
		out, _ := search.CombinedOutput()
		found <- string(out)
	}()
	select {
	case out := <-found:
		if !strings.Contains(out, "tea.md") {
			t.Errorf("found %s", out)
		}
	case <-ctx.Done():
		t.Error("nothing is found before the last vector is there")
	}
	close(m.let)
	if err := index.Wait(); err != nil {
		t.Error(err)
	}
}

// TestCommandOutlivesItsHolder kills the process that a command leans on while
// it works for it, and lets another one leave in order.
func TestCommandOutlivesItsHolder(t *testing.T) {
	l, m, index := indexing(t)
	search := l.command(nil, "search", "zebra")
	var out strings.Builder
	search.Stdout, search.Stderr = &out, &out
	if err := search.Start(); err != nil {
		t.Fatal(err)
	}
	m.waits(t, 2) // the question is with the model, by the holder
	if err := index.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = index.Wait() // it was killed
	close(m.let)
	if err := search.Wait(); err != nil || !strings.Contains(out.String(), "tea.md") {
		t.Errorf("%v, %s", err, out.String())
	}
}

// TestHolderThatIsStopped lets a process hold the vault and take every visitor
// in, and answer none, as one that was stopped does.
func TestHolderThatIsStopped(t *testing.T) {
	l := newLab(t)
	l.put("tea.md", "# Tea\n\nzebra\n")
	l.must(0, "index")
	found, err := filepath.Glob(filepath.Join(l.around, "data", "lore", "*", "index.lock"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	release, ok, err := home.Lock(found[0])
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer release()
	dir, err := os.MkdirTemp("", "lore") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	host, err := peer.Listen(peer.Options{Dir: filepath.Dir(found[0]), Door: peer.NewDeferred(nil), Bus: event.NewBus(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Skip(err) // the folder for tests is too deep for a socket
	}
	card := filepath.Join(filepath.Dir(found[0]), "holder.json")
	text, err := os.ReadFile(card)
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Close(); err != nil {
		t.Fatal(err)
	}
	var said map[string]any
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	said["socket"] = socket.Addr().String()
	if text, err = json.Marshal(said); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(card, text, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, args := range [][]string{{"search", "zebra"}, {"write", "cup", "--content", "x", "--yes"}} {
		done := make(chan reply, 1)
		go func() { done <- l.lore(nil, args...) }()
		select {
		case r := <-done:
			if args[0] == "search" && (r.code != 0 || !strings.Contains(r.out, "tea.md")) || args[0] == "write" && !strings.Contains(r.err, "only one can change it") {
				t.Errorf("%v: %+v", args, r)
			}
		case <-ctx.Done():
			t.Fatalf("%v waits for ever", args)
		}
	}
}
