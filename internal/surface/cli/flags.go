package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lore/internal/access"
	"lore/internal/fault"
	"lore/internal/schema"
	"lore/internal/tool"
)

// toolCommand makes the command of a tool. Its flags are made only when the
// command line names it: seventy tools would cost more than most answers.
func (p *program) toolCommand(t *tool.Tool, args []string) *cobra.Command {
	dashed := strings.ReplaceAll(t.Name, "_", "-")
	cmd := &cobra.Command{Use: dashed, GroupID: "tools", Short: firstSentence(t.Doc), Long: t.Doc}
	if t.Short != "" {
		cmd.Use = t.Short
		cmd.Aliases = append(cmd.Aliases, dashed)
	}
	if t.Name != dashed {
		cmd.Aliases = append(cmd.Aliases, t.Name)
	}
	cmd.Aliases = append(cmd.Aliases, t.Aliases...)
	// A command without a function would be shown as a topic of the help.
	cmd.RunE = func(*cobra.Command, []string) error { return nil }
	if !slices.ContainsFunc(args, func(a string) bool { return a == cmd.Use || slices.Contains(cmd.Aliases, a) }) {
		return cmd
	}
	cmd.Example = examples(cmd.Use, t)
	in := newInput(t, cmd.Flags())
	cmd.Use += in.usage()
	cmd.Args = in.checkArgs
	w := defineWill(t, cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		obj, err := in.arguments(cmd.Flags(), args)
		if err != nil {
			return err
		}
		if t.Effect != access.Reads {
			if obj, err = fromInput(cmd.Context(), cmd.InOrStdin(), obj); err != nil {
				return err
			}
		}
		return p.call(cmd.Context(), cmd.InOrStdin(), t, obj, *w)
	}
	for _, f := range in.fields {
		if len(f.enum) > 0 {
			// The flag exists: it was made a few lines above.
			_ = cmd.RegisterFlagCompletionFunc(f.flag, cobra.FixedCompletions(f.enum, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	return cmd
}

const yesHelp = "do it without asking; what destroys is asked about all the same"

// defineWill adds the flags that say what may happen.
func defineWill(t *tool.Tool, flags *pflag.FlagSet) *will {
	w := &will{}
	if t.Effect != access.Reads {
		flags.BoolVarP(&w.yes, "yes", "y", false, yesHelp)
		flags.BoolVar(&w.dry, "dry-run", false, "show what would change, and change nothing")
	}
	if t.Feed {
		flags.BoolVarP(&w.follow, "follow", "f", false, "go on with what comes, until interrupted")
	}
	return w
}

// fromInput puts what is read from standard input in the place of an argument
// that is "-".
func fromInput(ctx context.Context, in io.Reader, obj json.RawMessage) (json.RawMessage, error) {
	var m map[string]any
	if err := json.Unmarshal(obj, &m); err != nil {
		return obj, err
	}
	for k, v := range m {
		if v != "-" {
			continue
		}
		text, err := readAll(ctx, in)
		if err != nil {
			return nil, err
		}
		m[k] = text
		return json.Marshal(m)
	}
	return obj, nil
}

// examples are the tool's own, as they are typed.
func examples(word string, t *tool.Tool) string {
	var out []string
	for _, e := range t.Examples {
		out = append(out, "lore "+word+" "+e.Words)
	}
	return strings.Join(out, "\n")
}

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i > 0 {
		return s[:i]
	}
	return strings.TrimSuffix(s, ".")
}

// An input turns flags and words into a tool's arguments.
type input struct {
	fields []*field
	words  []*field // the arguments that can be given without a flag, in order
}

// A field is one argument, with the object it is nested in.
type field struct {
	key    string // in the object
	parent string // the key of the object around it; "" at the top
	flag   string
	typ    reflect.Type
	enum   []string
	need   bool
}

func newInput(t *tool.Tool, flags *pflag.FlagSet) *input {
	in := &input{}
	in.collect(t, t.InputType(), "", flags)
	for _, f := range in.fields {
		if f.parent == "" && f.need && !f.isJSON() {
			in.words = append(in.words, f)
		}
	}
	return in
}

func (in *input) collect(t *tool.Tool, typ reflect.Type, parent string, flags *pflag.FlagSet) {
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
		f := &field{key: key, parent: parent, flag: strings.ReplaceAll(key, "_", "-"), typ: ft, need: !strings.Contains(opts, "omitempty")}
		if flags.Lookup(f.flag) != nil && parent != "" {
			f.flag = strings.ReplaceAll(parent, "_", "-") + "-" + f.flag
		}
		if e := sf.Tag.Get("enum"); e != "" {
			f.enum = strings.Split(e, ",")
		}
		f.define(flags, describeField(sf.Name, t.Comment(typ.Name(), sf.Name), f.enum), sf.Tag.Get("default"))
		in.fields = append(in.fields, f)
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
	if doc != "" && !strings.HasPrefix(doc, name) || strings.HasPrefix(doc, name+" ") {
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
		flags.StringArray(f.flag, nil, doc+" (may stand several times)")
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
	_ = flags.SetAnnotation(f.flag, placeholder, []string{name})
}

// usage shows the words that a command takes.
func (in *input) usage() string {
	s := ""
	for _, f := range in.words {
		s += " " + strings.ToUpper(f.key)
		if f.typ.Kind() == reflect.Slice {
			s += "..."
		}
	}
	return s
}

func (in *input) checkArgs(cmd *cobra.Command, args []string) error {
	path := cmd.CommandPath()
	switch {
	case len(in.words) == 0 && len(args) > 0:
		return fault.Fix(fault.Invalid, fmt.Sprintf("see %s --help", path), "%s takes no words, got %q", path, args[0])
	case len(in.words) > 1 && len(args) > len(in.words):
		return fault.Fix(fault.Invalid, fmt.Sprintf("write: %s%s, with quotes around what has spaces", path, in.usage()),
			"%s takes %d words, got %d", path, len(in.words), len(args))
	}
	for i, f := range in.words {
		if i >= len(args) && !cmd.Flags().Changed(f.flag) {
			return fault.Fix(fault.Invalid, fmt.Sprintf("write: %s%s", path, in.usage()), "%s: %s is missing", path, f.key)
		}
	}
	return nil
}

// arguments builds the object from the flags that were given and the words. A
// tool with one needed argument takes all words as that one.
func (in *input) arguments(flags *pflag.FlagSet, words []string) (json.RawMessage, error) {
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
			return nil, fault.Field(key, "write NAME=VALUE", "%q has no name or no value", kv)
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

// flagError says what is wrong with a flag in the words of the help.
func flagError(cmd *cobra.Command, err error) error {
	see := fmt.Sprintf("see %s --help", cmd.CommandPath())
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	var empty *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fault.Fix(fault.Invalid, fmt.Sprintf("put -- before what begins with a dash and is no flag: %s -- -%s", cmd.CommandPath(), unknown.GetSpecifiedShortnames()),
			"%s has no flag -%s", cmd.CommandPath(), unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := schema.Nearest(unknown.GetSpecifiedName(), names, 2); len(near) > 0 {
			see = "did you mean --" + strings.Join(near, ", --") + "?"
		}
		return fault.Fix(fault.Invalid, see, "%s has no flag --%s", cmd.CommandPath(), unknown.GetSpecifiedName())
	case errors.As(err, &bad):
		what := map[string]string{"int": "a whole number", "float64": "a number", "bool": "true or false", "stringToString": "NAME=VALUE"}[bad.GetFlag().Value.Type()]
		if what != "" {
			return fault.Fix(fault.Invalid, see, "--%s: %q is not %s", bad.GetFlag().Name, bad.GetValue(), what)
		}
	case errors.As(err, &empty):
		return fault.Fix(fault.Invalid, see, "--%s needs a value", empty.GetSpecifiedName())
	}
	return fault.Fix(fault.Invalid, see, "%v", err)
}
