package conformance

import (
	"context"
	"sync"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/tool"
)

// An Env is what the fixtures of the registry may touch.
type Env struct {
	// Flip makes the list of tools another one at every call.
	Flip func() error
}

// AddFixtures adds the fixtures that our own registry can express. Those that
// change something stand for the suites' questions: the suites never confirm,
// so the note that they plan is never written. Only the process that holds the
// vault has a registry to add them to.
func AddFixtures(reg *tool.Registry) error {
	if reg == nil {
		return fault.Fix(fault.Busy, "stop it first", "another lore process has this vault open")
	}
	env := Env{Flip: flip(reg)}
	return reg.Add(tool.Toolset(Set, comments,
		tool.Read[TestSimpleText](env, tool.Drawn(tool.Text)),
		tool.Read[TestErrorHandling](env),
		tool.Read[TestTriggerToolChange](env, tool.Drawn(tool.Text)),
		tool.Change[TestInputRequiredResultRequestState](env),
		tool.Change[TestInputRequiredResultTamperedState](env),
	)...)
}

// flip lets one more tool come and go.
func flip(reg *tool.Registry) func() error {
	const set = Set + "-passing"
	var mu sync.Mutex
	there := false
	return func() error {
		mu.Lock()
		defer mu.Unlock()
		if there = !there; there {
			return reg.Add(tool.Toolset(set, comments, tool.Read[TestPassing](Env{}, tool.Drawn(tool.Text)))...)
		}
		reg.Remove(set)
		return nil
	}
}

// comments stand here and not in a generated file: these tools are no toolset
// that people read about.
var comments = map[string]tool.Comment{
	"TestSimpleText":                       {Text: "TestSimpleText answers with one text."},
	"TestErrorHandling":                    {Text: "TestErrorHandling always goes wrong."},
	"TestTriggerToolChange":                {Text: "TestTriggerToolChange makes the list of tools another one."},
	"TestPassing":                          {Text: "TestPassing is there at times."},
	"TestInputRequiredResultRequestState":  {Text: "TestInputRequiredResultRequestState wants to write a note, and goes on with the state that it gave away."},
	"TestInputRequiredResultTamperedState": {Text: "TestInputRequiredResultTamperedState wants to write a note, and refuses a state that is not its own."},
}

// A Said is a text as a result.
type Said struct {
	Text string `json:"text"`
}

// View shows the text.
func (s Said) View() tool.View { return tool.View{Text: s.Text} }

// TestSimpleText answers with one text.
type TestSimpleText struct{}

// Run answers.
func (TestSimpleText) Run(context.Context, Env) (Said, error) {
	return Said{"This is a simple text response for testing."}, nil
}

// TestErrorHandling always goes wrong.
type TestErrorHandling struct{}

// Run goes wrong.
func (TestErrorHandling) Run(context.Context, Env) (Said, error) {
	return Said{}, fault.New(fault.Unavailable, "this tool always fails, for testing")
}

// TestTriggerToolChange makes the list of tools another one.
type TestTriggerToolChange struct{}

// Run flips the list.
func (TestTriggerToolChange) Run(_ context.Context, env Env) (Said, error) {
	return Said{"the list of tools has changed"}, env.Flip()
}

// TestPassing is there at times.
type TestPassing struct{}

// Run answers.
func (TestPassing) Run(context.Context, Env) (Said, error) { return Said{"here"}, nil }

// TestInputRequiredResultRequestState wants to write a note.
type TestInputRequiredResultRequestState struct{}

// Plan plans the note.
func (TestInputRequiredResultRequestState) Plan(context.Context, Env) (Said, change.Set, error) {
	return plan()
}

// TestInputRequiredResultTamperedState wants to write a note.
type TestInputRequiredResultTamperedState struct{}

// Plan plans the note.
func (TestInputRequiredResultTamperedState) Plan(context.Context, Env) (Said, change.Set, error) {
	return plan()
}

// plan is the note that nobody confirms.
func plan() (Said, change.Set, error) {
	return Said{"written"}, change.Set{change.Create("Conformance test.md", "\n")}, nil
}
