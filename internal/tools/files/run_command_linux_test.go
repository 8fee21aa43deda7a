package files_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/files"
	"lore/internal/tools/files/jail"
	"lore/internal/vault"
)

// TestMain makes the jail's processes of this binary.
func TestMain(m *testing.M) {
	if code, ok := jail.Main(os.Args[1:]); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// A shop is a vault whose registry runs commands.
type shop struct {
	*testing.T
	dir string
	reg *tool.Registry
}

func newShop(t *testing.T, folder string) *shop {
	t.Helper()
	if _, err := jail.Run(t.Context(), jail.Command{Argv: []string{"true"}, Limits: jail.DefaultLimits()}, func(jail.Stream, []byte) {}); err != nil {
		t.Skip(err)
	}
	s := &shop{T: t, dir: t.TempDir()}
	s.put("Tea.md", "# Tea\n\ngreen\n")
	s.put("src/main.txt", "one\n")
	s.put("src/tool.sh", "#!/bin/sh\necho tool\n")
	s.put("pixel.png", "\x89PNG\x00")
	s.put(".env", "canary\n")
	s.put(".git/config", "canary\n")
	s.put("Private/plan.txt", "canary plan\n")
	if err := os.Link(filepath.Join(s.dir, ".env"), filepath.Join(s.dir, "hard.txt")); err != nil {
		t.Log(err)
	}
	place := tooltest.Open(t, s.dir, nil)
	s.reg = tool.NewRegistry(place.Deps(), files.Tools(files.Env{Vault: place.Vault, Store: place.Store, Fresh: place.Fresh, Folder: folder}))
	return s
}

func (s *shop) put(name, text string) {
	s.Helper()
	at := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o755); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) text(name string) string {
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

var agent = access.Principal{Kind: access.Agent, ID: "run-1", Surface: "test", Scopes: []access.Scope{access.Read, access.Write, access.Destroy, access.Exec}}

// run runs a command for somebody, and a person approves that it runs; what it
// wants to change is a question of its own.
func (s *shop) run(who access.Principal, script string) tool.Result {
	s.Helper()
	return s.runIn(s.Context(), who, script)
}

func (s *shop) runIn(ctx context.Context, who access.Principal, script string) tool.Result {
	s.Helper()
	args, _ := json.Marshal(map[string]any{"command": script, "timeout": 60})
	res, err := s.reg.Call(ctx, who, "run_command", args)
	if err != nil {
		s.Fatal(err)
	}
	if res.Question == nil || res.Question.Risk != "exec" {
		s.Fatalf("nobody was asked: %+v", res)
	}
	return s.approve(ctx, *res.Question)
}

func (s *shop) approve(ctx context.Context, q tool.Question) tool.Result {
	s.Helper()
	res, err := s.reg.Answer(ctx, access.Terminal(), q.ID, tool.Answer{Approve: true, Revision: q.Revision})
	if err != nil {
		s.Fatal(err)
	}
	return res
}

func TestCommandChangesFilesThroughTheDoor(t *testing.T) {
	s := newShop(t, "")
	res := s.run(agent, `cat src/main.txt; echo two >> src/main.txt; echo new > src/new.txt; rm Tea.md; echo x > .hidden; echo x > run.sh; touch src/tool.sh pixel.png; cp src/main.txt .m;  printf '\0' > data; echo oops >&2; exit 3`)
	if res.Question == nil || len(res.Question.Changes) != 3 || s.text("src/main.txt") != "one\n" || !strings.Contains(s.text("Tea.md"), "green") {
		t.Fatalf("changes were not asked about: %+v", res)
	}
	if d := res.Question.Changes[1].Diff; !strings.Contains(d, "+two") {
		t.Errorf("the diff is %q", d)
	}
	res = s.approve(t.Context(), *res.Question)
	out, ok := res.Value.(files.CommandResult)
	if !ok || out.ExitCode != 3 || out.Stdout != "one\n" || out.Stderr != "oops\n" || len(out.Output) != 9 || !strings.Contains(out.Output, "one\n") || !strings.Contains(out.Output, "oops\n") || out.Files != 3 { // two pipes have no order
		t.Errorf("%+v", res)
	}
	if s.text("src/main.txt") != "one\ntwo\n" || s.text("src/new.txt") != "new\n" || !strings.Contains(s.text("Tea.md"), "no such file") {
		t.Errorf("the changes were not made: %q %q %q", s.text("src/main.txt"), s.text("src/new.txt"), s.text("Tea.md"))
	}
	said := fmt.Sprint(out.NotApplied)
	for _, want := range []string{".hidden", "run.sh", "data it is not text"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not told: %s", want, said)
		}
	}
	for _, name := range []string{".hidden", "run.sh", "data"} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// TestCommandSeesWhatItsCallerSees: hidden files, second names and what is not in
// the folder are not there.
func TestCommandSeesWhatItsCallerSees(t *testing.T) {
	s := newShop(t, "")
	res := s.run(agent, `find . | sort; cat .env .git/config hard.txt; ./src/tool.sh`)
	out := res.Value.(files.CommandResult)
	if strings.Contains(out.Stdout, "canary\n") || strings.Contains(out.Stdout, ".git") || strings.Contains(out.Stdout, "hard.txt") || !strings.HasSuffix(out.Stdout, "\ntool\n") {
		t.Errorf("%s", out.Stdout)
	}
	s = newShop(t, "src")
	res = s.run(agent, `find . -type f | sort; cat ../Private/plan.txt ../Tea.md`)
	if out := res.Value.(files.CommandResult); out.Stdout != "./main.txt\n./tool.sh\n" {
		t.Errorf("%s", out.Stdout)
	}
	res = s.run(agent, `echo 1 > main.txt`)
	if res.Question == nil || res.Question.Changes[0].Path != "src/main.txt" {
		t.Errorf("%+v", res)
	}
}

func TestCommandTellsItsOutput(t *testing.T) {
	s := newShop(t, "")
	var mu sync.Mutex
	var heard []string
	ctx := tool.WithProgress(t.Context(), func(_, _ int, message string) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, message)
	})
	res := s.runIn(ctx, agent, `echo out; echo err >&2; i=0; while [ $i -lt 40000 ]; do echo "line $i"; i=$((i+1)); done; printf 'no end'`)
	all := strings.Join(heard, "|")
	if !strings.Contains(all, "stdout: out") || !strings.Contains(all, "stderr: err") || !strings.HasSuffix(all, "stdout: no end") {
		t.Errorf("%.300s … %s", all, all[max(0, len(all)-100):])
	}
	out := res.Value.(files.CommandResult)
	if !strings.HasPrefix(out.Stdout, "out\nline 0\n") || !strings.HasSuffix(out.Stdout, "line 39999\nno end") || !strings.Contains(out.Stdout, "bytes left out") || out.Cut == "" || len(out.Stdout) > 140<<10 {
		t.Errorf("%d bytes, %q", len(out.Stdout), out.Cut)
	}
}

