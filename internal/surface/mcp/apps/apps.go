// Package apps holds the views that clients with the MCP Apps extension show
// beside a call: a pending change, and the results of a search. Each is one HTML
// file that loads nothing and inserts every text as text.
//
// A view shows what a tool answered and sends what a person presses. It decides
// nothing: the server checks every answer that comes from it.
package apps

import (
	"crypto/sha256"
	_ "embed" // the parts of the views
	"encoding/base64"
	"fmt"
	"html"
	"slices"
	"strings"
)

// Extension is the name by which a client says that it shows views, and MIMEType
// is what a view is.
const (
	Extension = "io.modelcontextprotocol/ui"
	MIMEType  = "text/html;profile=mcp-app"
)

// The addresses of the views.
const (
	Approval = "ui://lore/approval"
	Search   = "ui://lore/search"
)

// CardKey is the field of a result's metadata in which the approval view finds the
// diffs and its token. Metadata is for programs: a client does not show it to its
// model.
const CardKey = "lore/approval"

// A View is what a client is told about a view.
type View struct{ URI, Name, Title, Description string }

// Views lists all of them.
func Views() []View {
	return []View{
		{Approval, "approval", "Approval", "A planned change with its diff and warnings."},
		{Search, "search", "Search results", "The notes that a search found."},
	}
}

// Shows reports whether a client that declares these extensions shows views.
func Shows(extensions map[string]any) bool {
	settings, ok := extensions[Extension].(map[string]any)
	if !ok {
		return false
	}
	types, _ := settings["mimeTypes"].([]any)
	return slices.Contains(types, any(MIMEType))
}

var (
	//go:embed view.css
	style string
	//go:embed host.js
	host string
	//go:embed approval.js
	approval string
	//go:embed search.js
	search string
)

// HTML is a view as one file, or "" for an unknown address. The names are those of
// the tools that it may call: the one that answers an approval, and the one that
// reads a note; "" is none.
//
// Its policy allows its own script and style by their hashes and nothing else, and
// no text can become markup, whatever the client allows.
func HTML(uri, answer, read string) string {
	script := ""
	switch uri {
	case Approval:
		script = approval
	case Search:
		script = search
	default:
		return ""
	}
	script = "'use strict';\n(() => {\n" + host + script + "})();\n"
	rules := strings.Join([]string{
		"default-src 'none'", "script-src 'sha256-" + sum(script) + "'", "style-src 'sha256-" + sum(style) + "'",
		"base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
	}, "; ")
	return fmt.Sprintf("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>Lore</title>\n<style>%s</style>\n</head>\n<body data-answer=\"%s\" data-read=\"%s\"><main></main>\n<script>%s</script></body>\n</html>\n",
		rules, style, html.EscapeString(answer), html.EscapeString(read), script)
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(h[:])
}
