package prices

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"lore/internal/llm"
)

// An entry is one model: by which names it goes, and what it costs.
type entry struct {
	Match   []alternative `json:"m"`
	Context int           `json:"c"`
	Prices  []rates       `json:"p"`
}

func (e *entry) fits(model string) bool {
	for _, a := range e.Match {
		if a.fits(model) {
			return true
		}
	}
	return false
}

// at is what counts at a moment: the last rates whose condition holds.
func (e *entry) at(t time.Time) *rates {
	t = t.UTC()
	for i := len(e.Prices) - 1; i >= 0; i-- {
		if e.Prices[i].counts(t) {
			return &e.Prices[i]
		}
	}
	if len(e.Prices) == 0 {
		return nil
	}
	return &e.Prices[0]
}

// An alternative is rules that a name must follow, all of them.
type alternative []rule

func (a *alternative) UnmarshalJSON(raw []byte) error {
	var words []string
	if raw[0] == '"' {
		words = make([]string, 1)
		if err := json.Unmarshal(raw, &words[0]); err != nil {
			return err
		}
	} else if err := json.Unmarshal(raw, &words); err != nil {
		return err
	}
	for _, w := range words {
		if w == "" {
			return fmt.Errorf("a rule without a mark")
		}
		r := rule{mark: w[0], text: w[1:]}
		if r.mark == '~' || r.mark == '!' {
			pattern, err := regexp.Compile(r.text)
			if err != nil {
				return err
			}
			r.pattern = pattern
		}
		*a = append(*a, r)
	}
	return nil
}

func (a alternative) fits(model string) bool {
	for _, r := range a {
		if !r.fits(model) {
			return false
		}
	}
	return true
}

// A rule is about a name in small letters.
type rule struct {
	mark    byte
	text    string
	pattern *regexp.Regexp
}

func (r rule) fits(model string) bool {
	switch r.mark {
	case '=':
		return model == r.text
	case '^':
		return strings.HasPrefix(model, r.text)
	case '$':
		return strings.HasSuffix(model, r.text)
	case '*':
		return strings.Contains(model, r.text)
	case '~':
		return r.pattern.MatchString(model)
	case '!':
		return !r.pattern.MatchString(model)
	}
	return false
}

// rates are dollars for a million tokens, and when they count. What is nil has no
// price of its own.
type rates struct {
	From      string `json:"from"`  // a day
	Hours     []int  `json:"hours"` // from and to, in seconds of a day of UTC
	In        *steps `json:"i"`
	Out       *steps `json:"o"`
	Read      *steps `json:"r"`
	Write     *steps `json:"w"`
	Reasoning *steps `json:"g"`
}

func (r *rates) counts(t time.Time) bool {
	if r.From != "" && t.Format(time.DateOnly) < r.From {
		return false
	}
	if len(r.Hours) == 2 {
		now := t.Hour()*3600 + t.Minute()*60 + t.Second()
		from, to := r.Hours[0], r.Hours[1]
		if from <= to {
			return from <= now && now < to
		}
		return from <= now || now < to
	}
	return true
}

// cost is what was used at these rates. What stands in a cache or was thought is
// paid like the rest where it has no price of its own.
func (r *rates) cost(u llm.Usage) (float64, bool) {
	if u.In > 0 && r.In == nil || u.Out > 0 && r.Out == nil {
		return 0, false
	}
	sum := 0.0
	in, out := u.In, u.Out
	pay := func(own *steps, tokens int, rest *int) {
		if own != nil && tokens > 0 {
			sum += own.at(u.In) * float64(tokens)
			*rest -= tokens
		}
	}
	pay(r.Read, u.CacheRead, &in)
	pay(r.Write, u.CacheWrite, &in)
	pay(r.Reasoning, u.Reasoning, &out)
	pay(r.In, max(in, 0), &in)
	pay(r.Out, max(out, 0), &out)
	return sum / 1e6, true
}

// steps is a price that rises with the size of the whole input: all of an answer
// is paid at the last step that it reaches.
type steps struct {
	base  float64
	above []step
}

type step struct {
	tokens int
	price  float64
}

func flat(price float64) *steps { return &steps{base: price} }

func (s *steps) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		return json.Unmarshal(raw, &s.base)
	}
	var list []float64
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list)%2 != 1 {
		return fmt.Errorf("steps of a price: %v", list)
	}
	s.base = list[0]
	for i := 1; i < len(list); i += 2 {
		s.above = append(s.above, step{int(list[i]), list[i+1]})
	}
	return nil
}

func (s *steps) at(in int) float64 {
	price := s.base
	for _, a := range s.above {
		if in > a.tokens {
			price = a.price
		}
	}
	return price
}
