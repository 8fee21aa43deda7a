package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lore/internal/llm"
	"lore/internal/llm/llmtest"
	"lore/internal/llm/retry"
)

func fail(k llm.ErrorKind) llmtest.Step { return llmtest.Fail(&llm.Error{Kind: k, Message: "m"}) }

func TestAsksAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps []llmtest.Step
		asked int
		good  bool
	}{
		"at once":           {[]llmtest.Step{llmtest.Text("a")}, 1, true},
		"rate limit":        {[]llmtest.Step{fail(llm.RateLimit), llmtest.Text("a")}, 2, true},
		"all that may pass": {[]llmtest.Step{fail(llm.Overloaded), fail(llm.Server), fail(llm.Connection), {Cut: true}, llmtest.Text("a")}, 5, true},
		"five times":        {[]llmtest.Step{fail(llm.Server), fail(llm.Server), fail(llm.Server), fail(llm.Server), fail(llm.Server), llmtest.Text("a")}, 5, false},
		"billing":           {[]llmtest.Step{fail(llm.Billing), llmtest.Text("a")}, 1, false},
		"auth":              {[]llmtest.Step{fail(llm.Auth), llmtest.Text("a")}, 1, false},
		"context length":    {[]llmtest.Step{fail(llm.ContextLength), llmtest.Text("a")}, 1, false},
		"bad request":       {[]llmtest.Step{fail(llm.BadRequest), llmtest.Text("a")}, 1, false},
		"no tools":          {[]llmtest.Step{fail(llm.NoTools), llmtest.Text("a")}, 1, false},
		"nobody there":      {[]llmtest.Step{fail(llm.Absent), llmtest.Text("a")}, 1, false},
		"not found":         {[]llmtest.Step{fail(llm.NotFound), llmtest.Text("a")}, 1, false},
		"other errors":      {[]llmtest.Step{llmtest.Fail(errors.New("x")), llmtest.Text("a")}, 1, false},
		"after a word":      {[]llmtest.Step{{Chunks: []string{"a"}, Err: &llm.Error{Kind: llm.Overloaded}}, llmtest.Text("a")}, 1, false},
		"cut after a word":  {[]llmtest.Step{{Chunks: []string{"a"}, Cut: true}, llmtest.Text("a")}, 1, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			script := llmtest.New(c.steps...)
			m := retry.Model(script, retry.Policy{})
			a, err := llm.Ask(t.Context(), m, llm.Request{})
			if len(script.Requests()) != c.asked || (err == nil) != c.good || c.good && a.Text() != "a" || m.ID() != script.ID() {
				t.Errorf("%s: asked %d times, %v", name, len(script.Requests()), err)
			}
		})
	}
}

func TestTheErrorIsTheProviders(t *testing.T) {
	t.Parallel()
	want := &llm.Error{Kind: llm.Overloaded, Message: "m"}
	m := retry.Model(llmtest.New(llmtest.Step{Chunks: []string{"a"}, Err: want}), retry.Policy{})
	if _, err := llm.Ask(t.Context(), m, llm.Request{}); err != error(want) {
		t.Errorf("%#v", err)
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var waits []retry.Wait
		down := &llm.Error{Kind: llm.Server}
		asked := 0
		begin := time.Now()
		err := retry.Do(t.Context(), retry.Policy{Tries: 9, Tell: func(w retry.Wait) { waits = append(waits, w) }}, func() error { asked++; return down })
		if err != error(down) || asked != 9 || len(waits) != 8 {
			t.Fatal(err, asked, len(waits))
		}
		var sum time.Duration
		for i, w := range waits {
			least := min(time.Second/2<<i, 30*time.Second)
			if w.For < least || w.For > min(2*least, 30*time.Second) || w.Next != i+2 || w.Of != 9 || w.Err != error(down) {
				t.Errorf("%d: %+v", i, w)
			}
			sum += w.For
		}
		if d := time.Since(begin); d != sum {
			t.Error(d, sum)
		}
	})
}

func TestHonoursWhatTheServerAsks(t *testing.T) {
	t.Parallel()
	for wait, tries := range map[time.Duration]int{20 * time.Second: 2, 2 * time.Minute: 2, time.Hour: 1} {
		var slept []time.Duration
		p := retry.Policy{Tries: 2, Sleep: func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil }}
		asked := 0
		_ = retry.Do(t.Context(), p, func() error { asked++; return &llm.Error{Kind: llm.RateLimit, RetryAfter: wait} })
		if asked != tries || len(slept) != tries-1 || tries == 2 && slept[0] != wait {
			t.Error(wait, asked, slept)
		}
	}
}

func TestTheEndOfTheContextEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := retry.Model(llmtest.New(fail(llm.Server), llmtest.Text("a")), retry.Policy{Tell: func(retry.Wait) { cancel() }})
		begin := time.Now()
		if _, err := llm.Ask(ctx, m, llm.Request{}); !errors.Is(err, context.Canceled) || time.Since(begin) != 0 {
			t.Error(err)
		}
	})
}

func TestTheReaderLeaves(t *testing.T) {
	t.Parallel()
	script := llmtest.New(llmtest.Step{Chunks: []string{"a", "b"}})
	for range retry.Model(script, retry.Policy{}).Stream(t.Context(), llm.Request{}) {
		break
	}
	if script.Left() != 1 || script.Open() != 0 {
		t.Error("the model was not told")
	}
}

// flaky is a provider that fails every other time.
type flaky struct{ asked int }

func (f *flaky) trouble() error {
	if f.asked++; f.asked%2 == 1 {
		return &llm.Error{Kind: llm.Overloaded}
	}
	return nil
}

func (f *flaky) Name() string { return "flaky" }
func (f *flaky) Model(name string, _ llm.Tuning) llm.Model {
	return llmtest.Named(name, fail(llm.Server), llmtest.Text("a"))
}

func (f *flaky) Models(context.Context) ([]llm.Info, error) {
	return []llm.Info{{Name: "m"}}, f.trouble()
}

func (f *flaky) Embed(context.Context, string, []string) ([][]float32, llm.Usage, error) {
	return [][]float32{{1}}, llm.Usage{In: 1}, f.trouble()
}

func TestProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := retry.Provider(&flaky{}, retry.Policy{})
		if infos, err := p.Models(t.Context()); err != nil || len(infos) != 1 {
			t.Error(infos, err)
		}
		if v, u, err := p.Embed(t.Context(), "m", nil); err != nil || len(v) != 1 || u.In != 1 {
			t.Error(v, u, err)
		}
		if a, err := llm.Ask(t.Context(), p.Model("m", llm.Tuning{}), llm.Request{}); err != nil || a.Text() != "a" || p.Name() != "flaky" {
			t.Error(a, err)
		}
	})
}
