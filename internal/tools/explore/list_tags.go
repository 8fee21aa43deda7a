package explore

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// ListTags: List tags with their number of notes.
type ListTags struct {
	// Start of the tags.
	Prefix string `json:"prefix,omitempty"`
	// Order.
	Sort string `json:"sort,omitempty" default:"count" enum:"count,name"`
	// Max tags.
	Limit int `json:"limit,omitempty" default:"100" min:"1" max:"1000"`
	// Tags to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (ListTags) Help() tool.Help {
	return tool.Help{
		Short: "List tags with the number of notes",
		Flags: map[string]string{
			"sort": "order of the list",
		},
		Examples: []string{
			"",
			"--limit 5 --sort name",
		},
	}
}

// TagList is one page of tags.
type TagList struct {
	Tags []TagCount `json:"tags"`
	// Total number of tags, including those not shown.
	Total int `json:"total"`
	// Unknown is the prefix, when no tag begins with it.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	// More says how to get the next tags.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`

	outside bool
}

// ShowsOutside reports whether one of the tags is the word of untrusted notes alone.
func (l TagList) ShowsOutside() bool { return l.outside }

// TagCount is how often one tag is used.
type TagCount struct {
	Tag string `json:"tag"`
	// Notes with exactly this tag.
	Notes int `json:"notes"`
	// WithNested counts the notes that have it or a tag nested in it.
	WithNested int `json:"with_nested"`
	parent     bool
}

// Run counts the tags.
func (in ListTags) Run(ctx context.Context, env Env) (TagList, error) {
	counts, err := env.Store.Facets(ctx, index.FacetTag, index.Filter{})
	if err != nil {
		return TagList{}, err
	}
	prefix := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(in.Prefix), "#"))
	tags := tagTree(counts, prefix)
	for i := range tags {
		if !tags[i].parent {
			continue
		}
		// A note may have several tags below one parent, so they cannot be added up.
		if tags[i].WithNested, err = toolkit.CountNotes(ctx, env.Store, index.Filter{Tags: []string{tags[i].Tag}}); err != nil {
			return TagList{}, err
		}
	}
	slices.SortFunc(tags, func(a, b TagCount) int {
		if in.Sort == "name" {
			return strings.Compare(a.Tag, b.Tag)
		}
		return cmp.Or(cmp.Compare(b.WithNested, a.WithNested), strings.Compare(a.Tag, b.Tag))
	})
	page, more := paging.Cut(tags, in.Offset, in.Limit)
	out := TagList{Tags: append([]TagCount{}, page...), Total: len(tags), More: more, Index: env.Fresh(ctx)}
	if len(tags) == 0 && prefix != "" {
		out.Unknown, err = search.Unknowns(ctx, env.Store, index.Filter{Tags: []string{prefix}})
	}
	if err == nil {
		out.outside, err = env.hasOutsideTag(ctx, page)
	}
	return out, err
}

// hasOutsideTag reports whether only untrusted notes have one of the tags.
func (env Env) hasOutsideTag(ctx context.Context, tags []TagCount) (bool, error) {
	rows, err := env.Store.Notes(ctx, index.Select{Filter: index.Filter{Props: []index.PropFilter{{Key: note.UntrustedKey, Op: "=", Value: "true"}}}})
	if err != nil || len(rows) == 0 {
		return false, err
	}
	marked := map[string]int{} // untrusted notes, by the tags that they have and those above
	for i := range rows {
		own := map[string]bool{}
		for _, tag := range rows[i].Tags {
			for tag = strings.ToLower(tag); tag != ""; {
				own[tag] = true
				tag = tag[:max(0, strings.LastIndexByte(tag, '/'))]
			}
		}
		for tag := range own {
			marked[tag]++
		}
	}
	return slices.ContainsFunc(tags, func(t TagCount) bool { return marked[strings.ToLower(t.Tag)] >= t.WithNested }), nil
}

// tagTree adds the parents that no note has by themselves.
func tagTree(counts []index.Count, prefix string) []TagCount {
	at := map[string]int{}
	var out []TagCount
	get := func(tag string) *TagCount {
		i, ok := at[tag]
		if !ok {
			i = len(out)
			at[tag] = i
			out = append(out, TagCount{Tag: tag})
		}
		return &out[i]
	}
	for _, c := range counts {
		if strings.HasPrefix(c.Value, prefix) {
			t := get(c.Value)
			t.Notes = c.Notes
			t.WithNested = max(t.WithNested, c.Notes)
		}
		for i := strings.LastIndexByte(c.Value, '/'); i > 0; i = strings.LastIndexByte(c.Value[:i], '/') {
			if strings.HasPrefix(c.Value[:i], prefix) {
				get(c.Value[:i]).parent = true
			}
		}
	}
	return out
}

// View is a table of the tags.
func (l TagList) View() tool.View {
	v := tool.View{Head: []string{"tag", "notes", "with nested"}}
	for _, t := range l.Tags {
		v.Rows = append(v.Rows, []string{"#" + t.Tag, strconv.Itoa(t.Notes), strconv.Itoa(t.WithNested)})
	}
	v.Foot = toolkit.Foot(l.Index, append([]string{toolkit.Count(l.Total, "tag"), l.More}, search.Hints(l.Unknown)...)...)
	return v
}
