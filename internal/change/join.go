package change

import "fmt"

// Then is what s and a later set come to when they are made one after the other:
// one set from the state before s to the state after next. next must have been
// planned on what s leaves. What cannot be told as one edit of each file is an
// error: a file that takes a path which another one has left, for example.
func (s Set) Then(next Set) (Set, error) {
	out := append(Set{}, s...)
	for _, e := range next {
		var err error
		if out, err = out.then(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// then adds one edit.
func (s Set) then(e Edit) (Set, error) {
	from := e.Path
	if e.From != "" {
		from = e.From
	}
	at := -1 // the edit that left the file where e finds it
	for i, p := range s {
		switch {
		case p.Path == from && p.After == nil && p.Kind() == Removes, p.From == from:
			return nil, fmt.Errorf("%q is already moved or deleted", from)
		case e.From != "" && (p.Path == e.Path || p.From == e.Path):
			return nil, fmt.Errorf("%q is already changed, so nothing can be moved there", e.Path)
		case p.Path == from:
			at = i
		}
	}
	if at < 0 {
		return append(s, e), nil
	}
	joined, changes := s[at].joined(e)
	if !changes {
		return append(s[:at:at], s[at+1:]...), nil
	}
	s[at] = joined
	return s, nil
}

// joined is p and then e as one edit of a file; changes is false when together
// they change nothing.
func (p Edit) joined(e Edit) (out Edit, changes bool) {
	out = Edit{Path: e.Path, From: p.From, Before: p.Before, After: e.After, Relinks: p.Relinks && e.Relinks}
	if e.From != "" && p.From == "" && p.Before != nil {
		out.From = e.From
	}
	if p.From != "" && p.After == nil { // it moved as it was
		out.Before = e.Before
	}
	if e.From != "" && e.After == nil { // it moves as it is
		out.After = p.After
	}
	if e.From == "" && e.After == nil && p.From != "" { // moved, then removed
		out.Path, out.From = p.From, ""
	}
	switch same := out.Before != nil && out.After != nil && *out.Before == *out.After; {
	case out.Before == nil && out.After == nil && out.From == "", same && out.From == "":
		return Edit{}, false
	case same:
		return Move(out.From, out.Path), out.From != out.Path
	}
	return out, true
}
