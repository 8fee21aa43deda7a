package work

import (
	"context"
	"fmt"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/tool/history"
)

// A layer is the vault as it would be after some steps. It reads files and
// changes none; its difference to the vault is one edit for each file.
type layer struct {
	env    Env
	merge  bool
	files  map[string]*tracked // by where they stand now
	order  []*tracked
	left   map[string]bool // paths that a file has left
	merged []string
	found  []problem
	turns  map[history.Reversal]bool // what the whole plan turns over
}

// A tracked file has been looked at. Origin is its path in the vault, empty for
// a file that the steps made.
type tracked struct {
	origin, path  string
	there         bool // it exists after the steps so far
	read          bool // its content is known
	before, after *string
	// keep says that words from outside may be left in it: its mark must stay.
	keep bool
}

// A problem is why a step cannot be made.
type problem struct {
	text  string
	mends bool // merge would help
}

// at finds the file that stands at a path now; nil when there is none.
func (l *layer) at(ctx context.Context, path string, content bool) (*tracked, error) {
	t, ok := l.files[path]
	if !ok && l.left[path] {
		return nil, nil
	}
	if !ok {
		t = &tracked{origin: path, path: path, there: true}
		if _, err := l.env.Vault.Stat(ctx, path); err != nil {
			switch fault.Of(err) {
			case fault.NotFound:
				return nil, nil
			case fault.Denied: // hidden, and changed once: reading decides
				content = true
			default:
				return nil, err
			}
		}
	}
	if content && !t.read && t.origin != "" {
		f, err := l.env.Vault.ReadHidden(ctx, t.origin)
		if fault.Of(err) == fault.NotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		text := string(f.Data)
		t.before, t.after, t.read = &text, &text, true
	}
	if !ok {
		l.files[path] = t
		l.order = append(l.order, t)
	}
	if !t.there {
		return nil, nil
	}
	return t, nil
}

// apply makes one step, or notes why it cannot be made. Also where a file is
// what the step expects, no later change of it may be in force: the changes of a
// file are taken back and brought back in their order, so that there is always
// a way to the beginning.
func (l *layer) apply(ctx context.Context, s history.Step) error {
	had := len(l.found)
	if err := l.step(ctx, s); err != nil || l.merge || len(l.found) > had {
		return err
	}
	for _, p := range (change.Set{s.Edit}).Paths() {
		later, err := l.env.History.InForce(ctx, p, s.First)
		if err != nil {
			return err
		}
		for _, turn := range later {
			if !l.turns[turn] {
				return l.problem(ctx, s, p, true, "has changed since then")
			}
		}
	}
	return nil
}

func (l *layer) step(ctx context.Context, s history.Step) error {
	switch s.Edit.Kind() {
	case change.Creates:
		return l.create(ctx, s)
	case change.Removes:
		return l.remove(ctx, s)
	case change.Moves:
		return l.move(ctx, s)
	}
	t, err := l.at(ctx, s.Edit.Path, true)
	if err != nil {
		return err
	}
	if t == nil {
		return l.problem(ctx, s, s.Edit.Path, false, "is gone")
	}
	return l.rewrite(ctx, s, t)
}

func (l *layer) create(ctx context.Context, s history.Step) error {
	path := s.Edit.Path
	t, err := l.at(ctx, path, true)
	switch {
	case err != nil:
		return err
	case t != nil && *t.after == *s.Edit.After:
		return l.free(ctx, s, path, "exists again")
	case t != nil:
		return l.problem(ctx, s, path, false, "exists again with different content")
	}
	if t = l.files[path]; t == nil {
		t = &tracked{path: path, read: true}
		l.files[path] = t
		l.order = append(l.order, t)
	}
	t.there, t.after = true, s.Edit.After
	return nil
}

func (l *layer) remove(ctx context.Context, s history.Step) error {
	t, err := l.at(ctx, s.Edit.Path, true)
	switch {
	case err != nil:
		return err
	case t == nil:
		return l.free(ctx, s, s.Edit.Path, "is gone")
	case *t.after != *s.Edit.Before:
		return l.problem(ctx, s, s.Edit.Path, false, "has changed since then and would be deleted")
	}
	t.there, t.after = false, nil
	return nil
}

func (l *layer) move(ctx context.Context, s history.Step) error {
	e := s.Edit
	t, err := l.at(ctx, e.From, e.Before != nil)
	if err != nil {
		return err
	}
	if t == nil {
		return l.problem(ctx, s, e.From, false, "is gone")
	}
	there, err := l.at(ctx, e.Path, false)
	if err != nil {
		return err
	}
	// Where names ignore case, a file that only changes its case finds itself.
	if there != nil && there != t && !strings.EqualFold(e.From, e.Path) {
		return l.problem(ctx, s, e.Path, false, "exists again")
	}
	if e.Before != nil {
		if err := l.rewrite(ctx, s, t); err != nil {
			return err
		}
	}
	delete(l.files, e.From)
	l.left[e.From] = true
	delete(l.left, e.Path)
	t.path = e.Path
	l.files[e.Path] = t
	return nil
}

