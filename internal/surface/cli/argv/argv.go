// Package argv turns the words and flags of a command line into the arguments
// of a tool. The flags come from the tool's struct; what they may hold, the
// tool's schema says, so that everyone gets the same errors.
package argv

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/schema"
)

// Placeholder is the annotation of a flag that names its value in the help.
const Placeholder = "lore_placeholder"

// An Input turns flags and words into a tool's arguments.
type Input struct {
	fields []*field
	words  []*field // the arguments that can be given without a flag, in order

	aliases map[string]string // other names of flags
}

// A field is one argument, with the object it is nested in.
type field struct {
	key    string // in the object
	parent string // the key of the object around it; "" at the top
	flag   string
	typ    reflect.Type
	enum   []string
	need   bool
	word   bool // it can be given without a flag, though it is not needed
}

// New defines the flags of a tool.
func New(t *tool.Tool, flags *pflag.FlagSet) *Input {
	in := &Input{aliases: map[string]string{}}
	in.collect(t, t.InputType(), "", flags)
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if real, ok := in.aliases[name]; ok {
			name = real
		}
		return pflag.NormalizedName(name)
	})
	for _, f := range in.fields {
		if f.parent == "" && (f.need || f.word) && !f.isJSON() {
			in.words = append(in.words, f)
		}
	}
	return in
}

// Word is the argument that the word in place i gives, or "". The last one may
// take many words.
func (in *Input) Word(i int) string {
	if n := len(in.words); i >= n && n > 0 && in.words[n-1].typ.Kind() == reflect.Slice {
		i = n - 1
	}
	if i >= len(in.words) {
		return ""
	}
	return in.words[i].key
}

func (in *Input) collect(t *tool.Tool, typ reflect.Type, parent string, flags *pflag.FlagSet) {
	for sf := range typ.Fields() {
		key, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
		ft := sf.Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		if sf.Anonymous && key == "" && ft.Kind() == reflect.Struct {
			in.collect(t, ft, parent, flags)
			continue
		}
		if key == "" || key == "-" || !sf.IsExported() {
			continue
		}
		if ft.Kind() == reflect.Struct && parent == "" {
			in.collect(t, ft, key, flags)
			continue
		}
		f := &field{key: key, parent: parent, flag: strings.ReplaceAll(key, "_", "-"), typ: ft, need: !strings.Contains(opts, "omitempty"), word: sf.Tag.Get("word") == "true"}
		if flags.Lookup(f.flag) != nil && parent != "" {
			f.flag = strings.ReplaceAll(parent, "_", "-") + "-" + f.flag
		}
		if e := sf.Tag.Get("enum"); e != "" {
			f.enum = strings.Split(e, ",")
		}
		in.alias(f.flag, sf.Tag.Get("alias"))
		doc := describeField(sf.Name, t.Comment(typ.Name(), sf.Name), f.enum)
		if own := cmp.Or(t.Help.Flags[f.flag], common[f.flag]); own != "" {
			doc = describeField("", own, f.enum)
		}
		f.define(flags, doc, sf.Tag.Get("default"))
		in.fields = append(in.fields, f)
	}
}

// common describes the flags that many commands have, for people.
var common = map[string]string{
	"if-hash": "refuse if the note no longer has this hash",
	"node-id": "ID, path, title or alias of the node",
	"edge-id": "ID of the relationship, as lore node get shows it",
}

// alias lets a flag answer to the other names of its argument, written as flags
// are: oldName and old_name become --old-name.
func (in *Input) alias(flag, names string) {
	for name := range strings.SplitSeq(names, ",") {
		var b strings.Builder
		for i, r := range name {
			if unicode.IsUpper(r) && i > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(unicode.ToLower(r))
		}
		if name := strings.ReplaceAll(b.String(), "_", "-"); name != "" {
			in.aliases[name] = flag
		}
	}
}

// describeField turns a Go comment into the help of a flag: "TopK is how many
// notes to return." becomes "how many notes to return".
func describeField(name, doc string, enum []string) string {
	doc = strings.TrimSuffix(doc, ".")
	if rest, ok := strings.CutPrefix(doc, name+" "); ok {
		verb, more, _ := strings.Cut(rest, " ")
		switch {
		case verb == "is" || verb == "are":
			doc = more
		case strings.HasSuffix(verb, "s") && !slices.Contains([]string{"this", "as", "its"}, verb):
			doc = rest
		}
	}
	if rest, ok := strings.CutPrefix(doc, "Max "); ok {
		doc = "maximum number of " + rest
	}
	if doc != "" && !strings.HasPrefix(doc, name) || strings.HasPrefix(doc, name+" ") || strings.HasPrefix(doc, name+",") {
		doc = lowerFirst(doc)
	}
	if len(enum) > 0 {
		doc += ": " + strings.Join(enum[:len(enum)-1], ", ") + " or " + enum[len(enum)-1]
		doc = strings.ReplaceAll(doc, ":  or ", ": ")
	}
	return strings.ReplaceAll(doc, "`", "'")
}

