package app

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lore/internal/change"
	"lore/internal/surface"
	"lore/internal/surface/cli"
	"lore/internal/tool"
	"lore/internal/tool/policy"
	"lore/internal/workspace"
	"lore/internal/workspace/process/ptytest"
)

// TestMain makes the program of this binary, so that tests can kill it.
func TestMain(m *testing.M) {
	if os.Getenv("PROOF_CHILD") == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if os.Getenv("SEAM_AT") == "" {
		os.Exit(Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	a := &app{now: time.Now, env: os.Getenv, errOut: os.Stderr}
	os.Exit(cli.Run(ctx, cli.Host{Host: surface.Host{Catalog: catalogue}, Open: a.openSeamed, Explain: workspace.Explain}, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// openSeamed is open, with a registry that dies at a seam: before or after one
// of the parts that a call is made of.
func (a *app) openSeamed(ctx context.Context, g cli.Globals, o workspace.Options) (*cli.Session, error) {
	s, err := a.opener().Open(ctx, flags(g), o)
	if err != nil {
		return nil, err
	}
	seam := &seams{log: os.Getenv("SEAM_LOG")}
	if seam.at, err = strconv.Atoi(os.Getenv("SEAM_AT")); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	c := a.forCommand(s)
	c.Door = a.hooked(ctx, s, seamedQuestions{s.Approvals, seam}, seamedLedger{s.History, seam},
		func(ctx context.Context, op string, set change.Set) error {
			return seam.around("apply", func() error { return s.Apply(ctx, op, set) })
		},
		func(ctx context.Context, paths []string) error {
			return seam.around("settle", func() error { return s.Reindex(ctx, paths) })
		})
	return c, nil
}

// hooked is the registry of a session with other parts in it.
func (a *app) hooked(ctx context.Context, s *workspace.Session, q tool.Questions, l tool.Ledger,
	apply func(context.Context, string, change.Set) error, settle func(context.Context, []string) error,
) *tool.Registry {
	deps := tool.Deps{
		Log: s.Log, Now: a.now, Bus: s.Bus, Policy: s.Policy, Meter: policy.NewMeter(s.Limits), Writable: s.Writable,
		Questions: q, Ledger: l, Apply: apply, Reindex: settle,
	}
	sets := a.bind(ctx, s, &deps)
	return tool.NewRegistry(deps, sets...)
}

// seams kill the process at the seam of a number.
type seams struct {
	at, passed int
	log        string
}

func (s *seams) pass(name string) {
	s.passed++
	if s.log != "" {
		if f, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			_, _ = f.WriteString(name + "\n")
			_ = f.Close()
		}
	}
	if s.passed == s.at {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {} // the signal is on its way
	}
}

func (s *seams) around(name string, f func() error) error {
	s.pass("before " + name)
	err := f()
	s.pass("after " + name)
	return err
}

type seamedLedger struct {
	tool.Ledger
	seam *seams
}

func (l seamedLedger) Begin(ctx context.Context, op tool.Operation) error {
	return l.seam.around("begin", func() error { return l.Ledger.Begin(ctx, op) })
}

func (l seamedLedger) Finish(ctx context.Context, id string, o tool.Outcome, reason string) error {
	return l.seam.around("finish "+string(o), func() error { return l.Ledger.Finish(ctx, id, o, reason) })
}

func (l seamedLedger) Record(ctx context.Context, c tool.CallRecord) error {
	return l.seam.around("record "+string(c.Status), func() error { return l.Ledger.Record(ctx, c) })
}

type seamedQuestions struct {
	tool.Questions
	seam *seams
}

func (s seamedQuestions) Ask(ctx context.Context, q tool.Question) error {
	return s.seam.around("ask", func() error { return s.Questions.Ask(ctx, q) })
}

func (s seamedQuestions) Update(ctx context.Context, q tool.Question, state tool.State, revision int) (won bool, err error) {
	err = s.seam.around("question "+string(q.State), func() error {
		won, err = s.Questions.Update(ctx, q, state, revision)
		return err
	})
	return won, err
}

// A lab is a vault with its data in which real processes work and are killed.
type lab struct {
	t          *testing.T
	around     string
	dir, saved string
	env        []string
	program    string
	nobody     bool // its processes belong to a user without rights
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, around: memoryDir(t), saved: memoryDir(t), program: os.Args[0]}
	l.dir = filepath.Join(l.around, "vault")
	if err := os.Mkdir(l.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	l.env = append(os.Environ(), "PROOF_CHILD=1", "GOMAXPROCS=1", "HOME="+filepath.Join(l.around, "home"), "XDG_DATA_HOME="+filepath.Join(l.around, "data"),
		"XDG_CONFIG_HOME="+filepath.Join(l.around, "config"), "LORE_EMBED_MODEL=none", "LORE_APPROVE_MANY=1000", "LORE_VAULT="+l.dir, "NO_COLOR=1")
	return l
}

func (l *lab) put(name, text string) {
	l.t.Helper()
	at := filepath.Join(l.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

// A reply is how a process ended.
type reply struct {
	out, err string
	code     int
	killed   bool
}

// command is a process of the program.
func (l *lab) command(extra []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(l.t.Context(), l.program, args...)
	cmd.Env = append(append([]string{}, l.env...), extra...)
	cmd.Dir = l.around
	cmd.SysProcAttr = l.credential()
	return cmd
}

// lore runs the program to its end, whatever that is.
func (l *lab) lore(extra []string, args ...string) reply {
	l.t.Helper()
	cmd := l.command(extra, args...)
	if ptytest.Needs(args) {
		r := ptytest.Run(l.t, cmd)
		return reply{r.Out, r.Err, r.Code, r.Code == -1}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		l.t.Fatal(err)
	}
	code := cmd.ProcessState.ExitCode()
	return reply{out.String(), errs.String(), code, code == -1}
}

// must is lore with an end that is known.
func (l *lab) must(code int, args ...string) reply {
	l.t.Helper()
	r := l.lore(nil, args...)
	if r.code != code {
		l.t.Fatalf("lore %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.out, r.err)
	}
	return r
}

// copyFiles copies what is in a folder into another one, as it is.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		t.Skipf("cp: %v %s", err, out)
	}
}

func emptyFolder(t *testing.T, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// save remembers the vault and the data, restore brings them back. The vault's
// own folder stays: it is how a vault is known.
func (l *lab) save() {
	l.t.Helper()
	copyFiles(l.t, l.around, l.saved)
}

func (l *lab) restore() {
	l.t.Helper()
	emptyFolder(l.t, l.dir)
	list, err := os.ReadDir(l.around)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, e := range list {
		if e.Name() != "vault" {
			if err := os.RemoveAll(filepath.Join(l.around, e.Name())); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	copyFiles(l.t, l.saved, l.around)
}
