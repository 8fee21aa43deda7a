package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"

	"lore/internal/change"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

func (w *world) chance(percent int) bool { return w.random.IntN(100) < percent }

func oneOf[T any](w *world, list ...T) T { return list[w.random.IntN(len(list))] }

// some is a visible file with this ending; "" when there is none.
func (w *world) some(ends string) string {
	list := w.files(ends)
	if len(list) == 0 {
		return ""
	}
	return oneOf(w, list...)
}

// fresh is a name that nothing has had before, in a folder that may be new.
func (w *world) fresh(ends string) string {
	w.names++
	name := fmt.Sprintf("%s %d%s", oneOf(w, "New", "Neu ü", "e\u0301", "\U0001F33F", "x (y)"), w.names, ends)
	switch w.random.IntN(4) {
	case 0:
		return name
	case 1:
		return path.Join(oneOf(w, "fresh", "Frisch/tief", "notes/deep/er/down"), name)
	}
	if list := w.folders(); len(list) > 0 {
		return path.Join(oneOf(w, list...), name)
	}
	return name
}

// text is a text that nobody wrote before.
func (w *world) text() string {
	w.names++
	s := fmt.Sprintf("%s %d: [[%s]] #%s\n", oneOf(w, "word", "Wort\r\n\r\nmehr", "# Heading\n\nbody", "---\nkey: 1\n---\nbody", "Tea and Coffee"),
		w.names, oneOf(w, "Tea", "Coffee", "Green", "nowhere", "index"), oneOf(w, "hot", "drinks/tea", "new"))
	if w.chance(20) {
		s = strings.TrimSuffix(s, "\n")
	}
	if w.chance(10) {
		s += strings.Repeat("a long note with many words in it.\n", 40)
	}
	return s
}

// an act is one random call of a tool that changes.
type act struct {
	tool   string
	weight int
	args   func(w *world) map[string]any
}

type object = map[string]any

func acts() []act {
	return []act{
		{"write_note", 14, func(w *world) object {
			if w.chance(50) {
				return object{"path": w.fresh(".md"), "content": w.text()}
			}
			return object{"path": w.some(".md"), "content": w.text(), "mode": oneOf(w, "append", "append", "prepend", "overwrite", "create")}
		}},
		{"edit_note", 14, (*world).anEdit},
		{"update_frontmatter", 10, func(w *world) object {
			w.names++
			in := object{"path": w.some(".md")}
			if w.chance(80) {
				in["updates"] = object{oneOf(w, "rating", "tags", "new key", "title", "a"): oneOf[any](w, w.names, fmt.Sprint("v: ", w.names), []string{"x", fmt.Sprint("t", w.names)}, nil)}
			}
			if w.chance(30) {
				in["remove"] = []string{oneOf(w, "rating", "aliases", "key", "tags")}
			}
			return in
		}},
		{"create_daily_note", 3, func(w *world) object {
			return object{"date": fmt.Sprintf("2026-%02d-%02d", 1+w.random.IntN(12), 1+w.random.IntN(28)), "period": oneOf(w, "daily", "daily", "weekly", "monthly")}
		}},
		{"rename_note", 12, (*world).aRename},
		{"delete_note", 7, func(w *world) object { return object{"path": w.some(".md")} }},
		{"merge_notes", 4, func(w *world) object {
			return object{"path": w.some(".md"), "other": w.some(".md"), "strategy": oneOf(w, "append", "prepend")}
		}},
		{"rename_tag", 4, func(w *world) object {
			w.names++
			return object{"tag": oneOf(w, "hot", "drinks/tea", "drinks", "new", "many", "dark"), "new_tag": oneOf(w, "hot", "drinks/tea", fmt.Sprint("tag/t", w.names), "new", "many")}
		}},
		{"move_folder", 5, func(w *world) object {
			w.names++
			return object{"folder": oneOf(w, w.folders()...), "to": oneOf(w, fmt.Sprint("moved ", w.names), fmt.Sprint("notes/moved ", w.names), "fresh/", "notes/")}
		}},
		{"repair_links", 3, func(w *world) object {
			return oneOf(w, object{}, object{"path": w.some(".md")}, object{"limit": 2})
		}},
		{"link_mentions", 3, func(w *world) object { return object{"path": oneOf(w, "Tea", "Coffee", w.some(".md"))} }},
		{"undo", 10, (*world).anUndo},
		{"redo", 6, func(w *world) object {
			if w.foreign && w.chance(50) {
				return object{"operation": w.anOperation(), "merge": w.chance(50)}
			}
			return object{}
		}},
	}
}

