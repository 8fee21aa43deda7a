package cli

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lore/internal/fault"
	"lore/internal/tool"
)

// toolCommand makes the command of a tool. Its flags are made only when the
// command line names it: seventy tools would cost more than most answers.
func (p *program) toolCommand(t *tool.Tool, args []string) *cobra.Command {
	dashed := strings.ReplaceAll(t.Name, "_", "-")
	cmd := &cobra.Command{Use: dashed, GroupID: "tools", Short: firstSentence(t.Doc), Long: t.Doc, Aliases: []string{t.Name}}
	if t.Short != "" {
		cmd.Use = t.Short
		cmd.Aliases = append(cmd.Aliases, dashed)
	}
	cmd.Aliases = append(cmd.Aliases, t.Aliases...)
	if !slices.ContainsFunc(args, func(a string) bool { return a == cmd.Use || slices.Contains(cmd.Aliases, a) }) {
		return cmd
	}
	in := newInput(t, cmd.Flags())
	cmd.Use += in.usage()
	cmd.Args = in.checkArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		obj, err := in.arguments(cmd.Flags(), args)
		if err != nil {
			return err
		}
		return p.call(cmd.Context(), t, obj)
	}
	for _, f := range in.fields {
		if len(f.enum) > 0 {
			// The flag exists: it was made a few lines above.
			_ = cmd.RegisterFlagCompletionFunc(f.flag, cobra.FixedCompletions(f.enum, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	return cmd
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
	words  *field // the argument that is given without a flag; nil when there is none
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
		if f.parent == "" && f.need && in.words == nil {
			in.words = f
		}
	}
	return in
}

func (in *input) collect(t *tool.Tool, typ reflect.Type, parent string, flags *pflag.FlagSet) {
	for sf := range typ.Fields() {
		key, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if key == "" || key == "-" {
			continue
		}
		ft := sf.Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Struct {
			in.collect(t, ft, key, flags)
			continue
		}
		f := &field{key: key, parent: parent, flag: strings.ReplaceAll(key, "_", "-"), typ: ft, need: !strings.Contains(opts, "omitempty")}
		if e := sf.Tag.Get("enum"); e != "" {
			f.enum = strings.Split(e, ",")
		}
		doc := t.Comment(typ.Name(), sf.Name)
		if len(f.enum) > 0 {
			doc += " (" + strings.Join(f.enum, ", ") + ")"
		}
		f.define(flags, strings.ReplaceAll(doc, "`", "'"), sf.Tag.Get("default"))
		in.fields = append(in.fields, f)
	}
}

// define adds the flag. Values are kept as text and checked by the tool's
// schema, so that the command line and every other caller get the same errors.
func (f *field) define(flags *pflag.FlagSet, doc, def string) {
	switch f.typ.Kind() {
	case reflect.Bool:
		flags.Bool(f.flag, def == "true", doc)
	case reflect.Slice:
		flags.StringSlice(f.flag, nil, doc)
	case reflect.Map:
		flags.StringToString(f.flag, nil, doc)
	case reflect.Int, reflect.Int64:
		n, _ := strconv.Atoi(def)
		flags.Int(f.flag, n, doc)
	case reflect.Float64:
		n, _ := strconv.ParseFloat(def, 64)
		flags.Float64(f.flag, n, doc)
	default:
		flags.String(f.flag, def, doc)
	}
}

func (in *input) usage() string {
	if in.words == nil {
		return ""
	}
	s := " " + strings.ToUpper(in.words.key)
	if in.words.typ.Kind() == reflect.Slice {
		s += "..."
	}
	return s
}

func (in *input) checkArgs(cmd *cobra.Command, args []string) error {
	if in.words == nil && len(args) > 0 {
		return fault.Fix(fault.Invalid, fmt.Sprintf("see %s --help", cmd.CommandPath()), "%s takes no words, got %q", cmd.CommandPath(), args[0])
	}
	if in.words != nil && len(args) == 0 && !cmd.Flags().Changed(in.words.flag) {
		return fault.Fix(fault.Invalid, fmt.Sprintf("write: %s %s", cmd.CommandPath(), strings.ToUpper(in.words.key)), "%s: %s is missing", cmd.CommandPath(), in.words.key)
	}
	return nil
}

// arguments builds the object from the flags that were given.
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
	if in.words != nil && len(words) > 0 {
		if in.words.typ.Kind() == reflect.Slice {
			put(in.words, words)
		} else {
			put(in.words, strings.Join(words, " "))
		}
	}
	return json.Marshal(obj)
}

func (f *field) value(flags *pflag.FlagSet) (any, error) {
	switch f.typ.Kind() {
	case reflect.Bool:
		return flags.GetBool(f.flag)
	case reflect.Slice:
		return flags.GetStringSlice(f.flag)
	case reflect.Map:
		return flags.GetStringToString(f.flag)
	case reflect.Int, reflect.Int64:
		return flags.GetInt(f.flag)
	case reflect.Float64:
		return flags.GetFloat64(f.flag)
	}
	return flags.GetString(f.flag)
}
