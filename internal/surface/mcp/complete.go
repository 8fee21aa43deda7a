package mcp

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/tool"
)

// most is how many values a completion may have.
const most = 100

// listed is how many notes or tags a completion looks at.
const listed = 500

// complete offers values for what is typed: paths, tags and node ids of the
// vault, told by the name of the argument.
func (s *Server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	var values []string
	var more bool
	var err error
	typed := req.Params.Argument.Value
	switch req.Params.Argument.Name {
	case "path", "note":
		values, more, err = s.paths(ctx, typed)
	case "tag", "tags":
		values, more, err = s.tags(ctx, typed)
	case "node", "node_id", "id":
		values, more, err = s.nodes(ctx, typed)
	}
	if err != nil {
		return nil, internal(err)
	}
	total := len(values)
	values = append([]string{}, values[:min(most, total)]...)
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, Total: total, HasMore: more || total > most}}, nil
}

// paths are those in the folder that is typed, then what a search finds.
func (s *Server) paths(ctx context.Context, typed string) (values []string, more bool, err error) {
	folder := strings.Trim(path.Dir(typed), "/.")
	var list noteList
	err = s.use(ctx, tool.ListsNotes, map[string]any{"limit": listed, "sort": "path", "folder": folder}, &list)
	if k := fault.Of(err); err != nil && k != fault.NotFound && k != fault.Invalid {
		return nil, false, err
	}
	var names []string
	titles := map[string]string{}
	for _, n := range list.Notes {
		names = append(names, n.Path)
		titles[n.Path] = n.Title
	}
	values = ranked(names, typed, func(p string) []string { return []string{p, path.Base(p), titles[p]} })
	more = list.Total > len(list.Notes)
	if typed != "" && (len(values) == 0 || more) {
		var found struct {
			Results []struct{ Path string }
		}
		if err := s.use(ctx, tool.SearchesNotes, map[string]any{"query": typed}, &found); err == nil {
			for _, r := range found.Results {
				if !slices.Contains(values, r.Path) {
					values = append(values, r.Path)
				}
			}
		}
	}
	return values, more, nil
}

// tags are those of the vault, without their mark.
func (s *Server) tags(ctx context.Context, typed string) (values []string, more bool, err error) {
	var list struct {
		Tags  []struct{ Tag string }
		Total int
	}
	if err := s.use(ctx, tool.ListsTags, map[string]any{"limit": listed}, &list); err != nil {
		if fault.Of(err) == fault.NotFound { // nothing here lists tags
			err = nil
		}
		return nil, false, err
	}
	var names []string
	for _, t := range list.Tags {
		names = append(names, t.Tag)
	}
	return ranked(names, strings.TrimPrefix(typed, "#"), func(t string) []string { return []string{t, path.Base(t)} }), list.Total > len(names), nil
}

// nodes are the ids of the knowledge graph that begin so.
func (s *Server) nodes(ctx context.Context, typed string) (values []string, more bool, err error) {
	var list struct {
		Nodes []struct {
			NodeID string `json:"node_id"`
		}
		Next int `json:"next_offset"`
	}
	if err := s.use(ctx, tool.ListsNodes, map[string]any{"limit": listed, "prefix": typed}, &list); err != nil {
		if fault.Of(err) == fault.NotFound { // nothing here knows nodes
			err = nil
		}
		return nil, false, err
	}
	for _, n := range list.Nodes {
		values = append(values, n.NodeID)
	}
	return values, list.Next > 0, nil
}

// How well a word fits what is typed, best first.
const (
	begins = iota
	holds
	scattered
	differs
)

// fits compares without regard to letter case: the word may begin with what is
// typed, hold it, or hold its letters in their order.
func fits(word, typed string) int {
	word, typed = strings.ToLower(word), strings.ToLower(typed)
	switch {
	case strings.HasPrefix(word, typed):
		return begins
	case strings.Contains(word, typed):
		return holds
	}
	rest := []rune(typed)
	for _, r := range word {
		if len(rest) > 0 && r == rest[0] {
			rest = rest[1:]
		}
	}
	if len(rest) == 0 {
		return scattered
	}
	return differs
}

// ranked keeps the names that fit under any of their spellings, the best first
// and else in the order they came in.
func ranked(names []string, typed string, spelled func(string) []string) []string {
	best := map[string]int{}
	for _, n := range names {
		best[n] = differs
		for _, w := range spelled(n) {
			best[n] = min(best[n], fits(w, typed))
		}
	}
	out := slices.DeleteFunc(names, func(n string) bool { return best[n] == differs })
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(best[a], best[b]) })
	return out
}
