package explore

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/tools/explore/property"
)

// An order is how a list of notes is sorted: by what, and in which direction.
type order struct {
	by       string // "path", "title", "modified", "created", "size", or a property
	property bool
	desc     bool
	reversed bool // not the direction that the store sorts in
}

// natural are the orders that are no properties, with whether they usually
// descend: what is new or large comes first.
var natural = map[string]bool{"path": false, "title": false, "modified": true, "created": true, "size": true}

// parseOrder reads "rating desc", "-rating" or "modified".
func parseOrder(s string) (order, error) {
	words := strings.Fields(s)
	o := order{by: "path"}
	direction := ""
	if n := len(words); n > 1 {
		if last := strings.ToLower(words[n-1]); last == "asc" || last == "desc" {
			direction, words = last, words[:n-1]
		}
	}
	if len(words) > 0 {
		o.by = strings.Join(words, " ")
	}
	if rest, ok := strings.CutPrefix(o.by, "-"); ok && direction == "" {
		o.by, direction = rest, "desc"
	}
	if o.by == "" || len(o.by) > 200 {
		return o, fault.Field("sort", "use path, title, modified, created, size or a property", "%q is not an order", s)
	}
	usual, known := natural[strings.ToLower(o.by)]
	if known {
		o.by = strings.ToLower(o.by)
	}
	o.property, o.desc = !known, usual
	if direction != "" {
		o.desc = direction == "desc"
	}
	o.reversed = known && o.desc != usual
	return o, nil
}

// properties are the properties that are sorted by.
func (o order) properties() []string {
	if o.property {
		return []string{o.by}
	}
	return nil
}

// page is one page of the notes in this order. The store sorts where it can;
// otherwise every note that the filter lets through is sorted here.
func (o order) page(ctx context.Context, s index.Store, f index.Filter, limit, offset int) ([]index.Row, error) {
	if !o.property && !o.reversed && o.by != "created" {
		by := index.Order(o.by)
		if o.by == "path" {
			by = index.ByPath
		}
		return s.Notes(ctx, index.Select{Filter: f, Order: by, Limit: limit, Offset: offset})
	}
	rows, err := s.Notes(ctx, index.Select{Filter: f})
	if err != nil {
		return nil, err
	}
	o.sort(rows)
	from := min(max(offset, 0), len(rows))
	return rows[from:min(from+limit, len(rows))], nil
}

// sort sorts rows that are sorted by path. Notes without the property come last,
// in both directions.
func (o order) sort(rows []index.Row) {
	if o.by == "path" {
		if o.desc {
			slices.Reverse(rows)
		}
		return
	}
	type keyed struct {
		key value
		row index.Row
	}
	all := make([]keyed, len(rows))
	for i := range rows {
		all[i] = keyed{o.key(&rows[i]), rows[i]}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		if a.key.rank == rankMissing || b.key.rank == rankMissing || !o.desc {
			return a.key.compare(b.key)
		}
		return b.key.compare(a.key)
	})
	for i := range all {
		rows[i] = all[i].row
	}
}

// key is what a note is sorted by.
func (o order) key(r *index.Row) value {
	switch {
	case o.property:
		for _, p := range r.Props {
			if strings.EqualFold(p.Key, o.by) && p.Value != "" {
				return valueOf(p.Value)
			}
		}
		return value{rank: rankMissing}
	case o.by == "title":
		return value{rank: rankText, text: strings.ToLower(r.Title)}
	case o.by == "modified":
		return value{rank: rankNumber, number: float64(r.File.ModTime)}
	case o.by == "created":
		return value{rank: rankNumber, number: float64(r.When().Unix())}
	}
	return value{rank: rankNumber, number: float64(r.File.Size)}
}

// The types of values, in the order in which they are sorted.
const (
	rankNumber = iota
	rankDate
	rankText
	rankMissing
)

// A value is one value of a property, comparable with others of any type.
type value struct {
	rank   int
	number float64
	text   string
}

// valueOf tells the type of a value by how it is written.
func valueOf(s string) value {
	if n, err := strconv.ParseFloat(s, 64); err == nil && n == n {
		return value{rank: rankNumber, number: n}
	}
	if property.IsDate(s) {
		if t, ok := index.ParseDate(s); ok {
			return value{rank: rankDate, number: float64(t.UnixNano() / int64(time.Millisecond))}
		}
	}
	return value{rank: rankText, text: strings.ToLower(s)}
}

func (v value) compare(o value) int {
	return cmp.Or(cmp.Compare(v.rank, o.rank), cmp.Compare(v.number, o.number), strings.Compare(v.text, o.text))
}

// selected are the values of some properties of a note.
func selected(r *index.Row, names []string) map[string][]string {
	var out map[string][]string
	for _, name := range names {
		for _, p := range r.Props {
			if !strings.EqualFold(p.Key, name) {
				continue
			}
			if out == nil {
				out = map[string][]string{}
			}
			out[name] = append(out[name], p.Value)
		}
	}
	return out
}
