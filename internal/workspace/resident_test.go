package workspace

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"testing"

	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tools/notes"
	"lore/internal/workspace/peer"
)

// breaking is a door whose calls break off, in a process that lives on.
type breaking struct{ tool.Door }

func (breaking) Call(context.Context, access.Principal, string, json.RawMessage) (tool.Result, error) {
	panic(http.ErrAbortHandler)
}

// TestACallThatBreaksOffShutsNobodyOut meets a holder that does not answer one
// call and is there all the same: a process that leans on it must look for it
// again, because it shut the door, and must not do so for ever.
func TestACallThatBreaksOffShutsNobodyOut(t *testing.T) {
	dir, err := os.MkdirTemp("", "lore") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	log := slog.New(slog.DiscardHandler)
	shelf := tool.NewRegistry(tool.Deps{}, notes.Tools(notes.Env{}))
	inside := peer.NewDeferred(shelf)
	inside.Open(breaking{shelf}, nil)
	host, err := peer.Listen(peer.Options{Dir: dir, Door: inside, Bus: event.NewBus(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	r := &Resident{Log: log, Door: peer.NewDeferred(shelf), Bus: event.NewBus()}
	done := make(chan error, 1)
	go func() {
		_, err := r.Door.Call(t.Context(), access.Terminal(), "read_note", json.RawMessage(`{"path":"x.md"}`))
		done <- err
	}()
	for range 100 {
		link := peer.Visit(t.Context(), dir)
		if link == nil {
			t.Fatal("nobody answers")
		}
		if err := link.Learn(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Door.Open(link, nil)
		if err := r.followHolder(t.Context(), link); err != nil { // it would stay for ever
			t.Fatal(err)
		}
		if err := link.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if fault.Of(err) != fault.Unavailable {
				t.Error(err)
			}
			return
		default:
		}
	}
	t.Error("it is asked for ever")
}