// rewrite gives a file the content of the step. A file that was changed since
// is refused, or both changes are kept.
func (l *layer) rewrite(ctx context.Context, s history.Step, t *tracked) error {
	want, now := s.Edit.After, *t.after
	switch {
	case now == *s.Edit.Before:
		// Lore sets the mark together with the words of a tainted caller, which go with
		// it. Whoever else set it, meant words that may have been there before.
		t.keep = t.keep || !s.Op.Who.Tainted && isUntrusted(now) && !isUntrusted(*want)
		t.after = want
		return nil
	case now == *want:
		return l.free(ctx, s, t.path, "has changed since then")
	}
	merged, conflicts := change.Merge(*s.Edit.Before, *want, now)
	if l.merge && len(conflicts) == 0 {
		t.keep = t.keep || isUntrusted(now) // of both changes, who knows which words stay
		t.after = &merged
		l.merged = append(l.merged, t.path)
		return nil
	}
	if len(conflicts) == 0 {
		return l.problem(ctx, s, t.path, true, "has changed since then")
	}
	lines := make([]string, len(conflicts))
	for i, c := range conflicts {
		lines[i] = fmt.Sprint(c.Line)
	}
	return l.problem(ctx, s, t.path, false, fmt.Sprintf("has changed since then in the same places (line %s)", some(lines)))
}

func isUntrusted(text string) bool { return note.IsUntrusted([]byte(text)) }

// keeps are the files in which words from outside may stay, by where they are now.
func (l *layer) keeps() map[string]bool {
	out := map[string]bool{}
	for _, t := range l.order {
		if t.keep {
			out[t.origin] = true
		}
	}
	return out
}

// problem notes why a step cannot be made, and who is the reason.
func (l *layer) problem(ctx context.Context, s history.Step, path string, mends bool, what string) error {
	last, ok, err := l.since(ctx, s, path)
	if err != nil {
		return err
	}
	who := "outside Lore"
	if ok {
		who = fmt.Sprintf("%s by %s, %s, %s", last.Tool, by(last.Who), at(last.Time), last.ID)
	}
	l.found = append(l.found, problem{fmt.Sprintf("%s %s (%s)", path, what, who), mends})
	return nil
}

// since finds the recorded change that made a file what it is, when it came
// after the one that the step is about.
func (l *layer) since(ctx context.Context, s history.Step, path string) (history.Touch, bool, error) {
	last, ok, err := l.env.History.Since(ctx, path, s.After)
	if err != nil || !ok {
		return last, false, err
	}
	return last, last.Hash == "" || last.Hash == l.hash(ctx, path), nil
}

// free is for a step that has nothing to do, because someone made the file what
// it should be by hand. When a recorded change did, the step would leave a
// history that contradicts the files, so that is a problem.
func (l *layer) free(ctx context.Context, s history.Step, path, what string) error {
	if t := l.files[path]; t != nil && (t.path != t.origin || !t.there || t.before == nil || t.after != t.before) {
		return nil // an earlier step of this very plan did it
	}
	if l.left[path] {
		return nil
	}
	_, ok, err := l.since(ctx, s, path)
	if err != nil || !ok {
		return err
	}
	return l.problem(ctx, s, path, false, what)
}

// hash is of what the vault holds at a path; "" for nothing that can be read.
func (l *layer) hash(ctx context.Context, path string) string {
	f, err := l.env.Vault.ReadHidden(ctx, path)
	if err != nil {
		return ""
	}
	return f.Hash.String()
}

// trouble is the error of all problems together.
func (l *layer) trouble(verb string) error {
	if len(l.found) == 0 {
		return nil
	}
	var texts []string
	mends := true
	for _, p := range l.found {
		texts = append(texts, p.text)
		mends = mends && p.mends
	}
	fix := "undo the later change first, or change the file by hand"
	if mends {
		fix = "merge: true keeps both changes"
	}
	return fault.Fix(fault.Conflict, fix, "cannot %s: %s", strings.ToLower(verb), some(texts))
}

// set is the difference between the vault and the layer.
func (l *layer) set() change.Set {
	var set change.Set
	for _, t := range l.order {
		same := t.before != nil && t.after != nil && *t.before == *t.after
		switch {
		case t.origin == "" && !t.there, t.path == t.origin && t.there && (same || !t.read):
		case t.origin == "":
			set = append(set, change.Edit{Path: t.path, After: t.after})
		case !t.there:
			set = append(set, change.Edit{Path: t.origin, Before: t.before})
		case t.path == t.origin:
			set = append(set, change.Edit{Path: t.path, Before: t.before, After: t.after})
		case same || !t.read:
			set = append(set, change.Move(t.origin, t.path))
		default:
			set = append(set, change.Edit{Path: t.path, From: t.origin, Before: t.before, After: t.after})
		}
	}
	return set
}

// contents is the same difference without moves: what every path holds before
// and after. It can say more than [layer.set], and less well.
func (l *layer) contents(ctx context.Context) (change.Set, error) {
	before, after := map[string]*string{}, map[string]*string{}
	var paths []string
	put := func(m map[string]*string, path string, text *string) {
		if _, a := before[path]; !a {
			if _, b := after[path]; !b {
				paths = append(paths, path)
			}
		}
		m[path] = text
	}
	for _, t := range l.order {
		if !t.read { // it only moved
			f, err := l.env.Vault.ReadHidden(ctx, t.origin)
			if err != nil {
				return nil, err
			}
			text := string(f.Data)
			t.before, t.after, t.read = &text, &text, true
		}
		if t.origin != "" {
			put(before, t.origin, t.before)
		}
		if t.there {
			put(after, t.path, t.after)
		}
	}
	var set change.Set
	for _, p := range paths {
		b, a := before[p], after[p]
		if b == nil && a == nil || b != nil && a != nil && *b == *a {
			continue
		}
		set = append(set, change.Edit{Path: p, Before: b, After: a})
	}
	return set, nil
}
