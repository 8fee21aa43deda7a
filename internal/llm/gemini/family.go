package gemini

import (
	"regexp"
	"strconv"
	"strings"

	"lore/internal/llm"
)

var generation = regexp.MustCompile(`^gemini-(?:[a-z]+-)*(\d+)(?:\.(\d+))?`)

// age is the generation of a model: 205 for 2.5. Names without one mean the
// newest; what is no Gemini has none.
func (m *model) age() int {
	name := strings.ToLower(m.name)
	if !strings.HasPrefix(name, "gemini") {
		return 0
	}
	match := generation.FindStringSubmatch(name)
	if match == nil {
		return 9999
	}
	major, _ := strconv.Atoi(match[1])
	minor, _ := strconv.Atoi(match[2])
	return major*100 + minor
}

// signs reports whether the model insists on signatures.
func (m *model) signs() bool { return m.age() >= 300 }

// budgets are for models that want a number; levels for those that want a word.
var (
	budgets = map[string]int{"low": 1024, "medium": 8192, "high": 24576}
	levels  = map[string]string{"low": "LOW", "medium": "MEDIUM", "high": "HIGH"}
)

// leisure is what a model needs for a short thought, beside the words that it was
// asked for: thoughts count as a part of the answer.
const leisure = 2048

// thinking is what is sent about it, and how many tokens more the answer needs
// then. A short answer wants short thoughts, which else leave nothing for it.
func (m *model) thinking(r *llm.Request) (map[string]any, int) {
	if m.age() < 205 {
		return nil, 0
	}
	out, more := map[string]any{}, 0
	if r.Think {
		out["includeThoughts"] = true
	}
	short := !r.Think && r.MaxTokens > 0
	if m.signs() {
		level := levels[m.tuning.Effort]
		if short && level == "" {
			level = "LOW"
		}
		if level == "MEDIUM" && strings.HasPrefix(m.name, "gemini-3-pro") {
			level = "" // it knows the other two alone
		}
		if level != "" {
			out["thinkingLevel"] = level
		}
		if r.MaxTokens > 0 {
			more = leisure
			if r.Think {
				more = budgets["medium"]
			}
		}
	} else {
		budget, set := budgets[m.tuning.Effort]
		switch {
		case set:
		case short && strings.Contains(m.name, "flash"):
			set = true // 0: none
		case short:
			budget, set = leisure, true
		case r.Think:
			budget, set = -1, true // as much as it likes
		}
		if set {
			out["thinkingBudget"] = budget
			more = max(budget, 0)
		}
	}
	if len(out) == 0 {
		return nil, more
	}
	return out, more
}