func (w *world) anEdit() map[string]any {
	p := w.some(".md")
	in := object{"path": p}
	_, text, _ := strings.Cut(w.look()[p], " ")
	w.names++
	switch w.random.IntN(4) {
	case 0:
		in["under_heading"], in["text"], in["where"] = oneOf(w, "Brewing", "Tea", "Kinds", "Steps", "Tea > Brewing", "Heading"), w.text(), oneOf(w, "end", "start", "replace")
	case 1:
		in["block"], in["text"], in["where"] = "^temp", fmt.Sprint("Water at ", w.names, " degrees."), oneOf(w, "end", "start", "replace")
	case 2:
		word := oneOf(w, "Tea", "line", "two", "body", "Coffee")
		in["diff"] = fmt.Sprintf("<<<<<<< SEARCH\n%s\n=======\n%s %d\n>>>>>>> REPLACE\n", word, word, w.names)
	default:
		fields := strings.Fields(strings.ToValidUTF8(text, ""))
		if len(fields) == 0 {
			fields = []string{"none"}
		}
		in["search"], in["replace"] = oneOf(w, fields...), fmt.Sprint("changed", w.names)
		if w.chance(20) {
			delete(in, "replace")
		}
	}
	return in
}

func (w *world) aRename() map[string]any {
	w.names++
	switch w.random.IntN(6) {
	case 0:
		return object{"path": oneOf(w, w.folders()...), "new_path": fmt.Sprint("renamed ", w.names)}
	case 1:
		return object{"path": w.some(".md"), "heading": oneOf(w, "Brewing", "Tea", "Steps", "Green", "Heading"), "new_heading": fmt.Sprint("Titled ", w.names)}
	case 2:
		p := oneOf(w, w.some(".png"), w.some(".canvas"), w.some(".pdf"))
		return object{"path": p, "new_path": w.fresh(path.Ext(p))}
	case 3: // the case of a name
		p := w.some(".md")
		return object{"path": p, "new_path": path.Join(path.Dir(p), strings.ToUpper(strings.TrimSuffix(path.Base(p), ".md"))+".md")}
	}
	return object{"path": w.some(".md"), "new_path": w.fresh(".md"), "update_links": w.chance(90)}
}

// anOperation is the id of an earlier operation, or of none.
func (w *world) anOperation() string {
	if len(w.ops) == 0 {
		return "op-none"
	}
	// Late ones are asked for more often, as people do.
	if w.chance(70) {
		return oneOf(w, w.ops[max(0, len(w.ops)-8):]...)
	}
	return oneOf(w, w.ops...)
}

// anUndo takes back the last change. Taking back an old one before a younger is
// for a world that others edit too: after it, newest first is no order in which
// all can be undone.
func (w *world) anUndo() map[string]any {
	switch {
	case w.foreign && w.chance(40):
		return object{"operation": w.anOperation(), "merge": w.chance(50)}
	case w.foreign && w.chance(20):
		return object{"path": w.some(".md"), "merge": w.chance(50)}
	}
	return object{}
}

