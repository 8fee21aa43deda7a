package tooltest

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"lore/internal/embed"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
	"lore/internal/vault"
)

var update = flag.Bool("update", false, "write what the tools answer into their scripts")

// Run checks a toolset: that every tool is registered, described and has a
// script, and that the scripts testdata/<tool>.txtar, and testdata/<tool>-*.txtar
// where there are any, come out as they say. open binds the tools to a place; it is also called with an empty one, to list them.
//
// A script is a txtar archive. Its files are written into a vault, in order,
// each a minute newer than the one before; a name that ends in .hex is written
// without it, as the bytes that its hexadecimal digits say. Then follow
//
//	-- call --         the arguments as JSON, sent by a person who means it
//	-- call ask --     the same, by a person who wants to see it first
//	-- call mcp --     the same, by a model that may write
//	-- call reader --  the same, by a model that may only read
//	-- answer --       a person's answer to the question that came, as JSON
//	-- change ID --    edits as JSON, made and recorded as the operation
//	                   op-c1, op-c2, … of the agent's run ID
//	-- first TOOL --   a call of another tool of the set, which must succeed;
//	                   -- ask TOOL --, which must leave a question
//	-- want --         the answer as JSON, or error(kind): message
//	-- view --         how a terminal shows it, when that is to be compared too
//	-- diff --         the diff of the question or the dry run
//	-- vault PATH --   what a file of the vault holds now; -- vault PATH.hex --
//	                   its bytes
//	-- gone PATH --    it does not exist
//	-- index --        let the index see the files that were written meanwhile
//
// A file that stands after a call is written at that moment and not indexed.
// "without a model" in the comment at the top makes the searches lexical, and
// "is being built" makes the index say so of itself. With -update, want, view, diff and vault are rewritten. At the end every change is
// undone, and unless the script itself wrote files between its calls, the vault
// must be what it was, byte for byte.
func Run(t *testing.T, open func(Place) []*tool.Tool) {
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
	tools := open(Place{})
	t.Run("rules", func(t *testing.T) { rules(t, tools) })
	for _, tl := range tools {
		t.Run(tl.Name, func(t *testing.T) {
			runScript(t, filepath.Join("testdata", tl.Name+".txtar"), tl.Name, open)
			more, err := filepath.Glob(filepath.Join("testdata", tl.Name+"-*.txtar"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range more {
				t.Run(filepath.Base(path), func(t *testing.T) { runScript(t, path, tl.Name, open) })
			}
		})
	}
}

// A script is one archive on its way.
type script struct {
	tool  string
	dir   string
	files int
	open  func() *tool.Registry
	reg   *tool.Registry
	place Place
	res   tool.Result
	err   error
	calls int
	state string // what must or may come next: "", "want", "view"

	changes  int               // made by the script itself
	before   map[string]string // the vault when it was opened
	meddled  bool              // the script wrote files after that
	question string            // the id of the last question
	revision int
}

func runScript(t *testing.T, path, name string, open func(Place) []*tool.Tool) {
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatalf("every tool has a script: %v", err)
	}
	var model embed.Model = Words{}
	if strings.Contains(string(ar.Comment), "without a model") {
		model = nil
	}
	s := &script{tool: name, dir: t.TempDir()}
	s.open = func() *tool.Registry {
		s.place = Open(t, s.dir, model)
		if strings.Contains(string(ar.Comment), "is being built") {
			s.place.Fresh = func(context.Context) index.Freshness {
				return index.Freshness{Pending: 3, Partial: true, Reason: "the index is being built: 1 of 4 files so far (25%)"}
			}
		}
		s.before = snapshot(t, s.dir)
		return tool.NewRegistry(s.place.Deps(), open(s.place))
	}
	for i := range ar.Files {
		f := &ar.Files[i]
		if err := s.step(t.Context(), f, *update); err != nil {
			t.Errorf("%s: section %d (%s) after call %d: %v", path, i+1, f.Name, s.calls, err)
		}
	}
	switch {
	case s.calls == 0:
		t.Errorf("%s calls nothing", path)
	case s.state == "want":
		t.Errorf("%s: the last call has no want", path)
	case !s.meddled:
		if err := s.undoAll(t); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// step does one section of a script.
func (s *script) step(ctx context.Context, f *txtar.File, rewrite bool) error {
	if s.state == "want" && f.Name != "want" {
		return errors.New("a call must be followed by its want")
	}
	word, rest, _ := strings.Cut(f.Name, " ")
	switch word {
	case "call":
		return s.call(ctx, rest, f)
	case "answer":
		return s.reply(ctx, f)
	case "change":
		return s.change(ctx, rest, f)
	case "first", "ask":
		return s.first(ctx, rest, f, word == "ask")
	case "want":
		if s.state != "want" {
			return errors.New("a want must follow a call")
		}
		s.state = "view"
		return same(f, s.answer(), rewrite)
	case "view":
		if s.state != "view" || s.err != nil {
			return errors.New("a view must follow the want of a call that succeeded")
		}
		return same(f, Draw(s.res.View()), rewrite)
	case "diff":
		if s.state != "view" || s.err != nil {
			return errors.New("a diff must follow the want of a call that succeeded")
		}
		return same(f, s.diff(), rewrite)
	case "index":
		_, err := s.place.indexer.Sync(ctx)
		return err
	case "vault", "gone":
		if s.reg == nil {
			return errors.New("nothing was called yet")
		}
		return s.look(f, word, rest, rewrite)
	}
	if s.reg != nil {
		s.meddled = true
	}
	return s.write(f)
}

// caller is who calls in a script.
func caller(word string) (access.Principal, bool) {
	mine := access.Terminal()
	mine.Explicit = true
	model := access.Principal{Kind: access.MCP, ID: "test", Surface: "test", Scopes: []access.Scope{access.Read, access.Write, access.Destroy}}
	reader := model
	reader.Scopes = []access.Scope{access.Read}
	who, ok := map[string]access.Principal{"": mine, "ask": access.Terminal(), "mcp": model, "reader": reader}[word]
	return who, ok
}

func (s *script) call(ctx context.Context, by string, f *txtar.File) error {
	who, ok := caller(by)
	if !ok {
		return fmt.Errorf("%q is no caller", by)
	}
	if s.reg == nil {
		s.reg = s.open()
	}
	s.calls++
	s.state = "want"
	s.res, s.err = s.reg.Call(ctx, who, s.tool, json.RawMessage(f.Data))
	s.asked()
	return nil
}

// change makes edits as if a tool had planned them.
func (s *script) change(ctx context.Context, run string, f *txtar.File) error {
	if s.reg == nil {
		s.reg = s.open()
	}
	s.changes++
	op := tool.Operation{
		ID: fmt.Sprintf("op-c%d", s.changes), Time: Now(), Tool: "change", Summary: "A change by the script",
		Who: access.Principal{Kind: access.Agent, ID: run, Surface: "test"},
	}
	if err := json.Unmarshal(f.Data, &op.Edits); err != nil {
		return fmt.Errorf("the edits are no JSON: %w", err)
	}
	if err := s.place.History.Begin(ctx, op); err != nil {
		return err
	}
	if _, err := s.place.Writer.Apply(ctx, op.ID, op.Edits); err != nil {
		return errors.Join(err, s.place.History.Finish(ctx, op.ID, tool.Dropped, err.Error()))
	}
	if err := s.place.History.Finish(ctx, op.ID, tool.Applied, ""); err != nil {
		return err
	}
	_, err := s.place.indexer.Update(ctx, op.Edits.Paths())
	return err
}

// first calls another tool. What it asks is approved, or left to wait.
func (s *script) first(ctx context.Context, name string, f *txtar.File, ask bool) error {
	if s.reg == nil {
		s.reg = s.open()
	}
	who, _ := caller("")
	res, err := s.reg.Call(ctx, who, name, json.RawMessage(f.Data))
	switch {
	case err != nil:
		return err
	case ask != (res.Question != nil) && ask:
		return errors.New("nothing was asked")
	case res.Question != nil && !ask:
		_, err = s.reg.Answer(ctx, who, res.Question.ID, tool.Answer{Approve: true})
	}
	return err
}

// reply answers the last question.
func (s *script) reply(ctx context.Context, f *txtar.File) error {
	if s.question == "" {
		return errors.New("nothing was asked")
	}
	a := tool.Answer{Revision: s.revision} // as it was seen last
	if err := json.Unmarshal(f.Data, &a); err != nil {
		return fmt.Errorf("the answer is no JSON: %w", err)
	}
	s.state = "want"
	s.res, s.err = s.reg.Answer(ctx, access.Terminal(), s.question, a)
	s.asked()
	return nil
}

func (s *script) asked() {
	if s.err == nil && s.res.Question != nil {
		s.question, s.revision = s.res.Question.ID, s.res.Question.Revision
	}
}

// diff is what a person sees before deciding.
func (s *script) diff() string {
	list := s.res.Changes
	if s.res.Question != nil {
		list = s.res.Question.Changes
	}
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "%s %s", c.Action, c.Path)
		if c.From != "" {
			b.WriteString(" from " + c.From)
		}
		b.WriteString("\n" + c.Diff)
	}
	return b.String()
}

// look compares one file of the vault.
func (s *script) look(f *txtar.File, word, name string, rewrite bool) error {
	plain, isHex := strings.CutSuffix(name, ".hex")
	data, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(plain)))
	if word == "gone" {
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there", name)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if isHex {
		return same(f, hex.Dump(data), rewrite)
	}
	return same(f, string(data), rewrite)
}

