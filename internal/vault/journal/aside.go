package journal

import (
	"path"
	"strings"

	"lore/internal/vault/disk"
)

// SetAside gives up an operation that can neither be made whole nor taken back,
// so that it does not keep every later change from being made. Nothing of it is
// lost: each text in the journal is kept among the recovered ones, and so is the
// manifest, which tells what they were for. What lies in the vault stays as it
// is.
func (t *Op) SetAside(shelf Shelf) (Recovered, error) {
	out := Recovered{Op: shelf.Op, Outcome: SetAside}
	m, ok, err := t.Record(shelf)
	if err != nil {
		return out, err
	}
	t.ID, t.Plan, t.set = shelf.Op, m, nil
	if !ok {
		t.Plan = Manifest{Single: shelf.single}
	}
	for i := range t.Plan.Steps {
		s := &t.Plan.Steps[i]
		t.Trim()
		if err := t.restoreName(s); err != nil {
			return out, disk.Explain(s.Key, err)
		}
		if s.Stage == "" {
			continue
		}
		for _, p := range []string{s.Stage + oldSuffix, s.Stage} {
			if err := t.rescueInto(&out, p, s.Key); err != nil {
				return out, err
			}
		}
	}
	names, err := t.Files(shelf)
	if err != nil {
		return out, err
	}
	for _, name := range names {
		key := shelf.Op + "-" + name
		switch {
		case rank(name) == 1:
			continue
		case rank(name) == 2:
			key = shelf.Op + ".json"
		}
		if err := t.rescueInto(&out, shelf.File(name), key); err != nil {
			return out, err
		}
	}
	return out, t.Clear(shelf)
}

// rescueInto keeps a text and tells of it.
func (t *Op) rescueInto(out *Recovered, p, key string) error {
	st, err := t.Stat(p)
	switch {
	case disk.Absent(err):
		return nil
	case err != nil:
		return disk.Explain(key, err)
	case !st.Mode.IsRegular(): // whatever it is, it goes out of the way as it is
		to, err := t.Free(key)
		if err == nil {
			err = t.MoveFolder(p, to)
		}
		return disk.Explain(key, err)
	}
	kept, err := t.Rescue(p, key)
	for _, c := range kept {
		c.Reason = "its change could be neither completed nor undone"
		out.Conflicts = append(out.Conflicts, c)
	}
	return err
}

// restoreName gives a file that is on a detour a name that people see: its old
// one, its new one, or a free one beside them.
func (t *Op) restoreName(s *Step) error {
	if s.Via == "" {
		return nil
	}
	there, err := t.Exists(s.Via)
	if err != nil || !there {
		return err
	}
	ext := path.Ext(s.From)
	for _, to := range []string{s.From, s.Path, strings.TrimSuffix(s.From, ext) + " (recovered)" + ext} {
		err = t.endDetour(s, to)
		if err == nil {
			return nil
		}
	}
	return err
}
