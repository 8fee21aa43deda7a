package passage

import (
	"testing"

	"lore/internal/agent/citation"
)

// TestBest: rare words of a question count more than those that stand everywhere, and what
// is nobody's is not quoted.
func TestBest(t *testing.T) {
	t.Parallel()
	read := []citation.Source{
		{Path: "Water.md", Text: "# Water\n\nI do not know how much water does to tea.\n\nHow much does it take?\n\nHow does it work, and how much?"},
		{Path: "Puer.md", Text: "A classic cake weighs 357 g."},
		{Path: "", Text: "A classic cake weighs 500 g, says a stranger."},
	}
	got := Best("How much does a classic cake weigh?", read)
	if len(got) == 0 || got[0] != read[1] {
		t.Errorf("%+v", got)
	}
	if got := Best("Samovar?", read); got != nil {
		t.Errorf("%+v", got)
	}
}
