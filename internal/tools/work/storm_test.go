package work_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
)

// A storm is a vault with real files, changed by operations, undos and redos.
type storm struct {
	t     *testing.T
	dir   string
	place tooltest.Place
	reg   *tool.Registry
	rnd   *rand.Rand
	n     int
	ops   []string
	turns int
}

func (s *storm) files() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	list, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(s.dir, e.Name()))
		if err != nil {
			s.t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

// change makes up to three random edits as one operation.
func (s *storm) change() {
	s.t.Helper()
	have := s.files()
	var set change.Set
	for range 1 + s.rnd.IntN(3) {
		name, to := fmt.Sprintf("n%d.md", s.rnd.IntN(6)), fmt.Sprintf("n%d.md", s.rnd.IntN(12))
		text, ok := have[name]
		_, taken := have[to]
		touches := func(e change.Edit) bool {
			return slices.ContainsFunc([]string{name, to}, func(p string) bool { return p == e.Path || p == e.From })
		}
		if slices.ContainsFunc(set, touches) {
			continue
		}
		next := fmt.Sprintf("%s\nline %d\n", strings.TrimSpace(text), s.n)
		switch k := s.rnd.IntN(5); {
		case !ok:
			set = append(set, change.Create(name, next))
		case k == 0:
			set = append(set, change.Delete(name, text))
		case k == 1 && !taken && to != name:
			set = append(set, change.Move(name, to))
		case k == 2 && !taken && to != name:
			set = append(set, change.MoveReplace(name, to, text, next))
		default:
			set = append(set, change.Replace(name, text, next))
		}
	}
	s.n++
	op := tool.Operation{
		ID: fmt.Sprintf("op-c%d", s.n), Time: tooltest.Now(), Tool: "change", Edits: set,
		Who: access.Principal{Kind: access.Agent, ID: fmt.Sprint("run-", s.rnd.IntN(4))},
	}
	if err := s.place.History.Begin(s.t.Context(), op); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.place.Writer.Apply(s.t.Context(), op.ID, set); err != nil {
		s.t.Fatal(err)
	}
	if err := s.place.History.Finish(s.t.Context(), op.ID, tool.Applied, ""); err != nil {
		s.t.Fatal(err)
	}
	s.ops = append(s.ops, op.ID)
}

// call calls a tool and approves what it asks.
func (s *storm) call(name string, args map[string]any) error {
	s.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	person := access.Terminal()
	person.Explicit = true
	res, err := s.reg.Call(s.t.Context(), person, name, raw)
	if err == nil && res.Question != nil {
		_, err = s.reg.Answer(s.t.Context(), access.Terminal(), res.Question.ID, tool.Answer{Approve: true})
	}
	switch fault.Of(err) {
	case "":
		s.turns++
	case fault.Conflict, fault.NotFound, fault.Invalid:
	default:
		s.t.Fatalf("%s %s: %v", name, raw, err)
	}
	return err
}

// TestEverythingComesBack makes random changes, undos and redos, then undoes
// all that is in force, and compares the vault byte for byte.
func TestEverythingComesBack(t *testing.T) {
	rounds, seeds := 250, uint64(2)
	if testing.Short() {
		rounds, seeds = 60, 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { rage(t, seed, rounds) })
	}
}

func rage(t *testing.T, seed uint64, rounds int) {
	s := &storm{t: t, dir: t.TempDir(), rnd: rand.New(rand.NewPCG(3, seed))}
	for i := range 4 {
		if err := os.WriteFile(filepath.Join(s.dir, fmt.Sprintf("n%d.md", i)), fmt.Appendf(nil, "# Note %d\r\n\r\nText", i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.place = tooltest.Open(t, s.dir, nil)
	s.reg = tool.NewRegistry(s.place.Deps(), open(s.place))
	before := s.files()
	for range rounds {
		switch k := s.rnd.IntN(12); {
		case k < 6 || len(s.ops) == 0:
			s.change()
		case k < 8:
			_ = s.call("undo", nil) // refusing is fine
		case k == 8:
			_ = s.call("redo", nil)
		case k == 9:
			_ = s.call("undo", map[string]any{"operation": s.ops[s.rnd.IntN(len(s.ops))]})
		case k == 10:
			_ = s.call("undo", map[string]any{"run": fmt.Sprint("run-", s.rnd.IntN(4))})
		default:
			_ = s.call("undo", map[string]any{"path": fmt.Sprintf("n%d.md", s.rnd.IntN(6))})
		}
	}
	storms := s.turns
	var err error
	for range 2 * s.n {
		if err = s.call("undo", nil); err != nil {
			break
		}
	}
	if fault.Of(err) != fault.NotFound {
		t.Errorf("the last undo: %v", err)
	}
	after := s.files()
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s is %q, was %q", name, after[name], text)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, were %d", len(after), len(before))
	}
	if v, err := s.place.History.Verify(t.Context()); err != nil {
		t.Errorf("%+v, %v", v, err)
	}
	t.Logf("%d changes, %d undos and redos among them, %d undos at the end", s.n, storms, s.turns-storms)
}
