package tool

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"lore/internal/change"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/index"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/tool/schema"
)

// Deps is what a call needs besides the tool. Each part is one function or a
// small contract, so that a test takes the real one. What is missing is not
// done: without a Ledger nothing can be changed, without Questions nothing can
// be asked.
type Deps struct {
	Log *slog.Logger
	Now func() time.Time
	// ID makes an identifier that begins with the given word and is never made
	// twice.
	ID     func(word string) string
	Bus    *event.Bus
	Policy policy.Settings
	Meter  *policy.Meter

	Questions Questions
	Ledger    Ledger
	// Taints remembers callers that read text from outside; may be nil.
	Taints Taints
	// HasPIN reports whether a person set a PIN for approvals; may be nil.
	HasPIN func(ctx context.Context) (bool, error)
	// Writable says why this process cannot change the vault now, or nil.
	Writable func(ctx context.Context) error
	// Apply makes the edits under an operation's id, all or none.
	Apply func(ctx context.Context, op string, set change.Set) error
	// Real tells which files paths lead to when they are links; may be nil.
	Real func(paths []string) []string
	// Folders lists what a person can choose from when they share notes: folders
	// ("Work/"), and [policy.TopLevel] for notes outside of them; may be nil.
	Folders func(ctx context.Context) ([]string, error)
	// Untrusted tells the names, paths and ids, by which results show notes that
	// are marked as untrusted; may be nil.
	Untrusted func(ctx context.Context) (index.Marked, error)
	// Since tells what a caller has done to the vault since a time, as one set; may
	// be nil.
	Since func(ctx context.Context, who access.Principal, since time.Time) (change.Set, error)
	// Warn tells what a person should know about the files of a set before it is
	// made; may be nil.
	Warn func(set change.Set) []string
	// Settle waits until the index has seen these paths, so that the next
	// question reads what was just written.
	Reindex func(ctx context.Context, paths []string) error
	// Prepare returns the context in which a tool runs: what reads the index in
	// it waits until the index is as good as the call needs. May be nil.
	Prepare func(ctx context.Context, n IndexNeed) context.Context
	// Fetch brings in a tool of another server that is not there yet, or says
	// why it cannot be had; may be nil.
	Fetch func(ctx context.Context, name string) error
}

// The topics of events. Their data are Question, Finished and Listed.
const (
	TopicAsked    = "approval.asked"
	TopicAnswered = "approval.answered"
	TopicOver     = "approval.over"
	TopicCall     = "call.finished"
	TopicTools    = "tools.changed"
	// TopicVault announces the state of the vault. Its data is a VaultState.
	TopicVault = "vault.state"
	// TopicNotice tells persons something that a tool has to say later. Its data is a
	// Notice.
	TopicNotice = "notice"
	// TopicMissed says that there may have been news that nobody here heard:
	// another process holds the vault now. It has no data.
	TopicMissed = "news.missed"
)

// A Notice is a line for persons.
type Notice struct {
	Text string `json:"text"`
}

// A VaultState tells whether the notes of the vault are where they were.
type VaultState struct {
	// Mode is "online", "read_only", "settling" or "offline".
	Mode   string `json:"mode"`
	Reason string `json:"reason,omitempty"`
	// Missing is the number of notes that a person can list and accept as deleted.
	Missing int `json:"missing"`
}

// A Registry is the complete list of tools, the same for every surface, and the
// only way to run one.
type Registry struct {
	deps    Deps
	tainted taintList
	marked  markedNames

	mu       sync.RWMutex
	tools    []*Tool          // by name; replaced whole, never changed in place
	names    map[string]*Tool // with aliases
	off      map[string]bool
	instruct map[string]string
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
	if deps.ID == nil {
		deps.ID = func(word string) string { return word + "-" + strings.ToLower(rand.Text()) }
	}
	if deps.Meter == nil {
		deps.Meter = policy.NewMeter(policy.DefaultLimits())
	}
	r := &Registry{deps: deps, names: map[string]*Tool{}, off: map[string]bool{}, instruct: map[string]string{}}
	if err := r.add(slices.Concat(sets...)); err != nil {
		panic(err)
	}
	return r
}

func (r *Registry) add(tools []*Tool) error {
	names := maps.Clone(r.names)
	for _, t := range tools {
		for _, n := range append([]string{t.Name}, t.Aliases...) {
			if names[n] != nil {
				return fault.New(fault.Conflict, "tool %q registered twice", n)
			}
			names[n] = t
		}
	}
	all := slices.Concat(r.tools, tools)
	slices.SortFunc(all, func(a, b *Tool) int { return cmp.Compare(a.Name, b.Name) })
	r.tools, r.names = all, names
	return nil
}

// Add registers tools while the program runs, all or none.
func (r *Registry) Add(tools ...*Tool) error {
	r.mu.Lock()
	err := r.add(tools)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	for _, t := range tools {
		r.deps.Log.Info("tool registered", "tool", t.Name, "set", t.Set, "effect", string(t.Effect))
	}
	r.listed()
	return nil
}

// Remove takes a whole toolset away.
func (r *Registry) Remove(set string) {
	r.mu.Lock()
	r.tools = slices.DeleteFunc(slices.Clone(r.tools), func(t *Tool) bool { return t.Set == set })
	r.names = maps.Clone(r.names)
	maps.DeleteFunc(r.names, func(_ string, t *Tool) bool { return t.Set == set })
	r.mu.Unlock()
	r.deps.Log.Info("tools removed", "set", set)
	r.listed()
}

