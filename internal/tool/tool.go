// Package tool turns an ordinary Go struct into a tool, and keeps all tools in
// one [Registry], the only door to them.
//
// The struct's fields are the arguments, its doc comment is the description,
// its method is the work. How it is registered says what it may do at the most:
// a [Read] tool has a Run method and changes nothing.
//
// The package knows no single tool and no surface.
package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/access"
	"lore/internal/fault"
)

// A Shape is how a result is drawn: surfaces know shapes, never tools.
type Shape string

// The shapes of results.
const (
	Text  Shape = "text"  // prose or Markdown, as it is
	Notes Shape = "notes" // a list of notes or passages
	Table Shape = "table" // rows and columns
	Facts Shape = "facts" // names and values
)

// A Tool is one registered tool, bound to what it may touch. Its fields are
// read only.
type Tool struct {
	Name    string
	Title   string // for people: "List backlinks"
	Doc     string // for models and people: what it does and when to use it
	Set     string // the toolset it belongs to
	Aliases []string
	Short   string // what a person types for it at a terminal: "search"
	Effect  access.Effect
	Shape   Shape
	Timeout time.Duration
	// Examples are calls that make sense in the sample vault.
	Examples []Example

	in     reflect.Type
	fields map[string]map[string]string // struct name to field name to comment
	schema func() *schemas              // made on first use: most runs need one tool, not seventy
	run    func(ctx context.Context, args json.RawMessage) (any, error)
}

// An Example is one call, as a person types it and as a program sends it.
type Example struct {
	Words string
	Args  string // JSON
}

// Try adds an example.
func Try(words, args string) Option {
	return func(t *Tool) { t.Examples = append(t.Examples, Example{words, args}) }
}

// An Option sets what cannot be told from the struct.
type Option func(*Tool)

// Alias adds names that the tool answers to beside its own.
func Alias(names ...string) Option { return func(t *Tool) { t.Aliases = append(t.Aliases, names...) } }

// Short gives the word that a person types for the tool at a terminal.
func Short(word string) Option { return func(t *Tool) { t.Short = word } }

// Drawn says how the result is drawn; the default is [Facts].
func Drawn(s Shape) Option { return func(t *Tool) { t.Shape = s } }

// Within limits how long one call may take; the default is a minute.
func Within(d time.Duration) Option { return func(t *Tool) { t.Timeout = d } }

// A Runner is an input struct that does its own work.
type Runner[Env, Out any] interface {
	Run(ctx context.Context, env Env) (Out, error)
}

// Read makes a tool that changes nothing.
func Read[In Runner[Env, Out], Env, Out any](env Env, opts ...Option) *Tool {
	t := describe[In, Out](access.Reads, opts)
	t.run = func(ctx context.Context, args json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, fault.New(fault.Invalid, "arguments: %v", err)
		}
		out, err := in.Run(ctx, env)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
	return t
}

func describe[In, Out any](e access.Effect, opts []Option) *Tool {
	in := reflect.TypeFor[In]()
	t := &Tool{Name: snakeCase(in.Name()), Title: title(in.Name()), Effect: e, Shape: Facts, Timeout: time.Minute, in: in}
	for _, o := range opts {
		o(t)
	}
	t.schema = sync.OnceValue(func() *schemas {
		return newSchemas(schemaOf[In](t.fields), schemaOf[Out](t.fields), in)
	})
	return t
}

// Input is the JSON schema of the arguments.
func (t *Tool) Input() *jsonschema.Schema { return t.schema().in }

// Output is the JSON schema of the tool's own part of the result.
func (t *Tool) Output() *jsonschema.Schema { return t.schema().out }

// InputType is the struct behind the tool; the command line makes flags of it.
func (t *Tool) InputType() reflect.Type { return t.in }

// Comment is what the source says about a field of the tool's structs.
func (t *Tool) Comment(typeName, field string) string { return t.fields[typeName][field] }

// A Comment is what the source says about one struct.
type Comment struct {
	Text   string
	Fields map[string]string
}

// Toolset names the tools of one package and gives them their comments. It
// panics when a tool has none: a tool without a description is a mistake.
func Toolset(name string, docs map[string]Comment, tools ...*Tool) []*Tool {
	fields := make(map[string]map[string]string, len(docs))
	for k, c := range docs {
		fields[k] = c.Fields
	}
	for _, t := range tools {
		c, ok := docs[t.in.Name()]
		if !ok {
			panic("tool " + t.Name + " has no comment in docs_gen.go; run go generate")
		}
		t.Set = name
		t.Doc = sentence(strings.TrimPrefix(c.Text, t.in.Name()+" "))
		t.fields = fields
	}
	return tools
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// snakeCase turns ReadNote into read_note.
func snakeCase(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// title turns ReadNote into "Read note".
func title(s string) string {
	return sentence(strings.ReplaceAll(snakeCase(s), "_", " "))
}