// act does one random thing.
func (w *world) act() {
	w.t.Helper()
	if len(w.asked) > 0 && w.chance(25) {
		w.answer(w.takeAsked())
		return
	}
	list := acts()
	total := 0
	for _, a := range list {
		total += a.weight
	}
	n := w.random.IntN(total)
	i := 0
	for n >= list[i].weight {
		n -= list[i].weight
		i++
	}
	who := oneOf(w, person(), person(), access.Terminal(), someAgent("run-1"), someAgent("run-2"))
	args := list[i].args(w)
	if w.chance(5) {
		args["dry_run"] = true
	}
	res, err := w.call(who, list[i].tool, args)
	if err != nil || res.Question == nil {
		return
	}
	// Most are answered at once; the others grow stale.
	if w.chance(80) || w.whole(res.Question.Tool) {
		w.answer(res.Question.ID)
		return
	}
	w.asked = append(w.asked, res.Question.ID)
	if c := oneOf(w, res.Question.Changes...); c.Action == change.Replaces && w.chance(70) {
		_, _ = w.call(person(), "write_note", object{"path": c.Path, "content": w.text(), "mode": "append"}) // refused or not
	}
}

// whole says that this is done at once and altogether: half an undo is no undo.
func (w *world) whole(name string) bool { return !w.foreign && (name == "undo" || name == "redo") }

func (w *world) takeAsked() string {
	i := w.random.IntN(len(w.asked))
	id := w.asked[i]
	w.asked = append(w.asked[:i], w.asked[i+1:]...)
	return id
}

// answer answers a question in some way.
func (w *world) answer(id string) {
	w.t.Helper()
	q, err := w.s.Door.Question(w.t.Context(), id)
	if err != nil {
		w.fail("%v", err)
	}
	a := tool.Answer{Approve: !w.chance(12), Revision: q.Revision}
	kind := "answered"
	if a.Approve && len(q.Changes) > 0 && !w.whole(q.Tool) && w.chance(25) {
		kind = "part"
		c := q.Changes[w.random.IntN(len(q.Changes))]
		if c.Hunks > 0 && c.Action == change.Replaces && w.chance(50) {
			a.Hunks = map[string][]int{c.Path: {1 + w.random.IntN(c.Hunks)}}
		} else {
			a.Paths = []string{c.Path}
		}
	} else if a.Approve && q.Tool == "write_note" && w.chance(20) {
		kind = "edited"
		a.Args, _ = json.Marshal(object{"path": w.fresh(".md"), "content": w.text()}) // strings
	}
	w.answers++
	stale := len(a.Args) == 0 && w.stale(q)
	res, err := w.s.Door.Answer(w.t.Context(), access.Terminal(), id, a)
	w.note("%s %s (%s) %v %v %v: %s", kind, id, q.Tool, a.Approve, a.Paths, a.Hunks, w.outcome(res, err))
	w.count(q.Tool, res, err)
	switch {
	case stale && err == nil && res.Operation != "":
		w.fail("%s was carried out, and its files were not what was shown", id)
	case !a.Approve:
		w.kinds["denied"]++
	case err == nil && res.Operation != "":
		w.kinds[kind]++
	case err == nil && res.Question != nil:
		w.kinds["asked again"]++
		w.asked = append(w.asked, id)
	}
	// Of one question there is one answer.
	if err == nil && res.Question == nil {
		if again, err := w.s.Door.Answer(w.t.Context(), access.Terminal(), id, tool.Answer{Approve: true}); err == nil {
			w.fail("%s was answered twice: %s", id, w.outcome(again, err))
		}
	}
}

// stale reports whether a file is no longer what a question was computed from.
func (w *world) stale(q tool.Question) bool {
	have := w.look()
	for p, hash := range q.Files {
		s, there := have[norm.NFC.String(p)]
		_, text, _ := strings.Cut(s, " ")
		sum := sha256.Sum256([]byte(text))
		// A moved file may be anything: its content is not looked at.
		if moved := hash == "" && there; there != (hash != "") && !moved || hash != "" && hex.EncodeToString(sum[:]) != hash {
			return true
		}
	}
	return false
}
