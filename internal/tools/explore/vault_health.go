package explore

import (
	"context"
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"

	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// VaultHealth: Score the health of the vault from 0 to 100, with what lowers
// it and examples.
type VaultHealth struct {
	// Max examples for each problem.
	Examples int `json:"examples,omitempty" default:"3" min:"0" max:"20"`
}

// Help is the text for people.
func (VaultHealth) Help() tool.Help {
	return tool.Help{
		Short: "Score the health of the vault",
		Long:  "Counts broken links, notes with problems, sync conflicts, orphans and empty notes.",
		Examples: []string{
			"",
			"--examples 1",
		},
	}
}

// Health is a score with its parts.
type Health struct {
	// Score is 100 minus the points that each part loses; it is 100 only if nothing was found.
	Score int             `json:"score"`
	Parts []HealthPart    `json:"parts"`
	Notes int             `json:"notes"`
	Links int             `json:"links"`
	Index index.Freshness `json:"index"`
}

// HealthPart is one thing that can be wrong. It loses its whole weight when
// Count / Of reaches Worst, and in proportion below that.
type HealthPart struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Of    int    `json:"of"`
	// Worst is the share at which the whole weight is lost.
	Worst  float64 `json:"worst"`
	Weight int     `json:"weight"`
	Lost   float64 `json:"lost"`
	// Examples are paths, or path:line for links.
	Examples []string `json:"examples"`
	// Fix says how to list or fix them.
	Fix string `json:"fix"`
}

// The weights add up to 100. A link that leads nowhere loses knowledge, and so
// does a note that cannot be read as it was meant; an orphan may well be wanted,
// so half of all notes may be one before its weight is gone.
const (
	weightBroken, worstBroken     = 30, 0.2
	weightProblems, worstProblems = 25, 0.1
	weightConflict, worstConflict = 15, 0.05
	weightOrphans, worstOrphans   = 15, 0.5
	weightEmpty, worstEmpty       = 15, 0.2
)

// Run measures every part.
func (in VaultHealth) Run(ctx context.Context, env Env) (Health, error) {
	g, err := graph.Load(ctx, env.Store)
	if err != nil {
		return Health{}, err
	}
	st, err := env.Store.Stats(ctx, "")
	if err != nil {
		return Health{}, err
	}
	rows, err := env.Store.Notes(ctx, index.Select{})
	if err != nil {
		return Health{}, err
	}
	conflicts, err := env.Store.Notes(ctx, index.Select{Filter: index.Filter{Kinds: []index.Kind{index.KindConflict}}})
	if err != nil {
		return Health{}, err
	}
	var broken, problems, empty, copies []string
	for _, l := range g.Broken {
		broken = append(broken, fmt.Sprintf("%s:%d", l.From, l.Line))
	}
	for i := range rows {
		if err := index.Interrupted(ctx, i); err != nil {
			return Health{}, err
		}
		if len(rows[i].Problems) > 0 {
			problems = append(problems, rows[i].File.Path)
		}
		if unnamed(&rows[i]) {
			empty = append(empty, rows[i].File.Path)
		}
	}
	for _, r := range conflicts {
		copies = append(copies, r.File.Path)
	}
	notes := len(rows)
	out := Health{Notes: notes, Links: st.Links, Index: env.Fresh(ctx)}
	out.add(in.Examples, HealthPart{Name: "broken links", Of: st.Links, Weight: weightBroken, Worst: worstBroken, Fix: "find_broken_links"}, broken)
	out.add(in.Examples, HealthPart{Name: "notes with problems", Of: notes, Weight: weightProblems, Worst: worstProblems, Fix: "list_notes with problems: true"}, problems)
	out.add(in.Examples, HealthPart{Name: "sync conflict copies", Of: notes, Weight: weightConflict, Worst: worstConflict, Fix: "compare and delete them"}, copies)
	out.add(in.Examples, HealthPart{Name: "notes without backlinks", Of: notes, Weight: weightOrphans, Worst: worstOrphans, Fix: "find_orphans"}, g.Orphans(false))
	out.add(in.Examples, HealthPart{Name: "notes without text or name", Of: notes, Weight: weightEmpty, Worst: worstEmpty, Fix: "write, name or delete them"}, empty)
	lost, most := 0.0, 100
	for _, p := range out.Parts {
		lost += p.Lost
		if p.Count > 0 {
			most = 99 // a hundred says that there is nothing to find
		}
	}
	out.Score = min(most, int(math.Round(100-lost)))
	return out, nil
}

func (h *Health) add(examples int, p HealthPart, found []string) {
	p.Count = len(found)
	if p.Of > 0 {
		p.Lost = math.Round(10*float64(p.Weight)*min(1, float64(p.Count)/float64(p.Of)/p.Worst)) / 10
	}
	p.Examples = append([]string{}, found[:min(examples, len(found))]...)
	h.Parts = append(h.Parts, p)
}

// placeholder is what programs call a note before its owner does.
var placeholder = regexp.MustCompile(`(?i)^(untitled|new note|unbenannt|sans titre|sin título|無題|无标题)( \d+)?$`)

// unnamed reports whether a note has no words or no name of its own.
func unnamed(r *index.Row) bool {
	if r.Kind != index.KindNote {
		return false
	}
	return r.Words == 0 || placeholder.MatchString(strings.TrimSuffix(path.Base(r.File.Path), path.Ext(r.File.Path)))
}

// View is a table of the parts.
func (h Health) View() tool.View {
	v := tool.View{Head: []string{"check", "count", "of", "points lost", "examples"}}
	for _, p := range h.Parts {
		lost := fmt.Sprintf("%g of %d", p.Lost, p.Weight)
		v.Rows = append(v.Rows, []string{p.Name, strconv.Itoa(p.Count), strconv.Itoa(p.Of), lost, strings.Join(p.Examples, ", ")})
	}
	v.Foot = toolkit.Foot(h.Index, fmt.Sprintf("vault health: %d/100, %s, %s", h.Score, toolkit.Count(h.Notes, "note"), toolkit.Count(h.Links, "link")))
	return v
}
