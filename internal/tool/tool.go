// Package tool turns an ordinary Go struct into a tool, and keeps all tools in
// one [Registry], the only door to them.
//
// The struct's fields are the arguments, its doc comment is the description,
// its method is the work. How it is registered says what it may do at the most,
// and the compiler checks it:
//
//   - a [Read] tool has Run and changes nothing;
//   - a [Change] tool has Plan, which returns the edits it wants and makes none;
//   - an [Act] tool has Foresee and Run, and reaches outside the vault;
//   - a [Foreign] tool is made from a schema at run time, and is an act.
//
// [Registry.Call] is the only way to run one: it checks the arguments, decides,
// plans, asks, records and applies. [Registry.Answer] is how a person answers
// what was asked. The package knows no single tool and no surface.
package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/schema"
)

// DryRun is the argument that every tool with an effect takes beside its own:
// the plan is made and shown, and nothing happens.
const DryRun = "dry_run"

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
	Doc     string // for models: what it does and when to use it
	Set     string // the toolset it belongs to
	Aliases []string
	Short   string // what a person types for it at a terminal: "search"
	Effect  access.Effect
	Shape   Shape
	Timeout time.Duration
	// Needs is what an act reaches for, beside the vault.
	Needs access.Scope
	// With is the argument without which a changing tool only reads.
	With string
	// Rate limits how often anyone may call it; zero is no limit of its own.
	Rate policy.Limit
	// Instructions tell models when and how to use it, beyond Doc. People may
	// replace them: see [Registry.Instruct].
	Instructions string
	// Roles are the parts that it plays for surfaces.
	Roles []Role
	// Feed says that the result is a list that grows: the argument "after" asks
	// for what came after the "next" of an earlier answer.
	Feed bool
	// Everyday says that MCP clients get it by default, beside the notes' toolset.
	Everyday bool
	// Partial says that it answers while the index is built for the first time.
	Partial bool
	// Ends says that a run is over when a call of it succeeded.
	Ends bool
	// Selects is the argument with the files that a person chooses from, when they
	// are read for somebody elsewhere.
	Selects string
	// AsksModel says that the tool asks a model when one is connected, which may be
	// a remote one.
	AsksModel bool
	// Persons says that only a person may call it.
	Persons bool
	// Off says that nobody may call it until a person turned it on.
	Off bool
	// Untrusted says that the result holds words of others: data, never
	// instructions.
	Untrusted bool
	// Source is the server that a foreign tool is of; empty for Lore's own.
	Source string
	// Examples are calls that make sense in the sample vault; lore demo makes them.
	Examples []Example
	// Help is the text of the command, for people.
	Help Help

	in         reflect.Type
	fields     schema.Comments       // struct name to field name to comment
	schema     func() *schema.Schema // made on first use: most runs need one tool, not seventy
	definition func() string
	gathers    bool                                                    // it makes calls; see [Gather]
	pinned     string                                                  // see [ForeignTool.Definition]
	run        work                                                    // the work itself; the edits are wishes
	foresee    func(context.Context, json.RawMessage) (Preview, error) // of an act
	decode     func(json.RawMessage) (any, error)                      // a result that was kept as JSON
}

// work does what a tool does and returns its result and the edits it wants.
type work func(ctx context.Context, args json.RawMessage) (any, change.Set, error)

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

// Needs says what an act reaches for.
func Needs(s access.Scope) Option { return func(t *Tool) { t.Needs = s } }

// EndsRun marks a tool by which a mind says that its work is done.
func EndsRun() Option { return func(t *Tool) { t.Ends = true } }

// PersonsOnly marks a tool that no agent and no program may call.
func PersonsOnly() Option { return func(t *Tool) { t.Persons = true } }

// AsksModel marks a tool that asks a model when one is connected, and gives it
// more time.
func AsksModel(within time.Duration) Option {
	return func(t *Tool) { t.AsksModel, t.Timeout = true, within }
}

// OffByDefault marks a tool that a person must turn on first.
func OffByDefault() Option { return func(t *Tool) { t.Off = true } }

// Untrusted marks a tool whose results hold words from outside.
func Untrusted() Option { return func(t *Tool) { t.Untrusted = true } }

// ChangesWith says that a tool plans edits only when a switch is set: without
// it, whoever may read may call it.
func ChangesWith(field string) Option { return func(t *Tool) { t.With = field } }

// Rate limits how often anyone may call the tool.
func Rate(calls int, per time.Duration) Option {
	return func(t *Tool) { t.Rate = policy.Limit{Calls: calls, Per: per} }
}

// Instruct gives models words about the tool beyond its description.
func Instruct(text string) Option { return func(t *Tool) { t.Instructions = text } }

// Feed marks a tool whose result can be followed.
func Feed() Option { return func(t *Tool) { t.Feed = true } }

// AnswersPartly marks a reading tool that does not wait for the first build of the
// index. Its result has to say that notes are missing, must deny nothing because
// of them, and must show none of them: whether a note is untrusted is known when it
// is indexed.
func AnswersPartly() Option { return func(t *Tool) { t.Partial = true } }