// lowerFirst leaves abbreviations as they are.
func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// isJSON reports whether a value of the field has no form of its own on a
// command line, so that it is written as JSON.
func (f *field) isJSON() bool {
	switch f.typ.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64, reflect.String:
		return false
	case reflect.Slice:
		return f.typ.Elem().Kind() != reflect.String
	case reflect.Map:
		return f.typ.Elem().Kind() != reflect.String && f.typ.Elem().Kind() != reflect.Interface
	}
	return true
}

// define adds the flag. Values are only read here; the tool's schema checks
// them, so that the command line and every other caller get the same errors.
func (f *field) define(flags *pflag.FlagSet, doc, def string) {
	switch k := f.typ.Kind(); {
	case f.isJSON():
		flags.String(f.flag, "", doc)
	case k == reflect.Bool:
		flags.Bool(f.flag, def == "true", doc)
	case k == reflect.Slice:
		flags.StringSlice(f.flag, nil, doc)
	case k == reflect.Map && f.typ.Elem().Kind() == reflect.Interface:
		flags.StringArray(f.flag, nil, doc+" (repeatable)")
	case k == reflect.Map:
		flags.StringToString(f.flag, nil, doc)
	case k == reflect.Int || k == reflect.Int64:
		n, _ := strconv.Atoi(def) // no default is 0
		flags.Int(f.flag, n, doc)
	case k == reflect.Float64:
		n, _ := strconv.ParseFloat(def, 64) // no default is 0
		flags.Float64(f.flag, n, doc)
	default:
		flags.String(f.flag, def, doc)
	}
	name := ""
	switch {
	case f.isJSON():
		name = "JSON"
	case len(f.enum) > 0:
		name = "WORD"
	case f.typ.Kind() == reflect.Map && f.typ.Elem().Kind() == reflect.Interface:
		name = "NAME=VALUE"
	default:
		return
	}
	// The flag exists: it was made above.
	_ = flags.SetAnnotation(f.flag, Placeholder, []string{name})
}

// Usage shows the words that a command takes.
func (in *Input) Usage() string {
	s := ""
	for _, f := range in.words {
		name := strings.ToUpper(f.key)
		if f.typ.Kind() == reflect.Slice {
			name += "..."
		}
		if !f.need {
			name = "[" + name + "]"
		}
		s += " " + name
	}
	return s
}

// Check looks whether the words can be right.
func (in *Input) Check(cmd *cobra.Command, args []string) error {
	path := cmd.CommandPath()
	switch {
	case len(in.words) == 0 && len(args) > 0:
		return fault.Fix(fault.Invalid, fmt.Sprintf("see %s --help", path), "%s takes no arguments, got %q", path, args[0])
	case len(in.words) > 1 && len(args) > len(in.words):
		return fault.Fix(fault.Invalid, fmt.Sprintf("usage: %s%s, with quotes around values that contain spaces", path, in.Usage()),
			"%s takes %d arguments, got %d", path, len(in.words), len(args))
	}
	for i, f := range in.words {
		if f.need && i >= len(args) && !cmd.Flags().Changed(f.flag) {
			return fault.Fix(fault.Invalid, fmt.Sprintf("usage: %s%s", path, in.Usage()), "%s: %s is required", path, f.key)
		}
	}
	return nil
}

// Arguments builds the object from the flags that were given and the words. A
// tool with one needed argument takes all words as that one.
func (in *Input) Arguments(flags *pflag.FlagSet, words []string) (json.RawMessage, error) {
	obj := map[string]any{}
	put := func(f *field, v any) {
		if f.parent == "" {
			obj[f.key] = v
			return
		}
		inner, ok := obj[f.parent].(map[string]any)
		if !ok {
			inner = map[string]any{}
			obj[f.parent] = inner
		}
		inner[f.key] = v
	}
	for _, f := range in.fields {
		if !flags.Changed(f.flag) {
			continue
		}
		v, err := f.value(flags)
		if err != nil {
			return nil, err
		}
		put(f, v)
	}
	switch {
	case len(words) == 0:
	case len(in.words) == 1 && in.words[0].typ.Kind() == reflect.Slice:
		put(in.words[0], words)
	case len(in.words) == 1:
		v, err := in.words[0].parse(strings.Join(words, " "))
		if err != nil {
			return nil, err
		}
		put(in.words[0], v)
	default:
		for i, w := range words {
			v, err := in.words[i].parse(w)
			if err != nil {
				return nil, err
			}
			put(in.words[i], v)
		}
	}
	return json.Marshal(obj)
}

