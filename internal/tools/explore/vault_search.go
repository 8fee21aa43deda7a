package explore

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// VaultSearch: Find notes by text in their names, then in their content, and
// count the matches. For questions use search_notes.
type VaultSearch struct {
	// Text to find, in any case, from the start of a word. If several words never occur together, notes with all of them are returned.
	Query string `json:"query"`
	// Max notes.
	Limit int `json:"limit,omitempty" default:"10" min:"1" max:"50"`
	// Notes to skip.
	Offset int `json:"offset,omitempty" min:"0" max:"10000"`
}

// Help is the text for people.
func (VaultSearch) Help() tool.Help {
	return tool.Help{
		Short: "Find notes by exact text in names and content",
		Long:  "lore search finds notes by words and meaning.",
		Flags: map[string]string{
			"query": "text to find, from the start of a word; case does not matter",
		},
		Examples: []string{
			"caffeine",
			`"green tea" --limit 3`,
		},
		Hidden: true,
	}
}

// TextHits are notes that have a text, those that have it in their name first.
type TextHits struct {
	Results []TextHit `json:"results"`
	// More says how to get the next notes.
	More string `json:"more,omitempty"`
	// Hint says that no note has the exact text.
	Hint  string          `json:"hint,omitempty"`
	Index index.Freshness `json:"index"`
}

// TextHit is one note that has the text.
type TextHit struct {
	Path     string `json:"path"`
	Basename string `json:"basename"`
	// Matches counts the places, in the name and in the content.
	Matches int    `json:"matches"`
	Preview string `json:"preview"`

	mark tool.Mark
}

// Run looks at names, then at content.
func (in VaultSearch) Run(ctx context.Context, env Env) (TextHits, error) {
	query := toolkit.OneLine(in.Query)
	if query == "" {
		return TextHits{}, fault.Field("query", "give a word or a phrase", "is empty")
	}
	s := textSearch{env: env, want: in.Offset + in.Limit + 1, seen: map[string]bool{}}
	if err := s.run(ctx, []string{query}); err != nil {
		return TextHits{}, err
	}
	out := TextHits{Results: []TextHit{}, Index: env.Fresh(ctx)}
	if words := strings.Fields(query); len(s.hits) == 0 && len(words) > 1 {
		out.Hint = "no note has this exact text; these notes have all of the words"
		if err := s.run(ctx, words); err != nil {
			return TextHits{}, err
		}
		if len(s.hits) == 0 {
			out.Hint = ""
		}
	}
	from := min(in.Offset, len(s.hits))
	to := min(from+in.Limit, len(s.hits))
	out.Results = append(out.Results, s.hits[from:to]...)
	if to < len(s.hits) {
		out.More = paging.After(from, to-from)
	}
	return out, nil
}

// A textSearch collects the notes that have all of some texts.
type textSearch struct {
	env  Env
	want int // hits after which it may stop
	seen map[string]bool
	hits []TextHit
}

func (s *textSearch) run(ctx context.Context, texts []string) error {
	var all []*regexp.Regexp
	match := index.Match{Limit: 1 << 20}
	for _, t := range texts {
		// Words of a phrase may stand on two lines.
		quoted := strings.ReplaceAll(regexp.QuoteMeta(t), " ", `\s+`)
		r, err := regexp.Compile("(?i)" + quoted)
		if err != nil {
			return fault.Field("query", "use a shorter query", "is too long to search for")
		}
		all = append(all, r)
		match.All = append(match.All, index.Term{Words: strings.Fields(t), Prefix: true})
	}
	names, err := s.env.Store.Names(ctx, index.NameQuery{})
	if err != nil {
		return err
	}
	var paths []string
	for i, n := range names {
		if err := index.Interrupted(ctx, i); err != nil {
			return err
		}
		if n.Kind == index.NameFile && fits(path.Base(n.Path), all) {
			paths = append(paths, n.Path)
		}
	}
	slices.Sort(paths)
	if err := s.read(ctx, paths, all, true); err != nil || len(s.hits) >= s.want {
		return err
	}
	found, err := s.env.Store.Match(ctx, match)
	if err != nil {
		return err
	}
	paths = paths[:0]
	for _, f := range found {
		paths = append(paths, f.Path)
	}
	slices.Sort(paths)
	return s.read(ctx, paths, all, false)
}

func fits(text string, all []*regexp.Regexp) bool {
	return !slices.ContainsFunc(all, func(r *regexp.Regexp) bool { return !r.MatchString(text) })
}

// read opens the notes in turn until there are enough hits. The index only
// says where to look: what counts is the text.
func (s *textSearch) read(ctx context.Context, paths []string, all []*regexp.Regexp, named bool) error {
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(s.hits) >= s.want {
			return nil
		}
		if s.seen[p] {
			continue
		}
		h := TextHit{Path: p, Basename: strings.TrimSuffix(path.Base(p), path.Ext(p))}
		text := ""
		if isText(p) {
			f, err := s.env.Vault.Head(ctx, p)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil && !named {
				continue // gone since, or not readable: there is nothing to show
			}
			text = string(f.Data)
		}
		if !named && !fits(text, all) {
			continue // the index knows forms of words that are not the text asked for
		}
		s.seen[p] = true
		for _, r := range all {
			h.Matches += len(r.FindAllStringIndex(text, -1))
			if named {
				h.Matches += len(r.FindAllStringIndex(path.Base(p), -1))
			}
		}
		h.preview(text, all[0])
		s.hits = append(s.hits, h)
	}
	return nil
}

func isText(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".markdown", ".canvas":
		return true
	}
	return false
}

const previewWidth = 200

// preview is the line around the first match, or how the text begins.
func (h *TextHit) preview(text string, r *regexp.Regexp) {
	front, body := frontMatter(text)
	at := r.FindStringIndex(body)
	if at != nil {
		text = body // what the note says is worth more than its properties
	} else {
		at = r.FindStringIndex(front)
	}
	if at == nil {
		text = body
		h.Preview = search.Around(strings.Join(strings.Fields(text[:min(len(text), 4*previewWidth)]), " "), 0, 0, previewWidth)
	} else {
		h.Preview = search.Around(text, at[0], at[1], previewWidth)
	}
	h.Preview = strings.ToValidUTF8(h.Preview, "\uFFFD")
	if m := r.FindStringIndex(h.Preview); m != nil {
		h.mark = tool.Mark{Start: m[0], End: m[1]}
	}
}

// frontMatter cuts a text into its YAML block and the rest.
func frontMatter(text string) (front, body string) {
	if !strings.HasPrefix(text, "---\n") {
		return "", text
	}
	if i := strings.Index(text[4:], "\n---"); i >= 0 {
		end := 4 + i + len("\n---")
		if nl := strings.IndexByte(text[end:], '\n'); nl >= 0 {
			return text[:end+nl+1], text[end+nl+1:]
		}
	}
	return "", text
}

// View lists the notes.
func (t TextHits) View() tool.View {
	var v tool.View
	for _, h := range t.Results {
		detail := fmt.Sprintf("%d matches", h.Matches)
		if h.Matches == 1 {
			detail = "1 match"
		}
		item := tool.Item{Title: h.Basename, Path: h.Path, Detail: detail, Text: h.Preview}
		if h.mark.End > 0 {
			item.Marks = []tool.Mark{h.mark}
		}
		v.Items = append(v.Items, item)
	}
	none := ""
	if len(t.Results) == 0 {
		none = "no notes found"
	}
	v.Foot = toolkit.Foot(t.Index, none, t.Hint, t.More)
	return v
}