// Everyday marks a tool that MCP clients get by default, whatever its toolset.
func Everyday() Option { return func(t *Tool) { t.Everyday = true } }

// A Runner is an input struct that does its own work.
type Runner[Env, Out any] interface {
	Run(ctx context.Context, env Env) (Out, error)
}

// A Planner is an input struct that plans edits and makes none.
type Planner[Env, Out any] interface {
	Plan(ctx context.Context, env Env) (Out, change.Set, error)
}

// An Actor is an input struct that reaches outside the vault. Foresee tells
// what Run is about to do, and does nothing.
type Actor[Env, Out any] interface {
	Foresee(ctx context.Context, env Env) (Preview, error)
	Run(ctx context.Context, env Env) (Out, change.Set, error)
}

// Read makes a tool that changes nothing.
func Read[In Runner[Env, Out], Env, Out any](env Env, opts ...Option) *Tool {
	t := describe[In, Out](access.Reads, opts)
	t.run = bind(func(ctx context.Context, in In) (Out, change.Set, error) {
		out, err := in.Run(ctx, env)
		return out, nil, err
	})
	return t
}

// Change makes a tool that edits notes: it returns its result and the edits it
// wants, and the registry makes them.
func Change[In Planner[Env, Out], Env, Out any](env Env, opts ...Option) *Tool {
	t := describe[In, Out](access.Changes, opts)
	t.run = bind(func(ctx context.Context, in In) (Out, change.Set, error) { return in.Plan(ctx, env) })
	return t
}

// Act makes a tool that reaches outside the vault. It panics when an option
// does not say what it [Needs]: an act without a right is a mistake.
func Act[In Actor[Env, Out], Env, Out any](env Env, opts ...Option) *Tool {
	t := describe[In, Out](access.Acts, opts)
	if t.Needs != access.Egress && t.Needs != access.Exec {
		panic("the act " + t.Name + " does not say what it needs")
	}
	t.foresee = func(ctx context.Context, args json.RawMessage) (Preview, error) {
		in, err := input[In](args)
		if err != nil {
			return Preview{}, err
		}
		return in.Foresee(ctx, env)
	}
	t.run = bind(func(ctx context.Context, in In) (Out, change.Set, error) { return in.Run(ctx, env) })
	return t
}

// bind turns a method of the input into work on arguments.
func bind[In, Out any](f func(context.Context, In) (Out, change.Set, error)) work {
	return func(ctx context.Context, args json.RawMessage) (any, change.Set, error) {
		in, err := input[In](args)
		if err != nil {
			return nil, nil, err
		}
		out, set, err := f(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		return out, set, nil
	}
}

func input[In any](args json.RawMessage) (in In, err error) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber() // a long number in a free field keeps its digits
	if err := d.Decode(&in); err != nil {
		return in, fault.New(fault.Invalid, "arguments: %v", err)
	}
	return in, nil
}

func describe[In, Out any](e access.Effect, opts []Option) *Tool {
	in := reflect.TypeFor[In]()
	t := &Tool{Name: snakeCase(in.Name()), Title: title(in.Name()), Effect: e, Shape: Facts, Timeout: time.Minute, in: in}
	var zero In
	if h, ok := any(zero).(Helper); ok {
		t.Help = h.Help()
	}
	for _, o := range opts {
		o(t)
	}
	t.schema = sync.OnceValue(func() *schema.Schema {
		s := schema.Of[In, Out](t.fields)
		if e != access.Reads {
			s.AddSwitch(DryRun, "Plan only.")
		}
		return s
	})
	t.definition = sync.OnceValue(func() string { return definitionOf(t) })
	t.decode = func(raw json.RawMessage) (any, error) {
		var out Out
		err := json.Unmarshal(raw, &out)
		return out, err
	}
	return t
}

// definitionOf is a hash of everything that a person who trusts the tool has
// seen of it.
func definitionOf(t *Tool) string {
	seen := []any{t.Name, t.Doc, t.Effect, t.Needs, t.Input()}
	if t.pinned != "" {
		seen = append(seen, t.pinned)
	}
	b, err := json.Marshal(seen)
	if err != nil {
		panic("definition of " + t.Name + ": " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Input is the JSON schema of the arguments.
func (t *Tool) Input() *jsonschema.Schema { return t.schema().In }

// Output is the JSON schema of the tool's own part of the result.
func (t *Tool) Output() *jsonschema.Schema { return t.schema().Out }

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
	fields := make(schema.Comments, len(docs))
	for k, c := range docs {
		fields[k] = c.Fields
	}
	for _, t := range tools {
		c, ok := docs[t.in.Name()]
		if !ok {
			panic("tool " + t.Name + " has no comment in docs_gen.go; run go generate")
		}
		t.Set = name
		t.Doc = sentence(description(t.in.Name(), c.Text))
		t.fields = fields
	}
	return tools
}

// description is the comment of a struct without the struct's name: "ReadNote:
// Read one note." is "Read one note.", and "Pot brews." is "brews.".
func description(name, comment string) string {
	if rest, ok := strings.CutPrefix(comment, name+": "); ok {
		return rest
	}
	return strings.TrimPrefix(comment, name+" ")
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
