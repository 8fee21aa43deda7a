package tool

import (
	"maps"
	"slices"
	"testing"
)

func TestFormerNamesOfToolsets(t *testing.T) {
	for _, c := range []struct{ given, want []string }{
		{nil, nil},
		{[]string{}, []string{}},
		{[]string{"notes", "all"}, []string{"notes", "all"}},
		{[]string{"find"}, []string{"explore", "organize", "files"}},
		{[]string{"usual", "find", "notes", "find"}, []string{"usual", "explore", "organize", "files", "notes"}},
		{[]string{"files", "find"}, []string{"files", "explore", "organize"}},
	} {
		if got := CurrentSets(c.given); !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%q: %q, want %q", c.given, got, c.want)
		}
	}
}

func TestSettingsOfFormerToolsets(t *testing.T) {
	for _, c := range []struct{ given, want map[string]string }{
		{nil, nil},
		{map[string]string{"find": "off"}, map[string]string{"explore": "off", "organize": "off", "files": "off"}},
		{map[string]string{"find": "off", "files": "on", "notes": "ask"}, map[string]string{"explore": "off", "organize": "off", "files": "on", "notes": "ask"}},
	} {
		got := maps.Clone(c.given)
		if MoveFormerSets(got); !maps.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.given, got, c.want)
		}
	}
}