func (f *field) value(flags *pflag.FlagSet) (any, error) {
	switch k := f.typ.Kind(); {
	case f.isJSON():
		return f.parse(flags.Lookup(f.flag).Value.String())
	case k == reflect.Bool:
		return flags.GetBool(f.flag)
	case k == reflect.Slice:
		return flags.GetStringSlice(f.flag)
	case k == reflect.Map && f.typ.Elem().Kind() == reflect.Interface:
		list, err := flags.GetStringArray(f.flag)
		if err != nil {
			return nil, err
		}
		return pairsOf(f.key, list)
	case k == reflect.Map:
		return flags.GetStringToString(f.flag)
	case k == reflect.Int || k == reflect.Int64:
		return flags.GetInt(f.flag)
	case k == reflect.Float64:
		return flags.GetFloat64(f.flag)
	}
	return flags.GetString(f.flag)
}

// pairsOf reads NAME=VALUE. A value that is JSON is that, any other is text.
func pairsOf(key string, list []string) (map[string]any, error) {
	out := map[string]any{}
	for _, kv := range list {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			return nil, fault.Field(key, "use NAME=VALUE", "%q has no name or no value", kv)
		}
		if json.Valid([]byte(value)) {
			out[name] = json.RawMessage(value)
		} else {
			out[name] = value
		}
	}
	return out, nil
}

// parse reads one word as a value of the field.
func (f *field) parse(word string) (any, error) {
	bad := func(what string) error { return fault.Field(f.key, "", "%q is not %s", word, what) }
	switch k := f.typ.Kind(); {
	case f.isJSON():
		if !json.Valid([]byte(word)) {
			return nil, bad("JSON")
		}
		return json.RawMessage(word), nil
	case k == reflect.Slice:
		return []string{word}, nil
	case k == reflect.Map:
		if strings.HasPrefix(strings.TrimSpace(word), "{") && json.Valid([]byte(word)) {
			return json.RawMessage(word), nil
		}
		return pairsOf(f.key, []string{word})
	case k == reflect.Bool:
		b, err := strconv.ParseBool(word)
		if err != nil {
			return nil, bad("true or false")
		}
		return b, nil
	case k == reflect.Int || k == reflect.Int64:
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, bad("a whole number")
		}
		return n, nil
	case k == reflect.Float64:
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, bad("a number")
		}
		return n, nil
	}
	return word, nil
}

// Choices lists the flags that take one of a few words, with the words.
func (in *Input) Choices() map[string][]string {
	out := map[string][]string{}
	for _, f := range in.fields {
		if len(f.enum) > 0 {
			out[f.flag] = f.enum
		}
	}
	return out
}

// Explain says what is wrong with a flag in the words of the help.
func Explain(cmd *cobra.Command, err error) error {
	see := fmt.Sprintf("see %s --help", cmd.CommandPath())
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	var empty *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fault.Fix(fault.Invalid, fmt.Sprintf("put -- before an argument that starts with a dash: %s -- -%s", cmd.CommandPath(), unknown.GetSpecifiedShortnames()),
			"%s has no flag -%s", cmd.CommandPath(), unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := schema.Nearest(unknown.GetSpecifiedName(), names, 2); len(near) > 0 {
			see = "did you mean --" + strings.Join(near, ", --") + "?"
		}
		return fault.Fix(fault.Invalid, see, "%s has no flag --%s", cmd.CommandPath(), unknown.GetSpecifiedName())
	case errors.As(err, &bad):
		what := map[string]string{"int": "a whole number", "float64": "a number", "bool": "true or false", "stringToString": "NAME=VALUE", "duration": "a duration such as 45s or 2m"}[bad.GetFlag().Value.Type()]
		if what != "" {
			return fault.Fix(fault.Invalid, see, "--%s: %q is not %s", bad.GetFlag().Name, bad.GetValue(), what)
		}
	case errors.As(err, &empty):
		return fault.Fix(fault.Invalid, see, "--%s needs a value", empty.GetSpecifiedName())
	}
	return fault.Fix(fault.Invalid, see, "%v", err)
}
