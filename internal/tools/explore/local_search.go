package explore

import (
	"context"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// LocalSearch: Find notes by question, required terms and time.
type LocalSearch struct {
	// What you want to know.
	Query string `json:"query"`
	// Words of the user that must each occur, in the user's language; leave out common words.
	SalientTerms []string `json:"salient_terms,omitempty" alias:"salientTerms"`
	// Only notes of this time.
	TimeRange *TimeRange `json:"time_range,omitempty" alias:"timeRange"`
	// Max notes.
	Limit int `json:"limit,omitempty" default:"10" min:"1" max:"50"`
	// Notes to skip.
	Offset int `json:"offset,omitempty" min:"0" max:"1000"`
}

// Help is the text for people.
func (LocalSearch) Help() tool.Help {
	return tool.Help{
		Short: "Find notes by question, required words and time",
		Long:  "lore search does the same with filters in the query.",
		Flags: map[string]string{
			"salient-terms": "words that must each occur",
			"start":         "first day or time, such as 2026-01-31 or 2026-01-31T10:00",
			"end":           "last day or time, inclusive",
		},
		Examples: []string{
			`"bitter tea" --salient-terms water`,
		},
		Hidden: true,
	}
}

// TimeRange is a span of time; either end may be open.
type TimeRange struct {
	// First day or time, as 2026-01-31 or 2026-01-31T10:00.
	Start string `json:"start,omitempty" alias:"startTime"`
	// Last day or time, inclusive.
	End string `json:"end,omitempty" alias:"endTime"`
}

// LocalHits are notes, best first.
type LocalHits struct {
	Results []LocalHit `json:"results"`
	// Mode of the search that was used.
	Mode string `json:"mode"`
	// More says how to get the next notes.
	More string `json:"more,omitempty"`
	// Unknown are names in the filter that no note has.
	Unknown []search.Unknown `json:"unknown,omitempty"`
	Hints   []string         `json:"hints,omitempty"`
	Index   index.Freshness  `json:"index"`
}

// LocalHit is one note with its best passage.
type LocalHit struct {
	Path    string `json:"path"`
	Title   string `json:"title"`
	Heading string `json:"heading,omitempty"`
	// Excerpt is the passage that matches best.
	Excerpt  string  `json:"excerpt"`
	Score    float64 `json:"score"`
	Modified string  `json:"modified"`

	line  int
	marks []search.Mark
}

// Run searches.
func (in LocalSearch) Run(ctx context.Context, env Env) (LocalHits, error) {
	q, err := env.Search.Parse(in.Query)
	if err != nil {
		return LocalHits{}, err
	}
	for _, t := range in.SalientTerms {
		if t = strings.Trim(strings.TrimSpace(t), `"`); t != "" {
			q.Phrases = append(q.Phrases, t)
		}
	}
	var filter index.Filter
	if in.TimeRange != nil {
		if filter.After, filter.Before, err = in.TimeRange.bounds(); err != nil {
			return LocalHits{}, err
		}
	}
	a, err := env.Search.Ask(ctx, q, search.Options{Limit: in.Limit, Offset: in.Offset, Filter: filter})
	if err != nil {
		return LocalHits{}, err
	}
	out := LocalHits{Results: []LocalHit{}, Mode: string(a.Mode), Unknown: a.Unknown, Hints: a.Notes, Index: env.Fresh(ctx)}
	for _, h := range a.Hits {
		out.Results = append(out.Results, LocalHit{
			Path: h.Path, Title: h.Title, Heading: h.Heading, Excerpt: h.Excerpt, Score: toolkit.Round(h.Score),
			Modified: toolkit.Stamp(h.Modified.UnixNano()), line: h.Line, marks: h.Marks,
		})
	}
	if a.More {
		out.More = paging.After(in.Offset, len(out.Results))
	}
	return out, nil
}

// bounds are the seconds from the start to the end, which is not included.
func (t *TimeRange) bounds() (after, before int64, err error) {
	parse := func(field, s string) (time.Time, error) {
		v, ok := index.ParseDate(s)
		if !ok {
			return v, fault.Field("time_range."+field, "write it as 2026-01-31 or 2026-01-31T10:00", "%q is not a date", s)
		}
		return v, nil
	}
	if t.Start != "" {
		start, err := parse("start", t.Start)
		if err != nil {
			return 0, 0, err
		}
		after = start.Unix()
	}
	if t.End != "" {
		end, err := parse("end", t.End)
		if err != nil {
			return 0, 0, err
		}
		if len(strings.TrimSpace(t.End)) <= len("2026-01-31") {
			end = end.AddDate(0, 0, 1)
		} else {
			end = end.Add(time.Second)
		}
		before = end.Unix()
	}
	if after != 0 && before != 0 && after >= before {
		return 0, 0, fault.Field("time_range", "give the earlier time as start", "end is before start")
	}
	return after, before, nil
}

// View lists the notes with their excerpts.
func (l LocalHits) View() tool.View {
	var v tool.View
	for _, h := range l.Results {
		item := tool.Item{Title: h.Title, Path: h.Path, Line: h.line, Detail: h.Heading, Text: h.Excerpt, Score: h.Score}
		for _, m := range h.marks {
			item.Marks = append(item.Marks, tool.Mark(m))
		}
		v.Items = append(v.Items, item)
	}
	none := ""
	if len(l.Results) == 0 {
		none = "no notes found"
	}
	v.Foot = toolkit.Foot(l.Index, append(append([]string{none}, l.Hints...), l.More)...)
	return v
}
