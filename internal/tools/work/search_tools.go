package work

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/paging"
	"lore/internal/tools/toolkit"
)

// SearchTools: Find a tool by what it does, also among those that are not
// offered here or are turned off.
type SearchTools struct {
	// What it should do, in a few words.
	Query string `json:"query"`
	// Max tools.
	Limit int `json:"limit,omitempty" default:"8" min:"1" max:"50"`
}

// Help is the text for people.
func (SearchTools) Help() tool.Help {
	return tool.Help{
		Short: "Find a tool by what it does",
		Long:  "Searches the names, descriptions and toolsets of all tools, including those that are turned off. lore tools lists them all.",
		Flags: map[string]string{
			"query": "what the tool should do",
			"limit": "maximum number of tools",
		},
		Examples: []string{"broken links", "undo --limit 3"},
	}
}

// FoundTools are tools, the best match first.
type FoundTools struct {
	Tools []FoundTool `json:"tools"`
	Total int         `json:"total"`
	More  string      `json:"more,omitempty"`
}

// FoundTool is one tool.
type FoundTool struct {
	Name    string `json:"name"`
	Toolset string `json:"toolset"`
	// Effect is "read", "change" or "act".
	Effect access.Effect `json:"effect"`
	// Description is empty for tools of other servers, whose words are not Lore's.
	Description string `json:"description,omitempty"`
	// Server that the tool is of, if not Lore's.
	Server string `json:"server,omitempty"`
	// Off says that the tool is turned off, and TurnOn how a person turns it on.
	Off    bool   `json:"off,omitempty"`
	TurnOn string `json:"turn_on,omitempty"`
}

// Run ranks the tools.
func (in SearchTools) Run(ctx context.Context, env Env) (FoundTools, error) {
	var all, on []*tool.Tool
	if env.Tools != nil {
		all, on = env.Tools()
	}
	words := searchWords(in.Query)
	matches := make([][]float64, len(all)) // of each tool, for each word
	common := make([]int, len(words))      // tools that have a word
	for i, t := range all {
		matches[i] = matchTool(t, words)
		for w, m := range matches[i] {
			if m > 0 {
				common[w]++
			}
		}
	}
	type ranked struct {
		FoundTool
		score float64
	}
	var list []ranked
	for i, t := range all {
		score := 0.0
		for w, m := range matches[i] { // a word that few tools have says more
			if m > 0 {
				score += m * math.Log(1+float64(len(all))/float64(common[w]))
			}
		}
		if score > 0 && (!t.Persons || tool.Caller(ctx).Kind == access.Person) {
			list = append(list, ranked{found(t, all, on), score})
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.Name, b.Name)) })
	page, _ := paging.Cut(list, 0, in.Limit)
	out := FoundTools{Tools: []FoundTool{}, Total: len(list)}
	for _, r := range page {
		out.Tools = append(out.Tools, r.FoundTool)
	}
	if len(page) < len(list) {
		out.More = toolkit.Count(len(list)-len(page), "more tool") + "; raise limit"
	}
	return out, nil
}

func found(t *tool.Tool, all, on []*tool.Tool) FoundTool {
	f := FoundTool{Name: t.Name, Toolset: t.Set, Effect: t.Effect, Description: t.Doc, Server: t.Source}
	if t.Source != "" {
		f.Description = ""
	}
	if slices.Contains(on, t) {
		return f
	}
	f.Off, f.TurnOn = true, "lore config set tools."+t.Name+" on"
	// A set that is off goes before what is said of one tool.
	if ofSet := func(o *tool.Tool) bool { return o.Set == t.Set && o != t }; slices.ContainsFunc(all, ofSet) && !slices.ContainsFunc(on, ofSet) {
		f.TurnOn = "lore config set tools." + t.Set + " on"
	}
	return f
}

// searchWords are the words of a text, without the end that a plural has.
func searchWords(text string) []string {
	var out []string
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) > 3 {
			w = strings.TrimSuffix(w, "s")
		}
		out = append(out, w)
	}
	return out
}

// matchTool says for each word how much a tool has to do with it; a word of its
// name counts most.
func matchTool(t *tool.Tool, words []string) []float64 {
	name := searchWords(t.Name + " " + strings.Join(t.Aliases, " ") + " " + t.Short)
	doc := searchWords(t.Doc + " " + t.Help.Short + " " + t.Set + " " + t.Source)
	var arguments []string
	for a := range t.Input().Properties {
		arguments = append(arguments, searchWords(a)...)
	}
	out := make([]float64, len(words))
	for i, w := range words {
		begins := func(n string) bool { return len(w) > 2 && strings.HasPrefix(n, w) }
		switch {
		case slices.Contains(name, w):
			out[i] = 8
		case slices.ContainsFunc(name, begins):
			out[i] = 5
		case slices.Contains(doc, w):
			out[i] = 3
		case slices.ContainsFunc(doc, begins), slices.Contains(arguments, w):
			out[i] = 1
		}
	}
	return out
}

// View is a table.
func (f FoundTools) View() tool.View {
	v := tool.View{Head: []string{"tool", "set", "effect", "what it does"}, Foot: f.More}
	for _, t := range f.Tools {
		what := t.Description
		if t.Server != "" {
			what = "a tool of the server " + t.Server
		}
		if t.Off {
			what += " (off; turn it on with " + t.TurnOn + ")"
		}
		v.Rows = append(v.Rows, []string{t.Name, t.Toolset, string(t.Effect), what})
	}
	if f.Total == 0 {
		v.Foot = "no tool matches"
	}
	return v
}
