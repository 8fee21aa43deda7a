package e2e

import (
	"net/http"
	"testing"
)

// TestSeed004Copilot walks through a registry of tools that can be configured, and
// the tools that it names.
func TestSeed004Copilot(t *testing.T) {
	files := map[string]string{
		"Ideas/Tea.md":  "# Tea\n\nI planned the tasting with Anna.\n\nIt was cold.\n",
		"Ideas/Milk.md": "# Milk\n\nNothing planned.\n",
	}
	const blocks = `{"path":"Ideas/Tea.md","diff":"------- SEARCH\nIt was cold.\n=======\nIt was warm.\n+++++++ REPLACE\n"}`
	rows := []row{
		r("localSearch finds notes by a question and salient terms", ask("local_search", `{"query":"what did I plan with Anna","salient_terms":["Anna"]}`), `"path":"Ideas/Tea.md"`, `!Milk\.md`),
		r("salient terms may be written in camel case", ask("local_search", `{"query":"what did I plan","salientTerms":["Anna"]}`), `"path":"Ideas/Tea.md"`),
		r("localSearch takes a time range", ask("local_search", `{"query":"tea","salient_terms":["tea"],"time_range":{"start":"2001-01-01","end":"2001-02-01"}}`), `"success":true`, `!"path":"Ideas`),
		r("localSearch takes its own name", ask("localSearch", `{"query":"tasting","salient_terms":["tasting"]}`), `"path":"Ideas/Tea.md"`),
		r("writeToFile creates a file", all(do("writeToFile", `{"path":"Ideas/New.md","content":"# New\n"}`), file("Ideas/New.md")), `"success":true`, `# New\n$`),
		r("replaceInFile changes what SEARCH/REPLACE blocks say", all(do("replaceInFile", blocks), file("Ideas/Tea.md")), `"success":true`, `It was warm\.`, `tasting with Anna`),
		r("a block that does not match changes nothing and says so", ask("replace_in_file", blocks), `"kind":"(not_found|conflict|invalid)"`, `It was cold`),
		r("webSearch exists and says what it needs", all(page(http.MethodPost, "/settings", `{"key":"tools.web_search","value":"ask"}`), ask("webSearch", `{"query":"tea"}`)), `search engine|requires_confirmation`),
		r("youtubeTranscription exists and is off until a person turns it on", ask("youtubeTranscription", `{"url":"https://www.youtube.com/watch?v=dQw4w9WgXcQ"}`), `youtube_transcription`, `turned off`),
		r("pomodoro starts with minutes and a label", all(ask("pomodoro", `{"action":"start","minutes":25,"label":"write"}`), ask("pomodoro", `{}`)), `"label":"write"`, `"state":"(running|work|on)"`),
		r("pomodoro stops", ask("pomodoro", `{"action":"stop"}`), `"success":true`),
		r("the time now is a tool", ask("get_current_time", `{}`), `"time":"20\d\d-\d\d-\d\dT`, `"timezone":"`),
		r("a time range is made of words", ask("get_time_range", `{"expression":"last week"}`), `"start":"20`, `"end":"20`),
		r("a time is converted", ask("convert_time", `{"time":"2026-01-01T12:00","from":"Europe/Berlin","to":"America/New_York"}`), `06:00`),
		r("facts about a time are a tool", ask("get_time_info", `{"time":"2026-12-24"}`), `"weekday":"Thursday"`),
		r("the tree of files is a tool", ask("get_file_tree", `{}`), `"path":"Ideas"`),
		r("tags with their counts are a tool", ask("list_tags", `{}`), `"tag":"[^"]+"`, `"(notes|count)":\d`),
		r("the registry lists every tool with its description and category", page(http.MethodGet, "/settings/tools", ""), `"local_search"`, `"explore"`),
		r("each tool has a name for people", get("/tools/local_search"), `"title":"[A-Z]`),
		r("each tool says what it may do", get("/tools/delete_note"), `"effect":"change"`),
		r("tools of time are always on for the agent", get("/tools/get_current_time"), `"set":"clock"|"toolset":"clock"`),
		r("a tool is turned off, and gone", all(page(http.MethodPost, "/settings", `{"key":"tools.local_search","value":"off"}`), ask("local_search", `{"query":"tea","salient_terms":["tea"]}`)), `turned off`),
		r("a tool that is off is not offered over MCP", func(w *seedWorld) string { return mcpTools(w) }, `vault_search`, `!local_search`),
		r("a tool is turned on again", all(page(http.MethodPost, "/settings", `{"key":"tools.local_search","value":"on"}`), ask("local_search", `{"query":"tasting","salient_terms":["tasting"]}`)), `"path":"Ideas/Tea.md"`),
		r("a whole category is turned off", all(page(http.MethodPost, "/settings", `{"key":"tools.clock","value":"off"}`), ask("get_current_time", `{}`), page(http.MethodPost, "/settings", `{"key":"tools.clock","value":""}`)), `turned off`),
		r("custom instructions are added without touching the schema", all(page(http.MethodPost, "/settings", `{"key":"instructions.local_search","value":"Take terms from the user's own words."}`), ask("local_search", `{"query":"tasting","salient_terms":["tasting"]}`), page(http.MethodGet, "/settings/tools", "")), `"local_search"[^}]*own words`),
		r("models are told the instructions of a tool that is offered", func(w *seedWorld) string { return mcpDescription(w, "local_search") }, `Take terms from the user's own words\.`),
		r("models are not told the instructions of others", func(w *seedWorld) string { return mcpDescription(w, "vault_search") }, `!own words`),
		r("every argument is described", get("/tools/local_search"), `"salient_terms":\{"type":"array","items":\{"type":"string"\},"description":"[^"]+"`),
		r("servers of the Model Context Protocol are a list that a person decides about", page(http.MethodGet, "/servers", ""), `"servers":\[`),
		r("another server is added, and not used before a person allows it", page(http.MethodPost, "/servers", `{"name":"memory","command":"lore-none","args":[]}`), `memory`),
		r("a server is removed with its tools alone", all(page(http.MethodPost, "/servers/memory/remove", `{}`), get("/tools")), `"name":"local_search"`, `!mcp__memory`),
	}
	walk(t, files, rows)
}
