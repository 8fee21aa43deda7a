package tool

import "slices"

// formerSets are names that toolsets had before, with the toolsets that have
// their tools now. Flags, headers, saved chats and settings may still use them.
var formerSets = map[string][]string{
	"find": {"explore", "organize", "files"},
}

// CurrentSets replaces former names of toolsets by those that are in use.
func CurrentSets(names []string) []string {
	if !slices.ContainsFunc(names, func(n string) bool { return formerSets[n] != nil }) {
		return names
	}
	var out []string
	for _, n := range names {
		for _, s := range currentSet(n) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

func currentSet(name string) []string {
	if sets := formerSets[name]; sets != nil {
		return sets
	}
	return []string{name}
}

// MoveFormerSets gives what is set for a former name of a toolset to the
// toolsets that have its tools now, unless something is set for those.
func MoveFormerSets(settings map[string]string) {
	for name, sets := range formerSets {
		value, has := settings[name]
		if !has {
			continue
		}
		delete(settings, name)
		for _, s := range sets {
			if _, own := settings[s]; !own {
				settings[s] = value
			}
		}
	}
}
