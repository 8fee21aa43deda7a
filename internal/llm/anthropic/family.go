package anthropic

import (
	"regexp"
	"strconv"
	"strings"

	"lore/internal/llm"
)

// A family is what a model takes, as far as its name tells. Whatever comes next is
// taken to be like the newest; what is no Claude is asked for nothing special.
type family struct {
	claude  bool
	line    string // opus, sonnet, haiku …
	version int    // 406 for 4.6; 0: the name has none
}

var numbers = regexp.MustCompile(`(?:^|[-. ])(\d{1,2})(?:[-.](\d{1,2}))?(?:[-.:@ ]|$)`)

func familyOf(name string) family {
	_, rest, found := strings.Cut(strings.ToLower(name), "claude")
	f := family{claude: found}
	if !found {
		return f
	}
	for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' }) {
		if len(word) > 1 {
			f.line = word
			break
		}
	}
	if m := numbers.FindStringSubmatch(rest); m != nil {
		major, _ := strconv.Atoi(m[1])
		minor, _ := strconv.Atoi(m[2])
		f.version = major*100 + minor
	}
	return f
}

// newer reports whether the model is of this version or a later one. Claudes
// without a version are the newest.
func (f family) newer(version int) bool { return f.claude && (f.version == 0 || f.version >= version) }

// adaptive models decide themselves how much they think.
func (f family) adaptive() bool { return f.newer(406) }

// thinks reports whether the model can be told to.
func (f family) thinks() bool { return !f.claude || f.newer(307) }

// effort reports whether the model can be told how hard to try.
func (f family) effort() bool { return f.newer(406) || f.line == "opus" && f.version == 405 }

// tempered models can be told how freely to choose words.
func (f family) tempered() bool { return !f.newer(407) }

// formatted models can be held to a schema.
func (f family) formatted() bool {
	return !f.claude || f.newer(405) || f.line == "opus" && f.version == 401
}

// maxOut is how much an answer may be when nobody said: the API wants a number,
// refuses one that is too big for the model, and a long answer cut short is worse
// than a limit that is not reached.
func (f family) maxOut() int {
	switch {
	case !f.claude:
		return 8192
	case f.newer(307):
		return 32000
	case f.version >= 305:
		return 8192
	}
	return 4096
}

// budgets of thinking, for models that want a number.
var budgets = map[string]int{"low": 2048, "": 8192, "medium": 8192, "high": 16384}

// leastBudget is what the API asks for at least.
const leastBudget = 1024

// thinking is what is sent about it, and how long the answer may be then: thoughts
// count as a part of it. nil: the model is not told to think.
func (m *model) thinking(r *llm.Request, most int) (map[string]any, int) {
	forced := r.ToolChoice != "" && r.ToolChoice != "auto" && r.ToolChoice != "none"
	if !r.Think || forced || !m.family.thinks() {
		return nil, most
	}
	if !m.family.adaptive() && m.unsigned(r.Messages) {
		return nil, most
	}
	budget, ok := budgets[m.tuning.Effort]
	if !ok {
		budget = budgets[""]
	}
	if r.MaxTokens > 0 {
		most = r.MaxTokens + budget
	}
	if m.family.adaptive() {
		// The newest show nothing of what they think unless they are told to.
		return map[string]any{"type": "adaptive", "display": "summarized"}, most
	}
	if limit := m.family.maxOut(); most > limit {
		most = max(limit, r.MaxTokens)
	}
	said := r.MaxTokens // what must be left for words
	if said <= 0 {
		said = most / 2
	}
	budget = min(budget, most-said)
	if budget < leastBudget {
		return nil, most
	}
	return map[string]any{"type": "enabled", "budget_tokens": budget}, most
}

// unsigned reports whether calls are being answered that were made without a
// thought of this model before them: told to think, models with a budget refuse
// to go on from there.
func (m *model) unsigned(list []llm.Message) bool {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Role == llm.User {
			return false
		}
		if list[i].Role != llm.Assistant {
			continue
		}
		calls := false
		for _, p := range list[i].Parts {
			if p.Kind == llm.Reasoning && p.OpaqueBy == m.ID() {
				return false
			}
			calls = calls || p.Kind == llm.ToolCall
		}
		return calls
	}
	return false
}
