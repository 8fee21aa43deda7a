package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemas are the two schemas of a tool.
type schemas struct {
	in, out *jsonschema.Schema
	aliases map[*jsonschema.Schema]map[string]string // of an object in the first: other names of its fields
}

func newSchemas(in, out *jsonschema.Schema, t reflect.Type) *schemas {
	s := &schemas{in: in, out: out, aliases: map[*jsonschema.Schema]map[string]string{}}
	s.collectAliases(in, t)
	return s
}

// collectAliases reads the tag alias:"oldName,otherName". Such names are
// accepted in calls and appear in no schema: nobody new should learn them.
func (s *schemas) collectAliases(in *jsonschema.Schema, t reflect.Type) {
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

// schemaOf infers the schema of a struct and adds what its tags and comments
// say: default, min, max, enum (separated by commas), and descriptions. The tag
// alias is read elsewhere, because it is no part of a schema.
func schemaOf[T any](docs map[string]map[string]string) *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", reflect.TypeFor[T](), err))
	}
	decorate(s, reflect.TypeFor[T](), docs)
	return s
}

func decorate(s *jsonschema.Schema, t reflect.Type, docs map[string]map[string]string) {
	fold(s)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice && s.Items != nil {
			s = s.Items
			fold(s)
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || len(s.Properties) == 0 {
		return
	}
	for f := range t.Fields() {
		if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("json") == "" {
			decorate(s, f.Type, docs)
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
		decorate(p, f.Type, docs)
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