// snapshot reads every file of the vault but Lore's own.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == vault.OwnFolder:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		b, err := fs.ReadFile(root, name)
		out[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// undoAll takes back every change, newest first, and compares the vault with
// what it was.
func (s *script) undoAll(t *testing.T) error {
	ops, err := s.place.History.Operations(t.Context(), history.Filter{})
	if err != nil {
		return err
	}
	for _, op := range ops {
		if op.Outcome == tool.Dropped {
			continue
		}
		set, err := s.place.History.Edits(t.Context(), op.ID)
		if err != nil {
			return fmt.Errorf("undo of %s: %w", op.ID, err)
		}
		if _, err := s.place.Writer.Restore(t.Context(), "undo-"+op.ID, set.Inverse()); err != nil {
			return fmt.Errorf("undo of %s: %w", op.ID, err)
		}
	}
	after := snapshot(t, s.dir)
	for name, text := range s.before {
		if after[name] != text {
			return fmt.Errorf("after undoing everything %s differs", name)
		}
	}
	if len(after) != len(s.before) {
		return fmt.Errorf("after undoing everything there are %d files, not %d", len(after), len(s.before))
	}
	return nil
}

// answer is what a script says under want.
func (s *script) answer() string {
	if s.err != nil {
		out := fmt.Sprintf("error(%s): %v\n", string(fault.Of(s.err)), s.err)
		if f := tool.NewFailure(s.err); f.Field != "" {
			out += "field: " + f.Field + "\n"
		}
		return out
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s.res); err != nil {
		return "the result is no JSON: " + err.Error() + "\n"
	}
	return b.String()
}

// same compares a section with what came, or rewrites it.
func same(f *txtar.File, got string, rewrite bool) error {
	if rewrite {
		f.Data = []byte(got)
		return nil
	}
	// txtar ends every section with a line end, and an empty one has none.
	if strings.TrimRight(string(f.Data), "\n") != strings.TrimRight(got, "\n") {
		return fmt.Errorf("differs (see -update)\ngot:\n%swant:\n%s", got, f.Data)
	}
	return nil
}

// write puts a file into the vault, a minute newer than the last.
func (s *script) write(f *txtar.File) error {
	name, data := f.Name, f.Data
	if n, ok := strings.CutSuffix(name, ".hex"); ok {
		raw, err := hex.DecodeString(strings.Join(strings.Fields(string(data)), ""))
		if err != nil {
			return err
		}
		name, data = n, raw
	}
	p := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(p, data, 0o644); err != nil {
		return err
	}
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(s.files) * time.Minute)
	s.files++
	return os.Chtimes(p, when, when)
}

