package note

import (
	"strings"
	"testing"

	"lore/internal/change"
	"lore/internal/fault"
)

func splice(t *testing.T, src string, patches []change.Patch) string {
	t.Helper()
	now, err := change.Splice(src, patches...)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

func TestSetProperty(t *testing.T) {
	tests := []struct {
		name, src, key string
		value          any
		want           string
	}{
		{"plain scalar, comment kept", "---\na: 1 # one\nstatus: draft   # why\nb: 2\n---\nx", "status", "done", "---\na: 1 # one\nstatus: done   # why\nb: 2\n---\nx"},
		{"double quotes kept", "---\nt: \"a b\"\n---\n", "t", "c: d", "---\nt: \"c: d\"\n---\n"},
		{"single quotes kept", "---\nt: 'a b'\n---\n", "t", "it's", "---\nt: 'it''s'\n---\n"},
		{"quotes where needed", "---\nt: a\n---\n", "t", "true", "---\nt: \"true\"\n---\n"},
		{"link needs quotes", "---\nt: a\n---\n", "t", "[[x]]", "---\nt: \"[[x]]\"\n---\n"},
		{"date stays plain", "---\nd: 2024-01-01\n---\n", "d", "2024-02-02", "---\nd: 2024-02-02\n---\n"},
		{"number", "---\nc: 0.5\n---\n", "c", 0.75, "---\nc: 0.75\n---\n"},
		{"whole number", "---\nc: 1\n---\n", "c", float64(2), "---\nc: 2\n---\n"},
		{"bool", "---\np: true\n---\n", "p", false, "---\np: false\n---\n"},
		{"to nothing", "---\np: true # c\n---\n", "p", nil, "---\np: # c\n---\n"},
		{"bare key", "---\np:\nq: 1\n---\n", "p", "x", "---\np: x\nq: 1\n---\n"},
		{"bare key with comment", "---\np: # c\n---\n", "p", "x", "---\np: x # c\n---\n"},
		{"crlf", "---\r\na: 1\r\nb: 2\r\n---\r\nbody\r\n", "c", "x", "---\r\na: 1\r\nb: 2\r\nc: x\r\n---\r\nbody\r\n"},
		{"new key", "---\na: 1\n# end\n---\n", "b", "x", "---\na: 1\n# end\nb: x\n---\n"},
		{"no front matter", "# T\n", "type", "Note", "---\ntype: Note\n---\n# T\n"},
		{"bom", bom + "# T\r\n", "type", "Note", bom + "---\r\ntype: Note\r\n---\r\n# T\r\n"},
		{"empty front matter", "---\n---\n# T\n", "a", 1, "---\na: 1\n---\n# T\n"},
		{"empty file", "", "a", 1, "---\na: 1\n---\n"},
		{"no final newline", "---\na: 1\n---", "a", 2, "---\na: 2\n---"},
		{"dots", "---\na: 1\n...\nx", "a", 2, "---\na: 2\n...\nx"},
		{"indented list", "---\ntags:\n  - a\n  - b\nx: 1\n---\n", "tags", []string{"a", "c"}, "---\ntags:\n  - a\n  - c\nx: 1\n---\n"},
		{"list without indent", "---\ntags:\n- a\n- b\nx: 1\n---\n", "tags", []string{"c"}, "---\ntags:\n- c\nx: 1\n---\n"},
		{"quoted list", "---\nup:\n  - \"[[a]]\"\n---\n", "up", []string{"[[b]]", "c"}, "---\nup:\n  - \"[[b]]\"\n  - \"c\"\n---\n"},
		{"flow list", "---\ntags: [a, b] # c\n---\n", "tags", []string{"x", "y z"}, "---\ntags: [x, y z] # c\n---\n"},
		{"flow list over lines", "---\ntags: [a,\n  b]\nx: 1\n---\n", "tags", []string{"x"}, "---\ntags: [x]\nx: 1\n---\n"},
		{"list to scalar", "---\ntags: # c\n  - a\n  - b\nx: 1\n---\n", "tags", "a", "---\ntags: a # c\nx: 1\n---\n"},
		{"list to empty", "---\ntags:\n  - a\nx: 1\n---\n", "tags", []string{}, "---\ntags: []\nx: 1\n---\n"},
		{"scalar to list", "---\ntags: a # c\nx: 1\n---\n", "tags", []string{"a", "b"}, "---\ntags: # c\n  - a\n  - b\nx: 1\n---\n"},
		{"new list", "---\nx: 1\n---\n", "tags", []string{"a", "#b"}, "---\nx: 1\ntags:\n  - a\n  - \"#b\"\n---\n"},
		{"block scalar", "---\nt: |\n  a\n\n  b\nx: 1\n---\n", "t", "c\nd\n", "---\nt: |\n  c\n  d\nx: 1\n---\n"},
		{"folded to plain", "---\nt: >-\n  a\n  b\n# c\nx: 1\n---\n", "t", "c", "---\nt: c\n# c\nx: 1\n---\n"},
		{"plain over lines", "---\nt: a\n  b\nx: 1\n---\n", "t", "c", "---\nt: c\nx: 1\n---\n"},
		{"quoted key", "---\n\"my key\": 1\n---\n", "my key", 2, "---\n\"my key\": 2\n---\n"},
		{"key that needs quotes", "---\na: 1\n---\n", "b: c", 2, "---\na: 1\n\"b: c\": 2\n---\n"},
		{"wide characters", "---\nключ: значение # да\nb: 1\n---\n", "ключ", "новое", "---\nключ: новое # да\nb: 1\n---\n"},
		{"map", "---\na: 1\n---\n", "m", map[string]any{"x": 1, "y": []any{"z"}}, "---\na: 1\nm: {x: 1, y: [z]}\n---\n"},
		{"the same value", "---\na: 'x'\n---\n", "a", "x", "---\na: 'x'\n---\n"},
		{"anchor used nowhere", "---\na: &x 1\nb: 2\n---\n", "a", 3, "---\na: 3\nb: 2\n---\n"},
		{"alias", "---\na: &x 1\nb: *x\n---\n", "b", 3, "---\na: &x 1\nb: 3\n---\n"},
		{"comment beside, with the library", "---\na: >-\n  x\nb: 1  # c\nc: [x, {y: z}] # d\n---\n", "b", 2, "---\na: >-\n  x\nb: 2  # c\nc: [x, {y: z}] # d\n---\n"},
		{"flow map with comment", "---\nc: [x, {y: z}] # d\n---\n", "c", "w", "---\nc: w # d\n---\n"},
		{"old values untouched", "---\nn: 007\nd: 2024-1-1\nno: no\nq: \"\\u00e9\"\na: 1\n---\n", "a", 2, "---\nn: 007\nd: 2024-1-1\nno: no\nq: \"\\u00e9\"\na: 2\n---\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			patches, err := SetProperty(Parse("a.md", []byte(tt.src)), tt.key, tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if got := splice(t, tt.src, patches); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestSetPropertyRefuses(t *testing.T) {
	tests := []struct{ name, src, key, says string }{
		{"broken", "---\na: 1\nb: [x\n---\n", "a", "line 4"},
		{"template", "---\na: {{date}}\n---\n", "b", "line 2"},
		{"twice", "---\na: 1\na: 2\n---\n", "a", "line 2 and again on line 3"},
		{"anchor that is used", "---\na: &x 1\nb: *x\n---\n", "a", "without changing other text"},
		{"flow mapping", "---\n{a: 1}\n---\n", "a", "cannot be edited safely"},
		{"merge key", "---\na: 1\n---\n", "<<", "not a valid property name"},
		{"no key", "---\na: 1\n---\n", "", "not a valid property name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := SetProperty(Parse("a.md", []byte(tt.src)), tt.key, "new")
			if fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRemoveProperty(t *testing.T) {
	tests := []struct{ name, src, key, want string }{
		{"scalar", "---\na: 1\nb: 2 # c\nc: 3\n---\nx", "b", "---\na: 1\nc: 3\n---\nx"},
		{"list", "---\na:\n  - x\n  - y\n\n# c\nb: 1\n---\n", "a", "---\n\n# c\nb: 1\n---\n"},
		{"block", "---\na: |\n  x\n  # no comment\nb: 1\n---\n", "a", "---\nb: 1\n---\n"},
		{"last", "---\r\na: 1\r\n---\r\nx", "a", "---\r\n---\r\nx"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			patches, err := RemoveProperty(Parse("a.md", []byte(tt.src)), tt.key)
			if err != nil {
				t.Fatal(err)
			}
			if got := splice(t, tt.src, patches); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
	if _, err := RemoveProperty(Parse("a.md", nil), "x"); fault.Of(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
}
