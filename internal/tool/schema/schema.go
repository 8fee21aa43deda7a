// Package schema turns structs into JSON schemas, and what callers send into the
// one form that fits them: validated, with defaults, keys sorted. It knows
// nothing of what the arguments are for.
package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/fault"
)

// A Schema is what a call takes and what it answers.
type Schema struct {
	In, Out *jsonschema.Schema
	// Secrets are the arguments that no record may show.
	Secrets []string

	general *jsonschema.Resolved                     // of a schema that may hold anything
	aliases map[*jsonschema.Schema]map[string]string // of an object in In: other names of its fields
	most    sizes                                    // of texts in In
}

// Comments are what the source says about the fields of structs: struct name to
// field name to comment.
type Comments map[string]map[string]string

// Of infers the schemas of two structs.
func Of[In, Out any](docs Comments) *Schema {
	most := sizes{}
	s := &Schema{In: infer[In](docs, most), Out: infer[Out](docs, nil), most: most, aliases: map[*jsonschema.Schema]map[string]string{}}
	s.collectAliases(s.In, reflect.TypeFor[In]())
	return s
}

// General takes schemas that someone else wrote. out may be nil.
func General(in, out *jsonschema.Schema) (*Schema, error) {
	if in == nil || in.Type != "object" {
		return nil, fault.New(fault.Invalid, "the arguments are not an object")
	}
	general, err := in.Resolve(nil)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the schema for the arguments is not valid: %v", err)
	}
	if out == nil {
		out = &jsonschema.Schema{Type: "object"}
	}
	return &Schema{In: in, Out: out, general: general}, nil
}

// Foreign reports whether the schema was made by [General].
func (s *Schema) Foreign() bool { return s.general != nil }

// AddSwitch adds one argument, true or false, that the struct does not have.
func (s *Schema) AddSwitch(name, doc string) {
	in := *s.In
	in.Properties = maps.Clone(in.Properties)
	if in.Properties == nil {
		in.Properties = map[string]*jsonschema.Schema{}
	}
	in.Properties[name] = &jsonschema.Schema{Type: "boolean", Description: doc}
	if len(in.PropertyOrder) > 0 {
		in.PropertyOrder = append(slices.Clone(in.PropertyOrder), name)
	}
	if a := s.aliases[s.In]; a != nil {
		s.aliases[&in] = a
	}
	s.In = &in
}

// collectAliases reads the tag alias:"oldName,otherName". Such names are
// accepted in calls and appear in no schema: nobody new should learn them. The
// tag secret:"true" keeps a value out of every record.
func (s *Schema) collectAliases(in *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := in.Properties[key]
		if p == nil {
			continue
		}
		if f.Tag.Get("secret") == "true" && in == s.In {
			s.Secrets = append(s.Secrets, key)
		}
		if a, ok := f.Tag.Lookup("alias"); ok {
			if s.aliases[in] == nil {
				s.aliases[in] = map[string]string{}
			}
			for name := range strings.SplitSeq(a, ",") {
				s.aliases[in][name] = key
			}
		}
		s.collectAliases(p, f.Type)
	}
}

// infer makes the schema of a struct and adds what its tags and comments say: default, min, max, enum (separated by commas), size (see [MaxName]), and descriptions. The tag
// alias is read elsewhere, because it is no part of a schema.
func infer[T any](docs Comments, most sizes) *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", reflect.TypeFor[T](), err))
	}
	decorate(s, reflect.TypeFor[T](), docs, most)
	return s
}

func decorate(s *jsonschema.Schema, t reflect.Type, docs Comments, most sizes) {
	fold(s)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice && s.Items != nil {
			s = s.Items
			fold(s)
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	// Unknown fields are refused by the check. Saying so in every schema would
	// cost each client of the tools seven tokens a tool.
	s.AdditionalProperties = nil
	if len(s.Properties) == 0 {
		return
	}
	for f := range t.Fields() {
		if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("json") == "" {
			decorate(s, f.Type, docs, most)
			continue
		}
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[key]
		if p == nil {
			continue
		}
		if d := docs[t.Name()][f.Name]; d != "" {
			p.Description = d
		}
		limits(p, f)
		decorate(p, f.Type, docs, most)
		if most != nil {
			most.bound(p, f)
		}
	}
}

// fold makes ["null", "array"] an array: a union of types troubles several
// model APIs, and leaving the field out says the same.
func fold(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}

func limits(p *jsonschema.Schema, f reflect.StructField) {
	target := p
	if f.Type.Kind() == reflect.Slice && p.Items != nil {
		target = p.Items
	}
	if e, ok := f.Tag.Lookup("enum"); ok {
		for v := range strings.SplitSeq(e, ",") {
			target.Enum = append(target.Enum, v)
		}
	}
	if d, ok := f.Tag.Lookup("default"); ok {
		p.Default = defaultJSON(f.Type, d)
	}
	if v, ok := f.Tag.Lookup("min"); ok {
		p.Minimum = jsonschema.Ptr(must(strconv.ParseFloat(v, 64)))
	}
	if v, ok := f.Tag.Lookup("max"); ok {
		p.Maximum = jsonschema.Ptr(must(strconv.ParseFloat(v, 64)))
	}
}

func defaultJSON(t reflect.Type, d string) json.RawMessage {
	if t.Kind() == reflect.String {
		return must(json.Marshal(d))
	}
	return json.RawMessage(d)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Arguments lists the names of a schema's properties in the order of the
// struct.
func Arguments(s *jsonschema.Schema) []string {
	if len(s.PropertyOrder) == len(s.Properties) {
		return s.PropertyOrder
	}
	var out []string
	for k := range s.Properties {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
