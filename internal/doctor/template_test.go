package doctor

import "testing"

func TestTemplates(t *testing.T) {
	set := templates{"my forms/"}
	for note, want := range map[string]bool{
		"My forms/Day.md": true, "Templates/Day.md": true, "a/_templates/b/Day.md": true, "Template/x.md": true,
		"Notes/Templates.md": false, "My forms.md": false, "Notes/Tea.md": false, "contemplates/x.md": false,
	} {
		if got := set.has(note); got != want {
			t.Errorf("%s: %v, want %v", note, got, want)
		}
	}
}
