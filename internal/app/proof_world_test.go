package app

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/index/sqlite"
	"lore/internal/machine/db"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault"
	"lore/internal/workspace"
	"lore/internal/workspace/settings"
)

// A world is a vault of hostile files with the whole program around it, and a
// generator of things that can be done to it.
type world struct {
	t       *testing.T
	dir     string // the vault
	data    string
	random  *rand.Rand
	app     *app
	s       *workspace.Session
	foreign bool     // others edit the files too
	names   int      // made so far: every new name and text is another one
	asked   []string // questions that wait
	ops     []string // operations, oldest first
	trail   []string // what was done, for a person who looks for a mistake

	calls, changes, answers, refusals int
	kinds                             map[string]int // calls that changed something, by tool and answer
}

// memoryDir is a folder in memory where there is such a thing: thousands of
// syncs are not about the disk.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "lore-proof-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	around := memoryDir(t)
	w := &world{
		t: t, dir: filepath.Join(around, "vault"), data: filepath.Join(around, "data"),
		random: rand.New(rand.NewPCG(seed, 11)), kinds: map[string]int{},
	}
	env := map[string]string{
		"HOME": around, "XDG_DATA_HOME": w.data, "XDG_CONFIG_HOME": filepath.Join(around, "config"),
		"LORE_EMBED_MODEL": "none", "LORE_LIMITS_CALLS": "1000000", "LORE_LIMITS_CHANGES": "1000000", "LORE_APPROVE_MANY": "8",
	}
	w.app = &app{now: time.Now, env: func(name string) string { return env[name] }, errOut: t.Output()}
	for name, text := range hostile() {
		w.put(name, text)
	}
	for name, mode := range map[string]fs.FileMode{"mode/locked.md": 0o600, "mode/odd.md": 0o640, "mode/shared.md": 0o666, "mode/run.md": 0o755} {
		if err := os.Chmod(w.path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(w.path("empty folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.open()
	t.Cleanup(func() { w.shut() })
	return w
}

// hostile are files such as real vaults hold, and some that only tests hold.
func hostile() map[string]string {
	files := map[string]string{
		"Tea.md":                               "---\naliases: [Thé, Cha]\ntags:\n  - drinks/tea # a comment\n  - hot\nrating: 4\n---\n# Tea\n\nSee [[Coffee]] and [[Tea#Brewing|how]].\n\n## Brewing\n\nWater at 80 degrees. ^temp\n\n## Kinds\n\n- [[notes/Green]]\n- [[notes/Black|black tea]]\n",
		"notes/TEA.md":                         "another note whose name differs in case only, with [[Tea]]\n",
		"Coffee.md":                            "# Coffee\r\n\r\nNot [[Tea]].\r\n\r\n## Brewing\r\n\r\nHot. #drinks/coffee #hot\r\n",
		"notes/Green.md":                       "\ufeff# Green\n\nFrom the [[Tea|plant]]; see ![[pic.png]] and [[Tea#^temp]].\n\n## Steps\n\n1. one\n2. two\n\n## More\n\n#drinks/tea",
		"notes/Black.md":                       "\ufeff---\r\ntitle: Black\r\ntags: [drinks/tea, dark]\r\n---\r\n\r\nMade of [tea](../Tea.md#brewing) and [nothing](../gone.md).\r\nno final newline",
		"notes/deep/er/End.md":                 "# End\n\nUp to [[Green]], across to [[notes/Black#x]].\n\nCoffee and Tea are mentioned here. Coffee again.\n",
		"notes/deep/Mix.md":                    "line\r\nline two\nline three\rline four\u2028line five\n\n[[End]] [[end]] [[Tea]]\n",
		"\U0001F375 cup.md":                    "# \U0001F375 cup\n\nemoji name, [[Tea]] inside #hot\n",
		"cafe\u0301.md":                        "# Cafe\u0301\n\na name in the other normal form, [[Coffee]]\n",
		"caf\u00e9 list.md":                    "# List\n\n[[caf\u00e9]] and [[cafe\u0301]] and [[\U0001F375 cup]]\n",
		"broken yaml.md":                       "---\ntitle: {{date}}\ntags: [x, : broken\n---\n# Template\n\n[[Tea]] #hot\n",
		"tabs.md":                              "---\n\tkey: value\n---\ntext of [[Coffee]]\n",
		"empty.md":                             "",
		"newline.md":                           "\n",
		"only front.md":                        "---\ntags: hot\nrelated: \"[[Tea]]\"\n---\n",
		"dup keys.md":                          "---\na: 1\na: 2\n---\nbody\n",
		"binary.md":                            "text \x00 with \xff\xfe bytes [[Tea]]\n",
		"board.canvas":                         "{\"nodes\":[{\"id\":\"1\",\"type\":\"file\",\"file\":\"Tea.md\"},{\"id\":\"2\",\"type\":\"text\",\"text\":\"[[Coffee]]\"}],\"edges\":[]}",
		"pic.png":                              "\x89PNG\r\n\x1a\n\x00\x00 not really",
		"files/paper.pdf":                      "%PDF-1.4 not really",
		"links.md":                             "# Links\n\n[[Gren]] [[notes/Blak]] [[nowhere at all]] [x](notes/Green.md) [y](<notes/deep/er/End.md>) `[[Tea]]`\n\n```\n[[Tea]]\n```\n\n%%[[Tea]]%%\n",
		"index.md":                             "# Index\n\n[[Tea]] [[Coffee]] [[Green]] [[Black]] [[End]] [[Mix]] [[links]] [[tabs]]\n",
		"notes/index.md":                       "# Notes\n\n[[index]] [[../index]] [up](../index.md)\n",
		"mode/locked.md":                       "private [[Tea]]\n",
		"mode/odd.md":                          "group [[Tea]] #hot\n",
		"mode/shared.md":                       "all [[Coffee]] #hot\n",
		"mode/run.md":                          "exec [[Coffee]]\n",
		"long name, with (things) & more ’.md": "# Long\n\n[[Tea]]\n",
		"a.sync-conflict-20260101-120000-ABCDEFG.md": "# conflict\n",
		"Daily/2026-01-01.md":                        "# New year\n\n[[Tea]]\n",
	}
	for i := range 12 {
		files[fmt.Sprintf("many/n%02d.md", i)] = fmt.Sprintf("# Note %d\n\n[[Tea]] and [[n%02d]] #many/%d\n", i, (i+1)%12, i%3)
	}
	return files
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) put(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// open starts the program, as far as a surface.
func (w *world) open() {
	w.t.Helper()
	s, err := w.app.opener().Open(w.t.Context(), settings.Flags{Vault: w.dir}, workspace.Options{UpToDate: true})
	if err != nil {
		w.t.Fatal(err)
	}
	w.s = s
}

// shut ends the program in order.
func (w *world) shut() {
	w.t.Helper()
	if w.s == nil {
		return
	}
	if err := w.s.Close(); err != nil {
		w.t.Error(err)
	}
	w.s = nil
}

func (w *world) restart() {
	w.t.Helper()
	w.shut()
	w.open()
}

// fail stops with the last things that were done.
func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\nlast of %d:\n%s", fmt.Sprintf(format, args...), len(w.trail), strings.Join(w.trail[max(0, len(w.trail)-15):], "\n"))
}

func (w *world) note(format string, args ...any) {
	w.trail = append(w.trail, fmt.Sprintf(format, args...))
}

// A view is everything that a person can see of a folder.
type view map[string]string

// look reads the visible files: names, contents and modes.
func (w *world) look() view {
	w.t.Helper()
	out := view{}
	err := filepath.WalkDir(w.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(w.dir, p)
		if rel == vault.OwnFolder {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			return nil // a folder is there for its files: one that is emptied goes
		}
		b, err := os.ReadFile(p)
		// Which normal form a name has is not kept: see [vault.Key].
		out[norm.NFC.String(rel)] = info.Mode().String() + " " + string(b)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// differences lists what is not the same in two states.
func differences(have, want view) string {
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if h, ok := have[p]; !ok {
			fmt.Fprintf(&b, "missing %q: %.200q\n", p, want[p])
		} else if h != want[p] {
			fmt.Fprintf(&b, "other   %q:\n  have %.400q\n  want %.400q\n", p, h, want[p])
		}
	}
	for _, p := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[p]; !ok {
			fmt.Fprintf(&b, "extra   %q: %.200q\n", p, have[p])
		}
	}
	return b.String()
}

// files lists the visible files with this ending.
func (w *world) files(ends string) []string {
	var out []string
	for p := range w.look() {
		if strings.HasSuffix(p, ends) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func (w *world) folders() []string {
	found := map[string]bool{}
	for p := range w.look() {
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			found[d] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// check compares the index with one that is built from the files, and looks at
// the record.
func (w *world) check() {
	w.t.Helper()
	ctx := w.t.Context()
	have, err := dumpIndex(ctx, sqlite.Path(w.s.Dir))
	if err != nil {
		w.fail("the index cannot be read: %v", err)
	}
	if diff := indexDifference(have, w.freshIndex()); diff != "" {
		w.fail("the index is not as a new one:\n%s", diff)
	}
	if _, err := w.s.History.Verify(ctx); err != nil {
		w.fail("the audit log: %v", err)
	}
	if list, err := w.s.History.Unresolved(ctx); err != nil || len(list) > 0 {
		w.fail("%d operations are not settled (%v): %+v", len(list), err, list)
	}
	if list, err := w.s.Approvals.List(ctx, tool.Approved, tool.Running); err != nil || len(list) > 0 {
		w.fail("%d questions hang between answer and end: %v", len(list), err)
	}
}

// freshIndex is the dump of an index that knows the files alone.
func (w *world) freshIndex() map[string][]string {
	w.t.Helper()
	out, err := freshIndex(w.t.Context(), w.dir, w.t.TempDir())
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func freshIndex(ctx context.Context, dir, data string) (_ map[string][]string, err error) {
	v, err := vault.Open(dir, vault.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	store, _, err := sqlite.Open(ctx, data, time.Now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if _, err := index.New(v, store, index.Options{}).Sync(ctx); err != nil {
		return nil, err
	}
	return dumpIndex(ctx, sqlite.Path(data))
}

// indexTables are the tables of an index as text that does not depend on the
// order in which files arrived.
var indexTables = map[string]string{
	"notes":              `SELECT path, kind, title, type, date, size, mtime, inode, hex(hash), words, lines, tasks, done, readonly, tags, aliases, props, problems FROM notes`,
	"names":              `SELECT n.path, m.key, m.kind FROM names m LEFT JOIN notes n ON n.id = m.note`,
	"tags":               `SELECT n.path, t.tag FROM tags t LEFT JOIN notes n ON n.id = t.note`,
	"props":              `SELECT n.path, q.key, q.seq, q.value FROM props q LEFT JOIN notes n ON n.id = q.note`,
	"links":              `SELECT n.path, l.seq, l.key, l.kind, l.target, l.fragment, l.text, l.field, l.line, l.start, l.stop FROM links l LEFT JOIN notes n ON n.id = l.note`,
	"chunks":             `SELECT n.path, c.seq, c.heading, c.line, hex(c.hash), c.text FROM chunks c LEFT JOIN notes n ON n.id = c.note`,
	"words":              `SELECT n.path, v.term, v.col, v."offset" FROM temp.words_instances v LEFT JOIN notes n ON n.id = v.doc`,
	"words_docsize":      `SELECT n.path, hex(d.sz) FROM words_docsize d LEFT JOIN notes n ON n.id = d.id`,
	"spellings_docsize":  `SELECT n.path, hex(d.sz) FROM spellings_docsize d LEFT JOIN notes n ON n.id = d.id`,
	"words_averages":     `SELECT hex(block) FROM words_data WHERE id = 1`,
	"spellings_averages": `SELECT hex(block) FROM spellings_data WHERE id = 1`,
	"counts":             `SELECT json_remove(value, '$.Generation') FROM meta WHERE key = 'counts'`,
}

// dumpIndex writes everything that an index keeps, line by line.
func dumpIndex(ctx context.Context, path string) (_ map[string][]string, err error) {
	d, err := db.Open(path, db.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	c, err := d.Write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, err := c.ExecContext(ctx, `CREATE VIRTUAL TABLE temp.words_instances USING fts5vocab(main, words, instance)`); err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for name, query := range indexTables {
		if out[name], err = dumpQuery(ctx, c, query); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out, nil
}

func dumpQuery(ctx context.Context, c *sql.Conn, query string) (lines []string, err error) {
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values := make([]any, len(columns))
	for i := range values {
		values[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			return nil, err
		}
		var b strings.Builder
		for _, v := range values {
			fmt.Fprintf(&b, "%#v\t", *v.(*any))
		}
		lines = append(lines, b.String())
	}
	slices.Sort(lines)
	return lines, rows.Err()
}

func indexDifference(have, want map[string][]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(indexTables)) {
		if slices.Equal(have[name], want[name]) {
			continue
		}
		fmt.Fprintf(&b, "table %s: %d rows, want %d\n", name, len(have[name]), len(want[name]))
		for side, lists := range map[string][2][]string{"only in the old": {have[name], want[name]}, "only in a new": {want[name], have[name]}} {
			n := 0
			for _, l := range lists[0] {
				if !slices.Contains(lists[1], l) && n < 4 {
					fmt.Fprintf(&b, "  %s: %.300s\n", side, l)
					n++
				}
			}
		}
	}
	return b.String()
}

// person is somebody at a terminal who means it; someAgent is a model.
func person() access.Principal {
	p := access.Terminal()
	p.Explicit = true
	return p
}

func someAgent(run string) access.Principal {
	return access.Principal{Kind: access.Agent, ID: run, Surface: "chat", Scopes: []access.Scope{access.Read, access.Write, access.Destroy}}
}

// call calls a tool and sees that a failure has a kind.
func (w *world) call(who access.Principal, name string, args map[string]any) (tool.Result, error) {
	w.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		w.t.Fatal(err)
	}
	w.calls++
	res, err := w.s.Door.Call(w.t.Context(), who, name, raw)
	w.note("%s %s by %s: %s", name, raw, who.Kind, w.outcome(res, err))
	w.count(name, res, err)
	return res, err
}

func (w *world) outcome(res tool.Result, err error) string {
	w.t.Helper()
	switch {
	case fault.Of(err) == fault.Internal:
		w.fail("a mistake in Lore: %v", err)
	case err != nil:
		return string(fault.Of(err)) + ": " + err.Error()
	case res.Question != nil:
		return "asked " + res.Question.ID
	case res.Operation != "":
		return "done " + res.Operation
	case res.Refused != "":
		return "refused"
	}
	return "nothing to do"
}

func (w *world) count(name string, res tool.Result, err error) {
	switch {
	case err != nil:
		w.refusals++
	case res.Operation != "":
		w.changes++
		w.ops = append(w.ops, res.Operation)
		w.kinds[name]++
	}
}