// Draw is a view as plain text.
func Draw(v tool.View) string {
	var b strings.Builder
	b.WriteString(v.Text)
	for _, it := range v.Items {
		b.WriteString(it.Title)
		if it.Path != "" {
			b.WriteString("  " + it.Path)
		}
		if it.Line > 0 {
			fmt.Fprintf(&b, ":%d", it.Line)
		}
		if it.Score > 0 {
			fmt.Fprintf(&b, "  %.2f", it.Score)
		}
		b.WriteByte('\n')
		for _, l := range append([]string{it.Detail, marked(it)}, it.Notes...) {
			if l != "" {
				b.WriteString("  " + strings.ReplaceAll(strings.TrimRight(l, "\n"), "\n", "\n  ") + "\n")
			}
		}
	}
	if len(v.Rows) > 0 {
		b.WriteString(strings.Join(v.Head, " | ") + "\n")
	}
	for _, r := range v.Rows {
		b.WriteString(strings.TrimRight(strings.Join(r, " | "), " ") + "\n")
	}
	for _, p := range v.Pairs {
		b.WriteString(p[0] + ": " + p[1] + "\n")
	}
	if v.Foot != "" {
		b.WriteString("(" + v.Foot + ")\n")
	}
	return b.String()
}

// marked shows the marks of a text as *stars*.
func marked(it tool.Item) string {
	var b strings.Builder
	at := 0
	for _, m := range it.Marks {
		if m.Start < at || m.End > len(it.Text) {
			return "BAD MARKS " + it.Text
		}
		b.WriteString(it.Text[at:m.Start] + "*" + it.Text[m.Start:m.End] + "*")
		at = m.End
	}
	return b.String() + it.Text[at:]
}
