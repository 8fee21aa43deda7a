package eval

import "slices"

// A Run is one try of a case, as it is told.
type Run struct {
	Pass    bool     `json:"pass"`
	Reasons []string `json:"reasons,omitempty"`
	// Failed says why there is no answer.
	Failed  string   `json:"failed,omitempty"`
	Tools   []string `json:"tools,omitempty"` // in the order of the calls
	Answer  string   `json:"answer"`
	Steps   int      `json:"steps"`
	Calls   int      `json:"calls"`
	In      int      `json:"tokens_in"`
	Out     int      `json:"tokens_out"`
	Cost    *float64 `json:"cost_usd"`
	Seconds float64  `json:"seconds"`
}

// NewRun tells an outcome and how it is judged.
func NewRun(c *Case, o *Outcome) Run {
	r := Run{
		Reasons: c.Judge(o), Failed: o.Failed, Answer: o.Answer, Steps: o.Steps, In: o.In, Out: o.Out, Cost: o.Cost, Seconds: o.Took.Seconds(),
	}
	r.Pass = len(r.Reasons) == 0
	for _, m := range o.Calls {
		if !m.Given {
			r.Tools = append(r.Tools, m.Tool)
		}
	}
	r.Calls = len(r.Tools)
	return r
}

// Tried is a case with its tries.
type Tried struct {
	ID     string `json:"id"`
	Kind   string `json:"kind,omitempty"`
	Passed int    `json:"passed"`
	Runs   []Run  `json:"runs"`
}

// Add counts one more try.
func (t *Tried) Add(r Run) {
	t.Runs = append(t.Runs, r)
	if r.Pass {
		t.Passed++
	}
}

// A Score is how well one model did.
type Score struct {
	Model string `json:"model"`
	Cases int    `json:"cases"`
	Runs  int    `json:"runs"` // of all cases
	// Pass1 is how likely one try passes: the mean over the cases.
	Pass1 float64 `json:"pass_at_1"`
	// PassK is the share of cases that every try passed.
	PassK float64 `json:"pass_hat_k"`
	// Failed is how many tries had no answer at all.
	Failed int `json:"failed"`
	// GaveUp says why the model was not tried to the end.
	GaveUp string `json:"gave_up,omitempty"`
	// The means of one try.
	Steps   float64 `json:"steps"`
	Calls   float64 `json:"calls"`
	In      float64 `json:"tokens_in"`
	Out     float64 `json:"tokens_out"`
	Seconds float64 `json:"seconds"`
	// Cost is that of all tries; nil when it is not known of every one.
	Cost  *float64 `json:"cost_usd"`
	Kinds []Kind   `json:"kinds,omitempty"`
	Tried []Tried  `json:"results"`
}

// A Kind is how well a model did in the cases of one kind.
type Kind struct {
	Kind  string  `json:"kind"`
	Cases int     `json:"cases"`
	Pass1 float64 `json:"pass_at_1"`
	PassK float64 `json:"pass_hat_k"`
}

// kindsOf adds up kinds, in the order in which they come. Cases of no kind do not count.
func kindsOf(tried []Tried) (out []Kind) {
	for _, t := range tried {
		if t.Kind == "" || len(t.Runs) == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(k Kind) bool { return k.Kind == t.Kind })
		if i < 0 {
			i, out = len(out), append(out, Kind{Kind: t.Kind})
		}
		out[i].Cases++
		out[i].Pass1 += float64(t.Passed) / float64(len(t.Runs))
		if t.Passed == len(t.Runs) {
			out[i].PassK++
		}
	}
	for i := range out {
		out[i].Pass1 /= float64(out[i].Cases)
		out[i].PassK /= float64(out[i].Cases)
	}
	return out
}

// NewScore adds up what was tried. Cases without a try do not count.
func NewScore(model string, tried []Tried) Score {
	s := Score{Model: model, Kinds: kindsOf(tried), Tried: tried}
	cost, priced := 0.0, true
	for _, t := range tried {
		if len(t.Runs) == 0 {
			continue
		}
		s.Cases++
		s.Pass1 += float64(t.Passed) / float64(len(t.Runs))
		if t.Passed == len(t.Runs) {
			s.PassK++
		}
		for _, r := range t.Runs {
			s.Runs++
			s.Steps += float64(r.Steps)
			s.Calls += float64(r.Calls)
			s.In += float64(r.In)
			s.Out += float64(r.Out)
			s.Seconds += r.Seconds
			if r.Failed != "" {
				s.Failed++
			}
			if r.Cost == nil {
				priced = false
				continue
			}
			cost += *r.Cost
		}
	}
	if s.Cases == 0 {
		return s
	}
	s.Pass1 /= float64(s.Cases)
	s.PassK /= float64(s.Cases)
	for _, v := range []*float64{&s.Steps, &s.Calls, &s.In, &s.Out, &s.Seconds} {
		*v /= float64(s.Runs)
	}
	if priced {
		s.Cost = &cost
	}
	return s
}