// Swap puts these tools into the place of all that came from the same source,
// in one step: a caller sees the old ones or the new ones, and no tool of any
// other source is touched. A tool whose name is taken is left out, and named in
// the error; the others are there.
func (r *Registry) Swap(source string, tools []*Tool) error {
	if source == "" {
		return fault.New(fault.Internal, "Lore's own tools have no source and cannot be removed")
	}
	r.mu.Lock()
	ours := func(t *Tool) bool { return t.Source == source }
	before := slices.DeleteFunc(slices.Clone(r.tools), func(t *Tool) bool { return !ours(t) })
	r.tools = slices.DeleteFunc(slices.Clone(r.tools), ours)
	r.names = maps.Clone(r.names)
	maps.DeleteFunc(r.names, func(_ string, t *Tool) bool { return ours(t) })
	var errs []error
	added := 0
	for _, t := range tools {
		if !ours(t) {
			errs = append(errs, fault.New(fault.Internal, "tool %q does not belong to the source %q", t.Name, source))
			continue
		}
		err := r.add([]*Tool{t})
		if errs = append(errs, err); err == nil {
			added++
		}
	}
	r.mu.Unlock()
	if len(before) > 0 || added > 0 {
		r.deps.Log.Info("tools replaced", "source", source, "before", len(before), "tools", added)
		r.listed()
	}
	return errors.Join(errs...)
}

// ReplaceOwn puts these tools into the place of all that a person wrote, in one
// step. Those that are off stay off.
func (r *Registry) ReplaceOwn(tools []*Tool, off []string) error {
	r.mu.Lock()
	before := len(r.tools)
	own := func(t *Tool) bool { return t.Set == Own }
	r.tools = slices.DeleteFunc(slices.Clone(r.tools), own)
	r.names = maps.Clone(r.names)
	maps.DeleteFunc(r.names, func(_ string, t *Tool) bool { return own(t) })
	before -= len(r.tools)
	var errs []error
	for _, t := range tools {
		errs = append(errs, r.add([]*Tool{t}))
		if slices.Contains(off, t.Name) || slices.Contains(off, Own) {
			r.off[t.Name] = true
		}
	}
	r.mu.Unlock()
	if before+len(tools) > 0 {
		r.deps.Log.Info("own tools replaced", "before", before, "tools", len(tools))
		r.listed()
	}
	return errors.Join(errs...)
}

// Switch turns a tool, or all of a toolset, on or off for everyone.
func (r *Registry) Switch(name string, on bool) error {
	r.mu.Lock()
	found := false
	for _, t := range r.tools {
		if t.Name == name || t.Set == name || slices.Contains(t.Aliases, name) {
			found = true
			if on {
				delete(r.off, t.Name)
			} else {
				r.off[t.Name] = true
			}
		}
	}
	r.mu.Unlock()
	if !found && IsExternal(name) {
		return nil // none is here; see where they join
	}
	if !found {
		_, err := r.Find(name)
		return err
	}
	r.deps.Log.Info("tool switched", "tool", name, "on", on)
	r.listed()
	return nil
}

// Listed is the data of [TopicTools]: the list of tools is another one now.
type Listed struct {
	Tools int `json:"tools"`
}

func (r *Registry) listed() {
	r.deps.Bus.Publish(TopicTools, Listed{len(r.On())}, true)
}

// Instruct replaces what models are told about a tool; "" brings its own words
// back.
func (r *Registry) Instruct(name, text string) error {
	// A tool of another server may come later.
	if !strings.HasPrefix(name, ExternalPrefix) {
		t, err := r.Find(name)
		if err != nil {
			return err
		}
		name = t.Name
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.instruct[name] = text
	return nil
}

// Instructions is what models are told about a tool beyond its description.
func (r *Registry) Instructions(t *Tool) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return cmp.Or(r.instruct[t.Name], t.Instructions)
}

// All returns the tools in the order of their names, those that are switched
// off too.
func (r *Registry) All() []*Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.tools)
}

// On returns the tools that are switched on.
func (r *Registry) On() []*Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.DeleteFunc(slices.Clone(r.tools), func(t *Tool) bool { return r.off[t.Name] })
}

// Find returns the tool of that name or alias.
func (r *Registry) Find(name string) (*Tool, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if t := r.names[name]; t != nil {
		return t, nil
	}
	var names []string
	for _, t := range r.tools {
		names = append(names, t.Name)
	}
	return nil, Unknown(name, names)
}

// maxName is how much of the name of a tool is repeated or recorded: longer ones
// are none.
const maxName = 200

func shortName(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "") + "…"
}

// Unknown is the error for a tool that is none of names.
func Unknown(name string, names []string) error {
	err := &fault.Report{Kind: fault.NotFound, Message: fmt.Sprintf("unknown tool %q", shortName(name))}
	if near := schema.Nearest(name, names, 3); len(near) > 0 {
		err.Fix = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return err
}

// fetch is Find, and asks for a tool of another server that is not there yet.
func (r *Registry) fetch(ctx context.Context, name string) (*Tool, error) {
	t, err := r.Find(name)
	if err == nil || r.deps.Fetch == nil || !strings.HasPrefix(name, ExternalPrefix) {
		return t, err
	}
	for range 2 { // a server that goes between the two knows of it when it is asked again
		if err := r.deps.Fetch(ctx, name); err != nil {
			return nil, err
		}
		if t, err = r.Find(name); err == nil {
			return t, nil
		}
	}
	return nil, err
}

func (r *Registry) isOff(t *Tool) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.off[t.Name]
}
