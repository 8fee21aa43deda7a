// Package dataview reads and answers queries in a subset of Dataview's query
// language (DQL), and the views of Obsidian's .base files, which share its
// expressions.
//
// It knows neither files nor the index: whoever asks hands over the notes as
// records. A query visits each record once in each of its clauses, within a
// fixed number of steps; nothing in it can run code. Errors name the place.
package dataview

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
)

// The kinds of queries.
const (
	Table = "table"
	List  = "list"
	Task  = "task"
)

// A Query is a query that was understood.
type Query struct {
	Kind    string
	Columns []Column
	// WithoutID says that the note itself is not shown.
	WithoutID bool

	from     *source
	steps    []step
	formulas map[string]*expr
}

// A Column is one value of each row.
type Column struct {
	Name string
	expr *expr
}

// A step is one clause behind the FROM.
type step struct {
	kind string // "where", "sort", "limit", "group by", "flatten"
	expr *expr
	name string
	keys []sortKey
	n    int
}

type sortKey struct {
	expr *expr
	desc bool
}

// A source is what FROM says.
type source struct {
	op   string // "and", "or", "not", "tag", "folder", "in", "out"
	args []*source
	text string
}

// Parse reads a query.
func Parse(text string) (*Query, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	q := &Query{}
	kind, ok := p.word(Table, List, Task)
	if !ok {
		if _, ok := p.word("calendar"); ok {
			p.pos--
			return nil, p.fail("use TABLE file.day instead", "CALENDAR is not supported")
		}
		return nil, p.fail("begin with TABLE, LIST or TASK", "this is not a query")
	}
	q.Kind = kind
	if err := q.head(p); err != nil {
		return nil, err
	}
	for p.peek().kind != tokEnd {
		if len(q.steps) > 50 {
			return nil, p.fail("use fewer clauses", "the query has more than 50 clauses")
		}
		if err := q.clause(p); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// head reads what stands between the kind and the first clause.
func (q *Query) head(p *parser) error {
	if _, ok := p.word("without"); ok {
		if _, ok := p.word("id"); !ok {
			return p.fail("write WITHOUT ID", "ID is missing")
		}
		q.WithoutID = true
	}
	for q.Kind != Task && p.peek().kind != tokEnd && !p.atClause() {
		start := p.peek().at
		e, err := p.expr()
		if err != nil {
			return err
		}
		name := strings.TrimSpace(p.src[start:p.peek().at])
		if _, ok := p.word("as"); ok {
			if name, err = p.name(); err != nil {
				return err
			}
		}
		q.Columns = append(q.Columns, Column{Name: name, expr: e})
		if len(q.Columns) > 50 {
			return p.fail("use fewer columns", "the query has more than 50 columns")
		}
		if _, ok := p.sign(","); !ok || q.Kind == List {
			break
		}
	}
	if p.peek().kind != tokEnd && !p.atClause() {
		return p.fail("separate columns with commas; clauses are FROM, WHERE, SORT, LIMIT, GROUP BY and FLATTEN", "a clause is expected here")
	}
	return nil
}

var clauses = []string{"from", "where", "sort", "limit", "group", "flatten"}

func (p *parser) atClause() bool {
	t := p.peek()
	return t.kind == tokWord && slices.Contains(clauses, strings.ToLower(t.text))
}

// name reads the name behind AS.
func (p *parser) name() (string, error) {
	t := p.peek()
	if t.kind != tokWord && t.kind != tokText {
		return "", p.fail(`write AS "name"`, "a name is missing after AS")
	}
	p.pos++
	return t.text, nil
}

func (q *Query) clause(p *parser) (err error) {
	word, ok := p.word(clauses...)
	if !ok {
		return p.fail("clauses are FROM, WHERE, SORT, LIMIT, GROUP BY and FLATTEN", "a clause is expected here")
	}
	s := step{kind: word}
	switch word {
	case "from":
		if q.from != nil || len(q.steps) > 0 {
			p.pos--
			return p.fail("write FROM once, before the other clauses", "FROM is not expected here")
		}
		q.from, err = p.source(0)
		return err
	case "where":
		s.expr, err = p.expr()
	case "sort":
		for {
			k := sortKey{}
			if k.expr, err = p.expr(); err != nil {
				return err
			}
			if w, ok := p.word("asc", "ascending", "desc", "descending"); ok {
				k.desc = w[0] == 'd'
			}
			s.keys = append(s.keys, k)
			if _, ok := p.sign(","); !ok || len(s.keys) > 20 {
				break
			}
		}
	case "limit":
		t := p.peek()
		n, convErr := strconv.Atoi(t.text)
		if t.kind != tokNumber || convErr != nil {
			return p.fail("write LIMIT 10", "LIMIT needs a whole number")
		}
		p.pos++
		s.n = n
	case "group", "flatten":
		if word == "group" {
			if _, ok := p.word("by"); !ok {
				return p.fail("write GROUP BY", "BY is missing")
			}
		}
		start := p.peek().at
		if s.expr, err = p.expr(); err != nil {
			return err
		}
		s.name = strings.TrimSpace(p.src[start:p.peek().at])
		if _, ok := p.word("as"); ok {
			s.name, err = p.name()
		}
	}
	q.steps = append(q.steps, s)
	return err
}

// source reads what FROM says: tags, folders and links, with and, or and -.
func (p *parser) source(level int) (*source, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail("simplify it", "FROM is nested too deeply")
	}
	defer func() { p.depth-- }()
	if level == 2 {
		return p.oneSource()
	}
	op := []string{"or", "and"}[level]
	left, err := p.source(level + 1)
	for err == nil {
		if _, ok := p.word(op); !ok {
			return left, nil
		}
		var right *source
		right, err = p.source(level + 1)
		left = &source{op: op, args: []*source{left, right}}
	}
	return nil, err
}

func (p *parser) oneSource() (*source, error) {
	t := p.next()
	switch {
	case t.kind == tokTag:
		return &source{op: "tag", text: strings.ToLower(t.text)}, nil
	case t.kind == tokText:
		return &source{op: "folder", text: t.text}, nil
	case t.kind == tokLink:
		return &source{op: "in", text: linkOf(t.text).Target}, nil
	case t.text == "-" || t.text == "!":
		s, err := p.source(2)
		return &source{op: "not", args: []*source{s}}, err
	case t.text == "(":
		s, err := p.source(0)
		if err == nil {
			if _, ok := p.sign(")"); !ok {
				err = p.fail("close it with )", "the parenthesis is not closed")
			}
		}
		return s, err
	case t.kind == tokWord && strings.EqualFold(t.text, "outgoing"):
		if _, ok := p.sign("("); ok {
			if l := p.peek(); l.kind == tokLink {
				p.pos++
				if _, ok := p.sign(")"); ok {
					return &source{op: "out", text: linkOf(l.text).Target}, nil
				}
			}
		}
		return nil, p.fail("write outgoing([[Note]])", "a link is missing")
	case t.kind != tokEnd:
		p.pos--
	}
	return nil, p.fail(`use #tag, "folder", [[note]] or outgoing([[note]])`, "this is not a source")
}

// Links tells of a note that a query names, by path, which notes link to it and
// which it links to.
type Links func(name string) (in, out map[string]bool, err error)

// IsFrom reports whether FROM lets a note through.
func (q *Query) IsFrom(r *Record, links Links) (bool, error) {
	if q.from == nil {
		return true, nil
	}
	return q.from.has(r, links)
}

func (s *source) has(r *Record, links Links) (bool, error) {
	switch s.op {
	case "tag":
		return slices.ContainsFunc(r.Tags, func(t string) bool {
			t = "#" + strings.ToLower(strings.TrimPrefix(t, "#"))
			return t == s.text || strings.HasPrefix(t, s.text+"/")
		}), nil
	case "folder":
		return isInFolder(r.Path, s.text) || strings.EqualFold(r.Path, s.text) || strings.EqualFold(r.Path, s.text+".md"), nil
	case "in", "out":
		in, out, err := links(s.text)
		if s.op == "in" {
			return in[r.Path], err
		}
		return out[r.Path], err
	}
	for _, a := range s.args {
		ok, err := a.has(r, links)
		switch {
		case err != nil:
			return false, err
		case s.op == "not":
			return !ok, nil
		case ok == (s.op == "or"):
			return ok, nil
		}
	}
	return s.op == "and", nil
}

func isInFolder(path, folder string) bool {
	folder = strings.ToLower(strings.Trim(folder, "/"))
	return folder == "" || strings.HasPrefix(strings.ToLower(path), folder+"/")
}

// Needs tells what of the notes a query looks at beyond their names and tags.
type Needs struct {
	Body  bool // properties, inline fields or tasks
	Links bool
}

// Needs walks through all expressions.
func (q *Query) Needs() Needs {
	n := Needs{Body: q.Kind == Task}
	for _, c := range q.Columns {
		n.add(c.expr)
	}
	for _, s := range q.steps {
		n.add(s.expr)
		for _, k := range s.keys {
			n.add(k.expr)
		}
	}
	for _, f := range q.formulas {
		n.add(f)
	}
	return n
}

func (n *Needs) add(e *expr) {
	if e == nil {
		return
	}
	name := strings.ToLower(e.name)
	switch {
	case e.op == "name" && name != "file", e.op == "call" && name == "hasproperty", e.op == "." && name == "tasks":
		n.Body = true
	case e.op == "." && slices.Contains([]string{"inlinks", "outlinks", "links", "backlinks"}, name), e.op == "call" && name == "haslink":
		n.Links = true
	}
	for _, a := range e.args {
		n.add(a)
	}
}

// A Row is one row of an answer.
type Row struct {
	*Record
	Values []Value
}

// maxRecords is how many rows FLATTEN may make, and maxSteps how many steps all
// expressions may take.
const (
	maxRecords = 200_000
	maxSteps   = 50_000_000
)

// Run answers the query from the notes that FROM lets through.
func (q *Query) Run(ctx context.Context, all []*Record, now time.Time) ([]Row, error) {
	cost := maxSteps
	s := scope{now: now, formulas: q.formulas, cost: &cost}
	if q.Kind == Task {
		var tasks []*Record
		for _, r := range all {
			tasks = append(tasks, r.Tasks...)
		}
		all = tasks
	}
	for _, st := range q.steps {
		var err error
		if all, err = st.run(ctx, s, all); err != nil {
			return nil, err
		}
	}
	out := make([]Row, 0, len(all))
	for i, r := range all {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row := Row{Record: r}
		for _, c := range q.Columns {
			v, err := s.eval(c.expr, r)
			if err != nil {
				return nil, err
			}
			row.Values = append(row.Values, v)
		}
		out = append(out, row)
	}
	return out, nil
}

func (st *step) run(ctx context.Context, s scope, all []*Record) ([]*Record, error) {
	if st.kind == "limit" {
		return all[:min(len(all), st.n)], nil
	}
	if st.kind == "sort" {
		return st.sort(ctx, s, all)
	}
	values := make([]Value, len(all))
	for i, r := range all {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		v, err := s.eval(st.expr, r)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	switch st.kind {
	case "group":
		return st.group(all, values), nil
	case "flatten":
		return st.flatten(all, values)
	}
	out := make([]*Record, 0, len(all))
	for i, r := range all {
		if truthy(values[i]) {
			out = append(out, r)
		}
	}
	return out, nil
}

func (st *step) sort(ctx context.Context, s scope, all []*Record) ([]*Record, error) {
	type keyed struct {
		keys []Value
		r    *Record
	}
	list := make([]keyed, len(all))
	for i, r := range all {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		list[i].r = r
		for _, k := range st.keys {
			v, err := s.eval(k.expr, r)
			if err != nil {
				return nil, err
			}
			list[i].keys = append(list[i].keys, v)
		}
	}
	slices.SortStableFunc(list, func(a, b keyed) int {
		for i, k := range st.keys {
			c := compare(a.keys[i], b.keys[i])
			if k.desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	out := make([]*Record, len(list))
	for i := range list {
		out[i] = list[i].r
	}
	return out, nil
}

// group makes one record of all that share a value, in the order of the values.
func (st *step) group(all []*Record, values []Value) []*Record {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(values[a], values[b]) })
	var out []*Record
	var rows []Value
	for n, i := range order {
		if n == 0 || compare(values[i], values[order[n-1]]) != 0 {
			out, rows = append(out, &Record{fields: map[string]Value{"key": values[i], Key(st.name): values[i]}}), nil
		}
		rows = append(rows, all[i])
		last := out[len(out)-1]
		last.fields["rows"], last.Untrusted = rows, last.Untrusted || all[i].Untrusted
	}
	return out
}

// flatten makes one record for each element of a list.
func (st *step) flatten(all []*Record, values []Value) ([]*Record, error) {
	var out []*Record
	for i, r := range all {
		list, ok := values[i].([]Value)
		if !ok {
			list = []Value{values[i]}
		}
		for _, v := range list {
			out = append(out, r.with(cmp.Or(st.name, "value"), v))
		}
		if len(out) > maxRecords {
			return nil, fault.Field("query", "narrow it with FROM or WHERE", "FLATTEN makes more than %d rows", maxRecords)
		}
	}
	return out, nil
}
