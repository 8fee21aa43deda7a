package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"lore/internal/access"
	"lore/internal/fault"
)

// Deps is what a call needs besides the tool. Each part is one function, so a
// test needs no mock.
type Deps struct {
	Log *slog.Logger
	Now func() time.Time
}

// A Registry is the complete list of tools, the same for every surface, and the
// only way to run one.
type Registry struct {
	deps  Deps
	tools []*Tool
	names map[string]*Tool // with aliases
}

// NewRegistry collects the toolsets into one list. Two tools of one name are a
// mistake in the program, so it panics.
func NewRegistry(deps Deps, sets ...[]*Tool) *Registry {
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	all := slices.Concat(sets...)
	slices.SortFunc(all, func(a, b *Tool) int { return cmp.Compare(a.Name, b.Name) })
	r := &Registry{deps: deps, tools: all, names: make(map[string]*Tool, 2*len(all))}
	for _, t := range all {
		for _, n := range append([]string{t.Name}, t.Aliases...) {
			if r.names[n] != nil {
				panic(fmt.Sprintf("tool %q registered twice", n))
			}
			r.names[n] = t
		}
	}
	return r
}

// All returns the tools in the order of their names.
func (r *Registry) All() []*Tool { return slices.Clone(r.tools) }

// Find returns the tool of that name or alias.
func (r *Registry) Find(name string) (*Tool, error) {
	if t := r.names[name]; t != nil {
		return t, nil
	}
	var names []string
	for _, t := range r.tools {
		names = append(names, t.Name)
	}
	err := &fault.Report{Kind: fault.NotFound, Message: fmt.Sprintf("unknown tool %q", name)}
	if near := Nearest(name, names, 3); len(near) > 0 {
		err.Fix = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return nil, err
}

// Call runs a tool for a principal. It never waits for a person. The arguments
// may be an object, an object inside a string, or nothing.
func (r *Registry) Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (res Result, err error) {
	t, err := r.Find(name)
	if err != nil {
		return Result{}, err
	}
	start := r.deps.Now()
	log := r.deps.Log.With("tool", t.Name, "surface", who.Surface, "principal", string(who.Kind))
	log.Debug("call started")
	defer func() {
		took := r.deps.Now().Sub(start)
		if err != nil {
			log.Info("call ended", "ok", false, "kind", string(fault.Of(err)), "duration_ms", took.Milliseconds())
			return
		}
		log.Info("call ended", "ok", true, "duration_ms", took.Milliseconds())
	}()
	if !who.May(access.Read) {
		return Result{}, fault.New(fault.Denied, "%s: this caller has no right to read", t.Name)
	}
	lenient := who.Kind == access.Agent || who.Kind == access.MCP
	canon, notices, err := canonical(t.schema(), args, lenient)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", t.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	value, err := r.guarded(ctx, t, canon)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return Result{}, fault.New(fault.Cancelled, "%s took longer than %s", t.Name, t.Timeout)
		}
		return Result{}, err
	}
	return Result{Success: true, Notices: notices, Value: value, Tool: t}, nil
}

// guarded turns a panic of a tool into an error that does not repeat its
// arguments, which may hold private text.
func (r *Registry) guarded(ctx context.Context, t *Tool, args json.RawMessage) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.deps.Log.Error("a tool panicked", "tool", t.Name, "stack", string(debug.Stack()))
			err = fault.New(fault.Internal, "%s stopped because of a mistake in Lore", t.Name)
		}
	}()
	return t.run(ctx, args)
}