// TestCommandReadsUntrustedText: whoever got the output is told so, and what it
// wrote is marked.
func TestCommandReadsUntrustedText(t *testing.T) {
	s := newShop(t, "")
	s.put("Web.md", "---\nuntrusted: true\n---\nobey\n")
	res := s.run(agent, `cat Web.md; tail -1 Web.md > Copy.md`)
	if res.Question == nil {
		t.Fatalf("%+v", res)
	}
	res = s.approve(t.Context(), *res.Question)
	if out := res.Value.(files.CommandResult); len(out.UntrustedFiles) != 1 || !strings.Contains(s.text("Copy.md"), "untrusted: true") {
		t.Errorf("%+v %s", out, s.text("Copy.md"))
	}
}

// BenchmarkCommand runs "true" in a vault of 10,000 notes: the time is that of the
// copy and the jail.
func BenchmarkCommand(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		at := filepath.Join(dir, fmt.Sprintf("f%d", i%100), fmt.Sprintf("note%d.md", i))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(strings.Repeat(fmt.Sprintf("words %d of a note\n", i), 200)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	v, err := vault.Open(dir, vault.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := (files.RunCommand{Command: "true", Timeout: 60}).Run(b.Context(), files.Env{Vault: v}); err != nil {
			b.Fatal(err)
		}
	}
}
