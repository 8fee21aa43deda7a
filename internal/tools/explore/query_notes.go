package explore

import (
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/graph"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/search"
	"lore/internal/search/dataview"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// QueryNotes: Answer a Dataview query (TABLE, LIST or TASK with FROM, WHERE,
// SORT, LIMIT, GROUP BY, FLATTEN), or show a view of a .base file.
type QueryNotes struct {
	// As: TABLE rating FROM #book WHERE rating >= 4 SORT rating DESC.
	Query string `json:"query,omitempty" word:"true"`
	// Path of a .base file instead.
	Base string `json:"base,omitempty"`
	// View of the base; default the first.
	View string `json:"view,omitempty"`
	// Max rows.
	Limit int `json:"limit,omitempty" default:"50" min:"1" max:"1000"`
	// Rows to skip.
	Offset int `json:"offset,omitempty" min:"0"`
}

// Help is the text for people.
func (QueryNotes) Help() tool.Help {
	return tool.Help{
		Short: "Query notes with Dataview's language, or show a .base view",
		Long:  "docs/queries.md lists everything that a query may contain.",
		Flags: map[string]string{
			"query": "TABLE, LIST or TASK, then FROM, WHERE, SORT, LIMIT, GROUP BY or FLATTEN",
			"base":  "show a view of this .base file instead",
			"view":  "name of the view (default: the first)",
		},
		Examples: []string{
			`"TABLE rating FROM #japan SORT rating DESC LIMIT 3"`,
			`"LIST WHERE contains(file.name, 'tea')"`,
			`"TASK WHERE !completed"`,
		},
	}
}

// QueryResult is one page of an answer.
type QueryResult struct {
	// Kind is table, list or task.
	Kind string `json:"kind"`
	// Shown is the view of the base.
	Shown string `json:"view,omitempty"`
	// Columns of the values of each row.
	Columns []string `json:"columns,omitempty"`
	// Rows of this page.
	Rows []QueryRow `json:"rows"`
	// Total number of rows, including those not shown.
	Total int `json:"total"`
	// More says how to get the next rows.
	More  string          `json:"more,omitempty"`
	Index index.Freshness `json:"index"`

	untrusted bool
	withoutID bool
}

// QueryRow is one note, task or group.
type QueryRow struct {
	Path string `json:"path,omitempty"`
	// Line of a task.
	Line int `json:"line,omitempty"`
	// Text of a task, or the key of a group.
	Text string `json:"text,omitempty"`
	// Done says that a task is checked off.
	Done bool `json:"done,omitempty"`
	// Values, one for each column.
	Values []any `json:"values,omitempty"`
}

// ShowsOutside reports whether an untrusted note is part of the answer, also of
// one that does not name it.
func (r QueryResult) ShowsOutside() bool { return r.untrusted }

// Run answers the query.
func (in QueryNotes) Run(ctx context.Context, env Env) (QueryResult, error) {
	q, view, err := in.parse(ctx, env)
	if err != nil {
		return QueryResult{}, err
	}
	records, err := env.records(ctx, q)
	if err != nil {
		return QueryResult{}, err
	}
	now := time.Now
	if env.Now != nil {
		now = env.Now
	}
	rows, err := q.Run(ctx, records, now().Local())
	if err != nil {
		return QueryResult{}, err
	}
	out := QueryResult{Kind: q.Kind, Shown: view, Rows: []QueryRow{}, Total: len(rows), Index: env.Fresh(ctx), withoutID: q.WithoutID}
	for _, c := range q.Columns {
		out.Columns = append(out.Columns, c.Name)
	}
	page, more := paging.Cut(rows, in.Offset, in.Limit)
	out.More = more
	for _, r := range page {
		out.untrusted = out.untrusted || r.Untrusted
		out.Rows = append(out.Rows, rowOf(q, r))
	}
	return out, nil
}

func rowOf(q *dataview.Query, r dataview.Row) QueryRow {
	row := QueryRow{Path: r.Path, Line: r.Line}
	if q.WithoutID {
		row.Path = ""
	}
	if q.Kind == dataview.Task {
		row.Text = dataview.Text(r.Get("text"))
		row.Done, _ = r.Get("completed").(bool)
	}
	if r.Path == "" && !q.WithoutID { // a group
		row.Text = dataview.Text(r.Get("key"))
	}
	for _, v := range r.Values {
		row.Values = append(row.Values, dataview.JSON(v))
	}
	return row
}

// parse reads the query, or the view of a base.
func (in QueryNotes) parse(ctx context.Context, env Env) (*dataview.Query, string, error) {
	switch {
	case in.Query != "" && in.Base != "":
		return nil, "", fault.Field("base", "give one of them", "a query was given too")
	case in.View != "" && in.Base == "":
		return nil, "", fault.Field("view", "give the base as well", "is the view of a base")
	case in.Query != "":
		q, err := dataview.Parse(in.Query)
		return q, "", err
	case in.Base == "":
		return nil, "", fault.Field("query", "write a query, or name a .base file", "is missing")
	}
	p := strings.Trim(strings.TrimSpace(in.Base), "/")
	if !strings.EqualFold(path.Ext(p), ".base") {
		p += ".base"
	}
	f, err := env.Vault.Read(ctx, p)
	if err != nil {
		return nil, "", fault.Rename(err, "path", "base")
	}
	b, err := dataview.ParseBase(f.Data, in.View)
	if err != nil {
		return nil, "", err
	}
	return b.Query, b.View, nil
}

// records are the notes that FROM lets through, each read once and only if the
// query asks for something that the index does not know.
func (env Env) records(ctx context.Context, q *dataview.Query) ([]*dataview.Record, error) {
	rows, err := env.Store.Notes(ctx, index.Select{Filter: index.Filter{Kinds: []index.Kind{index.KindNote}}})
	if err != nil {
		return nil, err
	}
	needs := q.Needs()
	g := &graph.Graph{}
	if needs.Links {
		if g, err = graph.Load(ctx, env.Store); err != nil {
			return nil, err
		}
	}
	links := env.linksOf(ctx)
	var out []*dataview.Record
	for i := range rows {
		if err := index.Interrupted(ctx, i); err != nil {
			return nil, err
		}
		r := dataview.NewRecord(rows[i].File.Path)
		r.Tags = rows[i].Tags
		if ok, err := q.IsFrom(r, links); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		r.Untrusted = slices.Contains(rows[i].Props, index.Prop{Key: note.UntrustedKey, Value: "true"})
		file := fileFields(&rows[i], g)
		if needs.Body {
			gone, err := env.bodyFields(ctx, r, file)
			if err != nil {
				return nil, err
			}
			if gone {
				continue
			}
		}
		r.Set("file", file)
		out = append(out, r)
	}
	return out, nil
}

// linksOf tells of a note that a query names what links to it, once for each.
func (env Env) linksOf(ctx context.Context) dataview.Links {
	type pair struct{ in, out map[string]bool }
	known := map[string]pair{}
	return func(name string) (map[string]bool, map[string]bool, error) {
		if p, ok := known[name]; ok {
			return p.in, p.out, nil
		}
		row, err := search.Locate(ctx, env.Store, name)
		if err != nil {
			return nil, nil, fault.Rename(err, "path", "query")
		}
		p := pair{map[string]bool{}, map[string]bool{}}
		back, err := graph.Backlinks(ctx, env.Store, row.File.Path)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range back {
			p.in[l.From] = true
		}
		forward, err := graph.Forward(ctx, env.Store, row.File.Path)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range forward {
			p.out[l.To] = true
		}
		known[name] = p
		return p.in, p.out, nil
	}
}

var dayInName = regexp.MustCompile(`\d{4}-\d{2}-\d{2}`)

// fileFields are the fields of file that the index knows.
func fileFields(row *index.Row, g *graph.Graph) *dataview.Record {
	p := row.File.Path
	name := strings.TrimSuffix(path.Base(p), path.Ext(p))
	f := dataview.NewRecord(p)
	f.Set("name", name)
	f.Set("basename", name)
	f.Set("path", p)
	f.Set("folder", strings.TrimSuffix(path.Dir(p), "."))
	f.Set("ext", strings.TrimPrefix(path.Ext(p), "."))
	f.Set("link", dataview.Link{Target: p, Text: name})
	f.Set("size", float64(row.File.Size))
	f.Set("mtime", time.Unix(0, row.File.ModTime).Local())
	f.Set("ctime", row.When().Local())
	if t, err := time.ParseInLocation(time.DateOnly, dayInName.FindString(name), time.Local); err == nil {
		f.Set("day", t)
	} else if row.Date != 0 {
		f.Set("day", time.Unix(row.Date, 0).Local())
	}
	tags, etags := []dataview.Value{}, []dataview.Value{}
	for _, t := range row.Tags {
		etags = append(etags, "#"+t)
		for i := 0; i <= len(t); i++ {
			if part := "#" + t[:i]; (i == len(t) || t[i] == '/') && !slices.Contains(tags, dataview.Value(part)) {
				tags = append(tags, part)
			}
		}
	}
	f.Set("tags", tags)
	f.Set("etags", etags)
	aliases := []dataview.Value{}
	for _, a := range row.Aliases {
		aliases = append(aliases, a)
	}
	f.Set("aliases", aliases)
	in, out := linkList(g.In[p]), linkList(g.Out[p])
	f.Set("inlinks", in)
	f.Set("backlinks", in)
	f.Set("outlinks", out)
	f.Set("links", out)
	return f
}

func linkList(paths []string) []dataview.Value {
	out := make([]dataview.Value, 0, len(paths))
	for _, p := range paths {
		out = append(out, dataview.Link{Target: p, Text: strings.TrimSuffix(path.Base(p), path.Ext(p))})
	}
	return out
}

// bodyFields reads a note and adds its properties, inline fields and tasks.
func (env Env) bodyFields(ctx context.Context, r, file *dataview.Record) (gone bool, err error) {
	f, err := env.Vault.Read(ctx, r.Path)
	if errors.Is(err, fault.NotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	n := note.Parse(r.Path, f.Data)
	r.Untrusted = r.Untrusted || n.IsUntrusted()
	names := []dataview.Value{}
	for _, p := range n.Front.Props {
		r.Set(p.Key, dataview.Of(p.Value))
		names = append(names, dataview.Key(p.Key))
	}
	file.Set("properties", names)
	tasks := []dataview.Value{}
	for _, t := range n.Tasks {
		task := r.AddTask(t.Line)
		due, text := dueOf(t.Text)
		task.Set("text", text)
		task.Set("completed", t.Mark == 'x' || t.Mark == 'X')
		task.Set("status", string(t.Mark))
		task.Set("line", float64(t.Line))
		if due != "" {
			task.Set("due", dataview.Of(due))
		}
		tasks = append(tasks, task)
	}
	for _, fl := range n.Fields {
		to := r
		after := sort.Search(len(n.Tasks), func(i int) bool { return n.Tasks[i].Span.Start > fl.Span.Start })
		if after > 0 && fl.Span.End <= n.Tasks[after-1].Span.End {
			to = r.Tasks[after-1]
		}
		if to == r || dataview.Key(fl.Key) != "due" {
			to.Set(fl.Key, dataview.OfText(fl.Value))
		}
	}
	file.Set("tasks", tasks)
	return false, nil
}

// View is a table of the rows.
func (r QueryResult) View() tool.View {
	v := tool.View{Foot: toolkit.Foot(r.Index, toolkit.Count(r.Total, "row"), r.More)}
	if r.Kind == dataview.Task {
		v.Head = []string{"done", "task", "note", "line"}
		for _, row := range r.Rows {
			v.Rows = append(v.Rows, []string{map[bool]string{true: "x"}[row.Done], row.Text, row.Path, strconv.Itoa(row.Line)})
		}
		return v
	}
	grouped := len(r.Rows) > 0 && r.Rows[0].Path == "" && !r.withoutID
	if !r.withoutID {
		v.Head = append(v.Head, map[bool]string{true: "group", false: "note"}[grouped])
	}
	v.Head = append(v.Head, r.Columns...)
	for _, row := range r.Rows {
		var cells []string
		if !r.withoutID {
			cells = append(cells, row.Path+row.Text)
		}
		for _, c := range row.Values {
			cells = append(cells, dataview.Text(dataview.Of(c)))
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}
