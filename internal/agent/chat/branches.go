package chat

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// A Branching is a message of a chat that has other versions: the next message
// after After differs between the chats, one for each version.
type Branching struct {
	After int      `json:"after"` // the last message that all versions share
	Chats []string `json:"chats"` // the oldest version first; of each, the chat that changed last
	At    int      `json:"at"`    // which of them is the chat itself
}

// member is a chat of a family of branches.
type member struct {
	id, parent       string
	fork, messages   int
	created, changed time.Time
}

// Branchings finds where a chat and its branches part, in order.
func (s *Store) Branchings(ctx context.Context, id string) ([]Branching, error) {
	all, err := s.branched(ctx)
	if err != nil {
		return nil, err
	}
	f := familyOf(all, id)
	if len(f.members) < 2 {
		return nil, nil
	}
	if err := s.count(ctx, f.members); err != nil {
		return nil, err
	}
	return f.branchings(id), nil
}

// branched are the chats that are branches or have some.
func (s *Store) branched(ctx context.Context) ([]member, error) {
	list, err := read[Chat](ctx, s, `SELECT body FROM chat WHERE json_extract(body, '$.parent') <> ''
	  OR id IN (SELECT json_extract(body, '$.parent') FROM chat WHERE json_extract(body, '$.parent') <> '')`)
	out := make([]member, 0, len(list))
	for _, c := range list {
		out = append(out, member{id: c.ID, parent: c.Parent, fork: c.Fork, created: c.Created, changed: c.Changed})
	}
	return out, err
}

// count fills in how many messages each chat has.
func (s *Store) count(ctx context.Context, list []*member) error {
	for _, m := range list {
		n, err := read[int](ctx, s, `SELECT count(*) FROM message WHERE chat = ?`, m.id)
		if err != nil {
			return err
		}
		m.messages = n[0]
	}
	return nil
}

// A family is a chat with everything that was branched from it, and so on. The
// first one may be deleted: its branches still have the same beginning.
type family struct {
	members []*member
	by      map[string]*member
}

func familyOf(all []member, id string) family {
	by := map[string]*member{}
	for i := range all {
		by[all[i].id] = &all[i]
	}
	root := func(id string) string {
		for range all {
			m := by[id]
			if m == nil || m.parent == "" {
				break
			}
			id = m.parent
		}
		return id
	}
	f := family{by: by}
	first := root(id)
	for i := range all {
		if root(all[i].id) == first {
			f.members = append(f.members, &all[i])
		}
	}
	slices.SortFunc(f.members, func(a, b *member) int { return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.id, b.id)) })
	return f
}

// line is a chat and those it was branched from, with how many messages it shares
// with each.
func (f family) line(id string) map[string]int {
	const all = 1 << 30
	out, shared := map[string]int{id: all}, all
	for range f.by {
		m := f.by[id]
		if m == nil || m.parent == "" {
			break
		}
		shared, id = min(shared, m.fork), m.parent
		out[id] = shared
	}
	return out
}

// shared is how many messages two chats have in common.
func (f family) shared(a, b string) int {
	most := 0
	mine := f.line(a)
	for id, n := range f.line(b) {
		if m, ok := mine[id]; ok {
			most = max(most, min(m, n))
		}
	}
	return most
}

func (f family) branchings(id string) []Branching {
	versions := map[int][]*member{}
	for _, m := range f.members {
		// A branch in which nothing was said yet has no other version of anything.
		if n := f.shared(id, m.id); m.id != id && m.messages > n && f.by[id].messages > n {
			versions[n] = append(versions[n], m)
		}
	}
	var out []Branching
	for after, others := range versions {
		out = append(out, f.branching(id, after, others))
	}
	slices.SortFunc(out, func(a, b Branching) int { return cmp.Compare(a.After, b.After) })
	return out
}

// branching groups chats by their version of the message after one: those that
// share more than it part later.
func (f family) branching(id string, after int, others []*member) Branching {
	var groups [][]*member
	for _, m := range others {
		i := slices.IndexFunc(groups, func(g []*member) bool { return f.shared(g[0].id, m.id) > after })
		if i < 0 {
			groups, i = append(groups, nil), len(groups)
		}
		groups[i] = append(groups[i], m)
	}
	mine := []*member{f.by[id]}
	for _, m := range f.members {
		if m.id != id && f.shared(id, m.id) > after {
			mine = append(mine, m)
		}
	}
	slices.SortFunc(mine, func(a, b *member) int { return a.created.Compare(b.created) })
	groups = append(groups, mine)
	slices.SortStableFunc(groups, func(a, b []*member) int { return a[0].created.Compare(b[0].created) })
	out := Branching{After: after}
	for i, g := range groups {
		if slices.Contains(g, f.by[id]) {
			out.At = i
			out.Chats = append(out.Chats, id)
			continue
		}
		last := slices.MaxFunc(g, func(a, b *member) int { return a.changed.Compare(b.changed) })
		out.Chats = append(out.Chats, last.id)
	}
	return out
}
