package apps

import (
	"regexp"
	"strings"
	"testing"
)

// TestViewsLoadNothing: a view is one file, its policy names its own script and
// style, and no part of it can make markup of a text.
func TestViewsLoadNothing(t *testing.T) {
	for _, v := range Views() {
		page := HTML(v.URI, "answer", `read"><script>alert(1)</script>`)
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "new Function", "fetch(", "XMLHttpRequest", "import(", "<link", "<img", " src=", "localStorage"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %s", v.URI, bad)
			}
		}
		scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(page, -1)
		if len(scripts) != 1 || !strings.Contains(page, "script-src 'sha256-"+sum(scripts[0][1])+"'") {
			t.Errorf("%s: %d scripts, or one that its policy does not allow", v.URI, len(scripts))
		}
		styles := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllStringSubmatch(page, -1)
		if len(styles) != 1 || !strings.Contains(page, "style-src 'sha256-"+sum(styles[0][1])+"'") || !strings.Contains(page, "default-src 'none'") {
			t.Errorf("%s: its policy does not allow its style, or more", v.URI)
		}
	}
	if HTML("ui://lore/other", "", "") != "" {
		t.Error("there is another view")
	}
}

func TestShows(t *testing.T) {
	for name, c := range map[string]struct {
		extensions map[string]any
		want       bool
	}{
		"none":            {nil, false},
		"another":         {map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}, false},
		"no settings":     {map[string]any{Extension: nil}, false},
		"no types":        {map[string]any{Extension: map[string]any{}}, false},
		"another type":    {map[string]any{Extension: map[string]any{"mimeTypes": []any{"text/html"}}}, false},
		"it":              {map[string]any{Extension: map[string]any{"mimeTypes": []any{"text/html", MIMEType}}}, true},
		"of another kind": {map[string]any{Extension: "yes"}, false},
	} {
		if got := Shows(c.extensions); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
