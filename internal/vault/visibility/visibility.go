// Package visibility limits which files of a vault a call can see. The limit
// travels with the context of the call: the vault and the index refuse or leave
// out every file that it does not allow, so a tool cannot pass on a note that
// its caller must not get, whatever the tool does.
package visibility

import (
	"context"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/vault/pattern"
)

// A Limit says which files a call may see. The zero Limit allows everything.
type Limit struct {
	only   []pattern.List // each must cover a path; nil: no such limit
	hidden pattern.List   // in lower case: on many disks case does not tell two files apart
	reason string         // why, for whoever names a file that is not allowed
	real   func(paths []string) []string
	text   Patterns // what only and hidden were made of
}

// Everything reports whether the limit allows every file.
func (l Limit) Everything() bool { return l.only == nil && len(l.hidden) == 0 }

// Only narrows the limit to files that one of the patterns covers. An empty list
// allows no file.
func (l Limit) Only(patterns []string) (Limit, error) {
	list, err := pattern.Compile(patterns)
	if err != nil {
		return l, err
	}
	l.only = append(l.only[:len(l.only):len(l.only)], list)
	l.text.Only = append(slices.Clip(l.text.Only), slices.Clone(patterns))
	return l, nil
}

// Without takes the files out that one of the patterns covers, in any case.
func (l Limit) Without(patterns []string) (Limit, error) {
	lower := lowered(patterns)
	list, err := pattern.Compile(lower)
	if err != nil {
		return l, err
	}
	l.hidden = append(l.hidden[:len(l.hidden):len(l.hidden)], list...)
	l.text.Hidden = append(slices.Clip(l.text.Hidden), lower...)
	return l, nil
}

// Because says why a file is not allowed: "it is not shared with Claude".
func (l Limit) Because(reason string) Limit {
	l.reason = reason
	return l
}

// Through tells the limit which files paths lead to when they are links: a file
// is allowed only if its own name is, too.
func (l Limit) Through(real func(paths []string) []string) Limit {
	l.real = real
	return l
}

// Allows reports whether a file may be seen.
func (l Limit) Allows(path string) bool {
	if l.Everything() {
		return true
	}
	return l.covers(path) && (l.real == nil || l.covers(l.real([]string{path})[0]))
}

// Filter keeps the elements of a list whose file may be seen.
func Filter[T any](l Limit, list []T, path func(T) string) []T {
	if l.Everything() || len(list) == 0 {
		return list
	}
	var kept []T
	var paths []string
	for _, x := range list {
		if p := path(x); l.covers(p) {
			kept, paths = append(kept, x), append(paths, p)
		}
	}
	if l.real == nil || len(kept) == 0 {
		return kept
	}
	n := 0
	for i, target := range l.real(paths) {
		if l.covers(target) {
			kept[n] = kept[i]
			n++
		}
	}
	return kept[:n]
}

func (l Limit) covers(path string) bool {
	for _, list := range l.only {
		if !list.Covers(path) {
			return false
		}
	}
	return !l.hidden.Covers(strings.ToLower(path))
}

// Check is the error for a file that is not allowed, or nil.
func (l Limit) Check(path string) error {
	if l.Allows(path) {
		return nil
	}
	reason := l.reason
	if reason == "" {
		reason = "it is not shared with this caller"
	}
	return fault.New(fault.Denied, "%q cannot be read: %s", path, reason)
}

type key struct{}

// With returns a context in which only the allowed files can be seen.
func With(ctx context.Context, l Limit) context.Context { return context.WithValue(ctx, key{}, l) }

// From is the limit of a context; without one, everything is allowed.
func From(ctx context.Context) Limit {
	l, _ := ctx.Value(key{}).(Limit)
	return l
}
