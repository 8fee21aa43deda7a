package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/note/relation"
	"lore/internal/tool/schema"
)

// An Unknown is a name in a filter that nothing in the vault has. It tells an
// answer that is empty because of a typing mistake from one that is true.
type Unknown struct {
	// Kind is tag, type, folder, path, property or relationship type.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Nearest are the names that exist and may have been meant.
	Nearest []string `json:"nearest,omitempty"`
}

// The kinds of unknown names.
const (
	UnknownTag      = "tag"
	UnknownType     = "type"
	UnknownFolder   = "folder"
	UnknownPath     = "path"
	UnknownProperty = "property"
	UnknownRelation = "relationship type"
)

// String says it to a person.
func (u Unknown) String() string {
	text := fmt.Sprintf("no note has the %s %q", u.Kind, u.Name)
	sign := ""
	switch u.Kind {
	case UnknownTag:
		sign = "#"
		text = "no note has the tag #" + u.Name
	case UnknownFolder:
		text = fmt.Sprintf("folder %q has no files", u.Name)
	case UnknownPath:
		text = fmt.Sprintf("no path matches %q", u.Name)
	case UnknownRelation:
		text = fmt.Sprintf("no relationship has the type %s", u.Name)
	}
	if len(u.Nearest) > 0 {
		text += " (did you mean " + sign + strings.Join(u.Nearest, ", "+sign) + "?)"
	}
	return text
}

// Fault is the error of a tool whose argument must name something that exists.
func (u Unknown) Fault(field string) error {
	r := &fault.Report{Kind: fault.NotFound, Field: field, Message: fmt.Sprintf("%s not found: %q", u.Kind, u.Name)}
	if len(u.Nearest) > 0 {
		r.Fix = "did you mean " + strings.Join(u.Nearest, ", ") + "?"
	}
	return r
}

// Folder returns the filter that keeps to a folder, nothing for the whole vault.
// A folder that does not exist is an error, so that a wrong name is not taken
// for an empty answer. clean checks a path and tells of one that the index has
// no file in whether it is there.
func Folder(ctx context.Context, s index.Store, name string, clean func(name string) (path string, exists func() bool, err error)) ([]string, error) {
	if strings.Trim(strings.TrimSpace(name), "/.") == "" {
		if strings.Contains(name, "..") {
			return nil, fault.Field("folder", "give the path from the vault root", "%q points outside the vault", name)
		}
		return nil, nil
	}
	path, exists, err := clean(strings.Trim(name, "/"))
	if err != nil {
		return nil, err
	}
	unknown, err := Unknowns(ctx, s, index.Filter{Folders: []string{path}})
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 && !exists() {
		return nil, unknown[0].Fault("folder")
	}
	return []string{path}, nil
}

// Hints are the sentences for several unknown names.
func Hints(list []Unknown) []string {
	var out []string
	for _, u := range list {
		out = append(out, u.String())
	}
	return out
}

// Unknowns are the names in a filter that nothing in the vault has, also those
// that it excludes.
func Unknowns(ctx context.Context, s index.Store, f index.Filter) ([]Unknown, error) {
	c := checker{ctx: ctx, store: s}
	for at := &f; at != nil; at = at.And {
		for _, t := range slices.Concat(at.Tags, at.NoTags) {
			c.check(UnknownTag, strings.ToLower(strings.Trim(t, "#/")), index.Filter{Tags: []string{t}}, index.FacetTag)
		}
		for _, t := range slices.Concat(at.Types, at.NoTypes) {
			c.check(UnknownType, t, index.Filter{Types: []string{t}}, index.FacetType)
		}
		for _, d := range at.Folders {
			c.check(UnknownFolder, strings.Trim(d, "/"), index.Filter{Folders: []string{d}, Kinds: everyKind}, index.FacetFolder)
		}
		for _, g := range slices.Concat(at.Globs, at.NoGlobs) {
			c.check(UnknownPath, g, index.Filter{Globs: []string{g}, Kinds: everyKind}, "")
		}
		for _, p := range at.Props {
			c.check(UnknownProperty, p.Key, index.Filter{Props: []index.PropFilter{{Key: p.Key}}}, index.FacetProp)
		}
	}
	return c.out, c.err
}

var everyKind = []index.Kind{index.KindNote, index.KindCanvas, index.KindAttachment, index.KindConflict}

// A checker collects unknown names, each once.
type checker struct {
	ctx   context.Context
	store index.Store
	out   []Unknown
	err   error
}

// check asks for one note that the filter of a single name lets through. Only
// for a name that has none are all names of its kind counted.
func (c *checker) check(kind, name string, f index.Filter, facet index.Facet) {
	if c.err != nil || name == "" || slices.ContainsFunc(c.out, func(u Unknown) bool { return u.Kind == kind && u.Name == name }) {
		return
	}
	rows, err := c.store.Notes(c.ctx, index.Select{Filter: f, Limit: 1})
	if err != nil || len(rows) > 0 {
		c.err = err
		return
	}
	u := Unknown{Kind: kind, Name: name}
	if facet != "" {
		counts, err := c.store.Facets(c.ctx, facet, index.Filter{Kinds: everyKind})
		if err != nil {
			c.err = err
			return
		}
		var known []string
		for _, n := range counts {
			if n.Value != "" {
				known = append(known, n.Value)
			}
		}
		u.Nearest = schema.Nearest(name, known, 3)
	}
	c.out = append(c.out, u)
}

// UnknownRelations are the types of relationships that no note states.
func UnknownRelations(ctx context.Context, s index.Store, types []string) ([]Unknown, error) {
	var out []Unknown
	for _, t := range types {
		found, err := s.Relations(ctx, index.RelationQuery{Types: []string{t}, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			near := slices.DeleteFunc(schema.Nearest(t, relation.Known(), 3), func(n string) bool { return n == t })
			out = append(out, Unknown{Kind: UnknownRelation, Name: t, Nearest: near})
		}
	}
	return out, nil
}
