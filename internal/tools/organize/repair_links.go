package organize

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/graph"
	"lore/internal/graph/relink"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// RepairLinks: Repair broken links that have one clear target: a file of that
// name elsewhere, or a name with a typo. Ambiguous links stay.
type RepairLinks struct {
	// Only links in this note.
	Path string `json:"path,omitempty"`
	// Only links in notes in this folder.
	Folder string `json:"folder,omitempty"`
	// Max links to repair.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"500"`
}

// Help is the text for people.
func (RepairLinks) Help() tool.Help {
	return tool.Help{
		Short: "Repair broken links that have one clear target",
		Long:  "A link is repaired if exactly one file in another folder has the linked name, or a name that differs only by a typo. Links with several possible targets stay as they are.",
		Examples: []string{
			"",
			"--folder Notes",
		},
	}
}

// LinksRepaired are the links that were repaired, and those that were not.
type LinksRepaired struct {
	Repaired []RepairedLink `json:"repaired"`
	// Left are links that stay broken.
	Left []LeftLink `json:"left"`
	// Broken is the number of broken links that were checked.
	Broken int `json:"broken"`
	// More says what is not listed, or was not repaired because of the limit.
	More string `json:"more,omitempty"`
	// Files in which links were rewritten, with the lines.
	Files []relink.FileLinks `json:"files"`

	links    int
	total    int
	warnings []string
}

// RepairedLink is one link that was repaired.
type RepairedLink struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Target string `json:"target"`
	// To is the new target.
	To string `json:"to"`
	// Reason says why: moved, title or spelling.
	Reason string `json:"reason"`
}

// LeftLink is one link that stays broken.
type LeftLink struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Target string `json:"target"`
	Reason string `json:"reason"`
	// Candidates are the files to choose from.
	Candidates []string `json:"candidates,omitempty"`
}

// Plan looks for what each broken link may have meant.
func (in RepairLinks) Plan(ctx context.Context, env Env) (LinksRepaired, change.Set, error) {
	broken, err := toolkit.BrokenLinks(ctx, env.Vault, env.Store, in.Path, in.Folder)
	if err != nil {
		return LinksRepaired{}, nil, err
	}
	g, err := newGuesser(ctx, env.Store)
	if err != nil {
		return LinksRepaired{}, nil, err
	}
	out := LinksRepaired{Repaired: []RepairedLink{}, Broken: len(broken)}
	meant := map[place]string{}
	var paths []string
	var left []LeftLink
	for _, l := range broken {
		if err := ctx.Err(); err != nil { // each is compared with every name
			return LinksRepaired{}, nil, err
		}
		found, why := g.guess(&l)
		if len(found) == 1 && len(out.Repaired) < in.Limit {
			meant[place{l.From, l.Target}] = found[0]
			paths = append(paths, l.From)
			out.Repaired = append(out.Repaired, RepairedLink{Path: l.From, Line: l.Line, Target: l.Target, To: found[0], Reason: why})
			continue
		}
		if len(found) == 1 {
			why = "the limit was reached"
		}
		left = append(left, LeftLink{Path: l.From, Line: l.Line, Target: l.Target, Reason: why, Candidates: found[:min(len(found), 5)]})
	}
	slices.Sort(paths)
	plan, err := toolkit.Planner(env.Vault, env.Store, env.Parse).Point(ctx, slices.Compact(paths), func(from string, l note.Link) string { return meant[place{from, l.Target}] })
	if err != nil {
		return LinksRepaired{}, nil, err
	}
	var cut [3]string
	out.Repaired, cut[0] = shown(out.Repaired, "repaired link")
	out.Left, cut[1] = shown(left, "link not repaired")
	out.Files, cut[2] = shown(plan.Files, "file")
	out.More = strings.Join(slices.DeleteFunc(cut[:], func(s string) bool { return s == "" }), "; ")
	out.links, out.total = plan.Links, len(plan.Files)
	out.warnings = env.warnings(plan.Skipped, "link")
	return out, plan.Set, nil
}

// A place is a target in a note: all links to it there are one.
type place struct{ from, target string }

// A guesser knows all names of a vault.
type guesser struct {
	names     map[string][]index.Name
	spellings *search.Spellings
}

func newGuesser(ctx context.Context, s index.Store) (*guesser, error) {
	names, err := s.Names(ctx, index.NameQuery{})
	if err != nil {
		return nil, err
	}
	g := &guesser{names: map[string][]index.Name{}}
	for i, n := range names {
		if err := index.Interrupted(ctx, i); err != nil {
			return nil, err
		}
		g.names[n.Key] = append(g.names[n.Key], n)
	}
	g.spellings, err = search.LoadSpellings(ctx, s)
	return g, err
}

// guess lists the files that a broken link may have meant by its strongest
// sign, and says what the sign is, or why there is none.
func (g *guesser) guess(l *graph.Link) (found []string, why string) {
	if l.Kind == string(note.BlockRef) {
		return nil, "no block has this id"
	}
	key := index.TargetKey(l.Target)
	for _, sign := range []struct {
		kind index.NameKind
		why  string
	}{{index.NameFile, "moved"}, {index.NameAlias, "moved"}, {index.NameTitle, "title"}} {
		for _, n := range g.names[key] {
			if n.Kind == sign.kind && n.Path != l.From && !slices.Contains(found, n.Path) {
				found = append(found, n.Path)
			}
		}
		if len(found) > 0 {
			return found, several(found, sign.why)
		}
	}
	for _, p := range g.spellings.Misspelt(l.Target) {
		if p != l.From && plausible(l.Target, p) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil, "no file has a similar name"
	}
	return found, several(found, "spelling")
}

func several(found []string, why string) string {
	if len(found) > 1 {
		return "several files match"
	}
	return why
}

// plausible refuses guesses that a typing mistake does not explain: another
// number, or another kind of file.
func plausible(target, p string) bool {
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, s)
	}
	base := path.Base(p)
	ext := func(s string) string {
		e := strings.ToLower(path.Ext(s))
		if e == ".md" || e == ".markdown" || len(e) > 6 || strings.Contains(e, " ") {
			return ""
		}
		return e
	}
	return digits(path.Base(target)) == digits(base) && ext(target) == ext(base)
}

// Preview counts both sorts of links.
func (r LinksRepaired) Preview() tool.Preview {
	summary := fmt.Sprintf("Repair %s in %s", toolkit.Count(r.links, "link"), toolkit.Count(r.total, "note"))
	if r.links == 0 {
		summary = "No links can be repaired"
	}
	if rest := r.Broken - r.links; rest > 0 {
		summary += fmt.Sprintf("; %d still broken", rest)
	}
	return tool.Preview{Summary: summary, Details: r, Warnings: r.warnings}
}

// View is a table of both.
func (r LinksRepaired) View() tool.View {
	v := tool.View{Head: []string{"location", "broken link", "result"}}
	for _, l := range r.Repaired {
		v.Rows = append(v.Rows, []string{fmt.Sprintf("%s:%d", l.Path, l.Line), l.Target, l.To + " (" + l.Reason + ")"})
	}
	for _, l := range r.Left {
		v.Rows = append(v.Rows, []string{fmt.Sprintf("%s:%d", l.Path, l.Line), l.Target, strings.TrimSuffix("not repaired: "+l.Reason+" "+strings.Join(l.Candidates, ", "), " ")})
	}
	v.Foot = fmt.Sprintf("%d of %s repaired", len(r.Repaired), toolkit.Count(r.Broken, "broken link"))
	if r.More != "" {
		v.Foot += "; " + r.More
	}
	return v
}
