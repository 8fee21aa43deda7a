package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lore/internal/fault"
)

// A Call makes the call of a step and returns what it answered, as JSON.
type Call func(ctx context.Context, step Step, args json.RawMessage) (json.RawMessage, error)

// Given are the inputs of a run, with defaults. An input that is missing, unknown or
// of another type is an error.
func (w *Workflow) Given(inputs map[string]any) (map[string]any, error) {
	out := map[string]any{}
	var names []string
	for _, in := range w.Inputs {
		names = append(names, in.Name)
		v, ok := inputs[in.Name]
		switch {
		case !ok && in.Required:
			return nil, fault.Field("inputs", "give it, for example "+in.Name+"=VALUE", "the input %s is missing", in.Name)
		case !ok:
			v = in.Default
		}
		v, err := in.typed(plain(v))
		if err != nil {
			return nil, err
		}
		out[in.Name] = v
	}
	for name := range inputs {
		if !slices.Contains(names, name) {
			return nil, fault.Field("inputs", "inputs of this workflow: "+strings.Join(names, ", "), "%s has no input %q", w.Name, name)
		}
	}
	return out, nil
}

// plain is a value as JSON would give it.
func plain(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	if json.Unmarshal(b, &out) != nil {
		return v
	}
	return out
}

// typed checks a value; text from a command line is read as the type says.
func (in Input) typed(v any) (any, error) {
	if v == nil {
		return v, nil
	}
	text, isText := v.(string)
	ok := true
	switch in.Type {
	case "text":
		ok = isText
	case "number", "boolean", "list":
		if isText {
			var read any
			if json.Unmarshal([]byte(text), &read) == nil {
				v = read
			}
		}
		switch v.(type) {
		case float64:
			ok = in.Type == "number"
		case bool:
			ok = in.Type == "boolean"
		case []any:
			ok = in.Type == "list"
		default:
			ok = false
		}
	}
	if !ok {
		return nil, fault.Field("inputs", "give a "+in.Type, "the input %s must be a %s", in.Name, in.Type)
	}
	return v, nil
}

// Run walks through the steps and returns the outputs; without any, the result of
// the last step.
func (w *Workflow) Run(ctx context.Context, inputs map[string]any, call Call) (map[string]any, error) {
	given, err := w.Given(inputs)
	if err != nil {
		return nil, err
	}
	steps := map[string]any{}
	scope := map[string]any{"inputs": given, "steps": steps}
	r := &run{call: call, scope: scope}
	var last any
	for _, s := range w.Steps {
		if last, err = r.step(ctx, s); err != nil {
			return nil, err
		}
		steps[s.ID] = last
	}
	out := map[string]any{}
	if len(w.Outputs) == 0 {
		out["result"] = last
		return out, nil
	}
	for _, o := range w.Outputs {
		if out[o.Name], err = fill(o.Value, scope); err != nil {
			return nil, fault.New(fault.Invalid, "the output %s: %v", o.Name, err)
		}
	}
	return out, nil
}

// A run counts its calls.
type run struct {
	call  Call
	scope map[string]any
	calls int
}

// step is what a step answers: one result, or a list of them for a loop. A step that
// is left out answers null.
func (r *run) step(ctx context.Context, s Step) (any, error) {
	if s.ForEach == nil {
		return r.once(ctx, s)
	}
	v, err := s.ForEach.Eval(r.scope)
	if err != nil {
		return nil, s.wrong(err)
	}
	list, ok := v.([]any)
	if !ok && v != nil {
		return nil, s.wrong(fmt.Errorf("for_each needs a list, and %s is none", s.ForEach))
	}
	if len(list) > s.Max {
		return nil, fault.Fix(fault.TooLarge, fmt.Sprintf("find fewer items, or set max in line %d (at most %d)", s.Line, MaxRepeat),
			"step %s (line %d): the list has %d items; the loop's limit is %d", s.ID, s.Line, len(list), s.Max)
	}
	out := []any{}
	defer func() { delete(r.scope, "item"); delete(r.scope, "index") }()
	for i, item := range list {
		r.scope["item"], r.scope["index"] = item, float64(i)
		one, err := r.once(ctx, s)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (r *run) once(ctx context.Context, s Step) (any, error) {
	if s.If != nil {
		v, err := s.If.Eval(r.scope)
		if err != nil {
			return nil, s.wrong(err)
		}
		if !isTrue(v) {
			return nil, nil
		}
	}
	if r.calls++; r.calls > MaxCalls {
		return nil, fault.Fix(fault.TooLarge, "make the lists shorter", "the workflow makes more than %d calls", MaxCalls)
	}
	filled, err := fill(s.Arguments, r.scope)
	if err != nil {
		return nil, s.wrong(err)
	}
	args, err := json.Marshal(filled)
	if err != nil {
		return nil, s.wrong(err)
	}
	if s.Arguments == nil {
		args = nil
	}
	raw, err := r.call(ctx, s, args)
	if err != nil {
		return nil, fmt.Errorf("step %s (line %d): %w", s.ID, s.Line, err)
	}
	var v any
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, s.wrong(err)
		}
	}
	return v, nil
}

func (s Step) wrong(err error) error {
	return fault.New(fault.Invalid, "step %s (line %d): %v", s.ID, s.Line, err)
}
