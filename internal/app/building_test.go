package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tools/notes"
	"lore/internal/workspace/settings"
)

// TestAnswersWhileTheIndexIsBuilt: a process that stays answers a search before
// its first index is whole, and says so. Whatever needs every note waits.
func TestAnswersWhileTheIndexIsBuilt(t *testing.T) {
	dir, around := t.TempDir(), t.TempDir()
	for i := range 250 {
		text := fmt.Sprintf("# Tea %d\n\nsencha\n\n[[Hub]]\n", i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.md", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "Hub.md"), []byte("Hub\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"XDG_DATA_HOME": filepath.Join(around, "data"), "XDG_CONFIG_HOME": filepath.Join(around, "config"), "LORE_EMBED_MODEL": "none"}
	goOn := make(chan struct{})
	release := sync.OnceFunc(func() { close(goOn) })
	a := &app{env: func(k string) string { return env[k] }, errOut: io.Discard}
	a.now = func() time.Time {
		if isCalledFrom("index.(*progress).publish") { // the first batch is written
			<-goOn
		}
		return time.Now()
	}
	r, err := a.opener().Reside(settings.Flags{Vault: dir})
	if err != nil {
		t.Fatal(err)
	}
	living, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	defer func() { release(); leave(); <-left }()
	go func() { defer close(left); r.Live(living, nil) }()

	call := func(name, args string) (tool.Result, error) {
		return r.Door.Call(t.Context(), access.Terminal(), name, json.RawMessage(args))
	}
	res, err := call("search_notes", `{"query": "sencha"}`)
	if err != nil {
		t.Fatal(err)
	}
	found := res.Value.(notes.Found)
	if f := found.Index; len(found.Results) != 10 || f.Fresh || f.Pending != 151 || f.Reason != "the index is being built: 100 of 251 files so far (39%)" {
		t.Errorf("%d notes, %+v", len(found.Results), f)
	}
	type answer struct {
		tool string
		all  int
		err  error
	}
	answers := make(chan answer, 3)
	go func() { // whether the note is untrusted is not known yet
		res, err := call("read_note", `{"path": "Hub.md"}`)
		v, _ := res.Value.(notes.NoteText)
		all := 0
		if v.Index.Fresh {
			all = 250
		}
		answers <- answer{"read_note", all, err}
	}()
	go func() {
		res, err := call("list_backlinks", `{"path": "Hub"}`)
		v, _ := res.Value.(notes.Backlinks)
		answers <- answer{"list_backlinks", v.Total, err}
	}()
	go func() {
		res, err := call("rename_note", `{"path": "Hub", "new_path": "Center", "dry_run": true}`)
		answers <- answer{"rename_note", len(res.Changes) - 1, err}
	}()
	// That they count every note shows that they waited; this shows it sooner.
	if _, err := call("search_notes", `{"query": "sencha"}`); err != nil {
		t.Error(err)
	}
	if n := len(answers); n > 0 {
		t.Errorf("%d calls did not wait for the index", n)
	}
	release()
	for range 3 {
		if x := <-answers; x.err != nil || x.all != 250 {
			t.Errorf("%+v", x)
		}
	}
}

// isCalledFrom reports whether a function is among the callers.
func isCalledFrom(name string) bool {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, name) {
			return true
		}
		if !more {
			return false
		}
	}
}
