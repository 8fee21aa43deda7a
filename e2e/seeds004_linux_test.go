package e2e

import (
	"encoding/json"
	"net/http"
	"testing"
)

// TestSeed004Copilot walks through a registry of tools that can be configured, and
// the tools that it names.
func TestSeed004Copilot(t *testing.T) {
	files := map[string]string{
		"Ideas/Tea.md":  "# Tea\n\nI planned the tasting with Anna.\n\nIt was cold.\n",
		"Ideas/Milk.md": "# Milk\n\nNothing planned.\n",
		// Two other servers: the program itself, on other vaults.
		"../config/lore/servers.json": `{"mcpServers":{"other":{"command":"lore","args":["mcp","--vault","../other"]},"other_two":{"command":"lore","args":["mcp","--vault","../two"]}}}`,
		"../home/.keep":               "",
		"../other/Green tea.md":       "# Green tea\n\nSencha is one.\n",
		"../two/Black tea.md":         "# Black tea\n",
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
		r("webSearch exists and says what it needs", all(page(http.MethodPost, "/settings", `{"key":"tools.web_search","value":"ask"}`), ask("webSearch", `{"query":"tea"}`)), `"kind":"unavailable"`, `no search engine is configured.*searxng`),
		r("youtubeTranscription exists and is off until a person turns it on", ask("youtubeTranscription", `{"url":"https://www.youtube.com/watch?v=dQw4w9WgXcQ"}`), `youtube_transcription`, `turned off`),
		r("pomodoro starts with minutes and a label", all(ask("pomodoro", `{"action":"start","minutes":25,"label":"write"}`), ask("pomodoro", `{}`)), `"label":"write"`, `"state":"running"`, `"minutes":25`),
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
		r("servers of the Model Context Protocol are a list", page(http.MethodGet, "/servers", ""), `"name":"other"`, `"transport":"stdio"`, `"digest":"sha256:`),
		r("a person adds a server, and sees what it would start", page(http.MethodPost, "/servers", `{"name":"third","command":"none","args":["x"]}`), `"name":"third"`, `"command":\["none","x"\]`),
		r("the tools of a server are registered when it is connected", all(page(http.MethodGet, "/servers?try=1", ""), page(http.MethodGet, "/servers/other/tools", "")), `"state":"connected"`, `mcp__other__read_note`),
		r("a call waits for its server", do("mcp__other_two__read_note", `{"path":"Black tea"}`), `"success":true`, `# Black tea`),
		r("a tool of a server has a name with the server in it, its description and its schema", get("/tools/mcp__other__read_note"), `"name":"mcp__other__read_note"`, `Read one note`, `"path":\{`),
		r("a call of it is asked about", ask("mcp__other__read_note", `{"path":"Green tea"}`), `"requires_confirmation":true`, `on the server other`),
		r("its answer has the form of the others, and is marked as from outside", answer(`"approve":true`), `"success":true`, `"untrusted":true`, `"server":"other"`, `Green tea`),
		r("arguments are checked with the schema of the server", ask("mcp__other__read_note", `{"path":{"a":1}}`), `"kind":"invalid"`, `path`),
		r("a tool of a server is turned off like any other", all(page(http.MethodPost, "/settings", `{"key":"tools.mcp__other__read_note","value":"off"}`), ask("mcp__other__read_note", `{"path":"Green tea"}`), page(http.MethodPost, "/settings", `{"key":"tools.mcp__other__read_note","value":""}`)), `turned off`),
		r("instructions are added to a tool of a server", all(page(http.MethodPost, "/settings", `{"key":"instructions.mcp__other__read_note","value":"Only for recipes."}`), do("mcp__other__read_note", `{"path":"Green tea"}`), func(w *seedWorld) string { return mcpDescription(w, "mcp__other__read_note") }), `\n[^\n]*Read one note.*Only for recipes\.$`),
		r("a server that goes takes its own tools along, and no others", all(removeServer("other"), until("/tools", `!"name":"mcp__other__`)), `"name":"local_search"`, `"name":"mcp__other_two__read_note"`, `!"name":"mcp__other__`),
	}
	walk(t, files, rows)
}

// removeServer removes it as it was shown.
func removeServer(name string) deed {
	return func(w *seedWorld) string {
		var list struct {
			Servers []struct{ Name, Digest string }
		}
		if err := json.Unmarshal([]byte(w.send(true, http.MethodGet, "/api/v1/servers", "")), &list); err != nil {
			w.Fatal(err)
		}
		for _, s := range list.Servers {
			if s.Name == name {
				return w.send(true, http.MethodPost, "/api/v1/servers/"+name+"/remove", `{"digest":"`+s.Digest+`"}`)
			}
		}
		return "absent"
	}
}
