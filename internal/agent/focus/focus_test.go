package focus

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestQuestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		request      string
		window, left int
		want         string // "": nothing is looked for
	}{
		{"What is tea?", 4096, 2000, `{"budget":5460,"question":"What is tea?"}`},
		{"What is\n  tea?", 8192, 500, `{"budget":2000,"question":"What is tea?"}`},
		{"绿茶要泡多久？", 4096, 2000, `{"budget":2730,"question":"绿茶要泡多久？"}`},
		{"What is tea?", 4096, 49, ""},
		{"What is tea?", 4096, -10, ""},
		{" \n", 4096, 2000, ""},
		{strings.Repeat("é", 1000), 4096, 50, `{"budget":200,"question":"` + strings.Repeat("é", 300) + `"}`},
	} {
		got, ok := Question(c.request, c.window, c.left, 4)
		if string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%.20q, %d of %d left: %s", c.request, c.left, c.window, got)
		}
	}
}

// TestPassages: what does not fit is left out, the first passage never, and a path or a
// text cannot look like more than it is.
func TestPassages(t *testing.T) {
	t.Parallel()
	pack, err := json.Marshal(map[string]any{"passages": []map[string]string{
		{"citation": "Tea.md#Tea > Green\ntea", "text": "Tea is green.\U000e0041"}, {"citation": "Long.md", "text": strings.Repeat("x", 500)}, {"citation": "Short.md", "text": "Short."},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := Passages(pack, len(head)+100)
	if !strings.HasPrefix(got, head+"\n[[Tea#Green tea]]\nTea is green.") || strings.Contains(got, "xxx") || strings.Contains(got, "\U000e0041") {
		t.Errorf("%q", got)
	}
	if got := Passages(pack, 1); !strings.Contains(got, "Tea is green") || strings.Contains(got, "Short") {
		t.Errorf("%q", got)
	}
	for _, none := range []string{`{"passages":[]}`, `{"error":"x"}`, ``} {
		if got := Passages(json.RawMessage(none), 1000); !strings.HasPrefix(got, "No passage") {
			t.Errorf("%s: %q", none, got)
		}
	}
}

func TestIsSmall(t *testing.T) {
	t.Parallel()
	for window, want := range map[int]bool{0: false, 2048: true, 8192: true, 8193: false} {
		if IsSmall(window) != want {
			t.Errorf("%d", window)
		}
	}
}
