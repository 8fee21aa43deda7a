package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestSeed002ChatGPTMD walks through tool calling in a chat of notes, where a
// person approves every call.
func TestSeed002ChatGPTMD(t *testing.T) {
	files := map[string]string{
		"Programming/TypeScript Basics.md": "# Basics\n\n" + strings.Repeat("Types come before values. ", 30) + "\n",
		"Notes/React.md":                   "# React\n\nReact is a library, often with typescript. TypeScript helps.\n",
		"Notes/Vue.md":                     "# Vue\n\nVue is a framework.\n",
		"Talk.md":                          "---\ntags: talk\n---\n### user\n\nWhat is Vue?\n",
	}
	rows := []row{
		r("vault_search finds files by name", ask("vault_search", `{"query":"typescript basics"}`), `"path":"Programming/TypeScript Basics.md","basename":"TypeScript Basics"`),
		r("vault_search finds files by content", ask("vault_search", `{"query":"is a framework"}`), `"path":"Notes/Vue.md"`),
		r("vault_search ignores case and lists names first", ask("vault_search", `{"query":"TYPESCRIPT"}`), `TypeScript Basics.md.*Notes/React.md`),
		r("vault_search counts the matches", ask("vault_search", `{"query":"typescript"}`), `"path":"Notes/React.md","basename":"React","matches":2`),
		r("vault_search shows the words around a match", ask("vault_search", `{"query":"is a framework"}`), `"preview":"[^"]*Vue is a framework`),
		r("vault_search cuts a preview and says so", ask("vault_search", `{"query":"typescript basics"}`), `"preview":"[^"]{20,260}(…|\.\.\.)"`),
		r("vault_search returns ten unless told", ask("vault_search", `{"query":"tea"}`), `"(results|files)":\[`, `!("basename":.*){11}`),
		r("vault_search takes a limit", ask("vault_search", `{"query":"tea","limit":2}`), `("basename":.*){2}`, `!("basename":.*){3}`),
		r("vault_search returns at most fifty", ask("vault_search", `{"query":"tea","limit":500}`), `50`, `!("basename":.*){51}`),
		r("vault_search needs a query", ask("vault_search", `{}`), `query: is missing`),
		r("file_read returns path, content and size", ask("file_read", `{"file_paths":["Notes/Vue.md"]}`), `"path":"Notes/Vue.md","content":"# Vue\\n\\nVue is a framework.\\n","size":27`),
		r("file_read takes the camel case name", ask("file_read", `{"filePaths":["Notes/Vue.md","Notes/React.md"]}`), `Vue is a framework.*React is a library`),
		r("file_read reads the rest when one file is missing", ask("file_read", `{"filePaths":["Notes/None.md","Notes/Vue.md"]}`), `"path":"Notes/None.md","content":"","size":0,"error":"`, `Vue is a framework`),
		r("every call of a tool can be made to ask", all(page(http.MethodPost, "/settings", `{"key":"tools.file_read","value":"ask"}`), ask("file_read", `{"filePaths":["Notes/React.md","Notes/Vue.md"]}`)), `"requires_confirmation":true`, `!is a framework`),
		r("the question names the tool and its arguments", func(w *seedWorld) string { return page(http.MethodGet, "/approvals/"+w.last, "")(w) }, `"tool":"file_read"`, `Notes/React.md`, `Notes/Vue.md`),
		r("the person chooses which files are shared", answer(`"approve":true,"args":{"file_paths":["Notes/React.md"]}`), `React is a library`, `!is a framework`),
		r("cancelling is an answer and no error", all(ask("file_read", `{"filePaths":["Notes/Vue.md"]}`), answer(`"approve":false`)), `"success":false,"isError":false,"error":"User cancelled tool execution"`),
		r("the person may change any argument", all(page(http.MethodPost, "/settings", `{"key":"tools.vault_search","value":"ask"}`), ask("vault_search", `{"query":"vue"}`), answer(`"approve":true,"args":{"query":"is a library"}`)), `Notes/React.md`, `!"path":"Notes/Vue.md"`),
		r("what nobody answers is not done", all(ask("file_read", `{"filePaths":["Notes/Vue.md"]}`), func(w *seedWorld) string { return get("/approvals/" + w.last)(w) }), `"state":"pending"`, `"expires":"20`),
		r("a setting of a tool stays", page(http.MethodGet, "/settings/tools", ""), `"file_read"[^}]*"ask"`),
		r("a tool can be set back", all(page(http.MethodPost, "/settings", `{"key":"tools.file_read","value":""}`), page(http.MethodPost, "/settings", `{"key":"tools.vault_search","value":""}`), ask("file_read", `{"filePaths":["Notes/Vue.md"]}`)), `is a framework`),
		r("an unknown tool is an error that names it", ask("vault_serach", `{"query":"x"}`), `unknown tool`, `vault_serach`, `vault_search`),
		r("what goes wrong in a tool comes back as an error", ask("read_attachment", `{"path":"Nowhere.png"}`), `"kind":"not_found"`),
		r("a registry lists all tools", get("/tools"), `"name":"vault_search"`, `"name":"file_read"`),
		r("a registry finds a tool by its name", get("/tools/vault_search"), `"name":"vault_search"`, `limit`),
		r("the model's call is made and its result goes back to the model", func(w *seedWorld) string {
			s := onStage(w.T, w.vault, act{call: "search_notes", args: `{"query":"framework"}`}, act{text: []string{"Vue is one."}})
			out := w.run("ask", "What is Vue?")
			return out + strings.Join(s.got, " ")
		}, `search_notes`, `Vue is one\.`, `alpha alpha`),
		r("the model is told which note is open, and to cite", func(w *seedWorld) string {
			s := onStage(w.T, w.vault, act{text: []string{"It is about Vue."}})
			return w.run("ask", "--note", "Notes/Vue.md", "What is this?") + s.told[0]
		}, `It is about Vue\.`, `Notes/Vue\.md`, `[Cc]ite`),
		r("the result of a call is in what the model is told next", func(w *seedWorld) string {
			s := onStage(w.T, w.vault, act{call: "read_note", args: `{"path":"Notes/Vue.md"}`}, act{text: []string{"Read."}})
			w.run("ask", "Read it")
			return s.told[1]
		}, `"role":"tool"`, `Vue is a framework`),
		r("several calls are made one after the other", func(w *seedWorld) string {
			onStage(w.T, w.vault, act{call: "search_notes", args: `{"query":"framework"}`}, act{call: "read_note", args: `{"path":"Notes/Vue.md"}`}, act{text: []string{"Both done."}})
			return w.run("ask", "What is Vue?")
		}, `search_notes.*read_note.*Both done\.`),
		r("a change that a model wants waits for the person", func(w *seedWorld) string {
			onStage(w.T, w.vault, act{call: "write_note", args: `{"path":"Notes/Svelte.md","content":"# Svelte\n"}`}, act{text: []string{"Written."}})
			return w.run("run", "Write it") + file("Notes/Svelte.md")(w)
		}, `Waiting for your approval`, `absent$`),
		r("tool calling is switched off as a whole", func(w *seedWorld) string {
			w.run("config", "set", "--yes", "chats.tools", "off")
			onStage(w.T, w.vault, act{call: "search_notes", args: `{"query":"framework"}`}, act{text: []string{"No."}})
			// The model names the chat "A name" where it is sent no tools.
			out := w.run("ask", "What is Vue?")
			return out + w.run("config", "set", "--yes", "chats.tools", "on")
		}, `^A name`, `!search_notes`),
		r("the switch is a setting with a text", page(http.MethodGet, "/settings", ""), `"chats\.tools"`, `whether models can use tools`),
		r("streaming is a setting", page(http.MethodGet, "/settings", ""), `"chats\.stream"`),
		r("naming chats is a setting", page(http.MethodGet, "/settings", ""), `"chats\.titles"`),
		r("the system message is a setting", page(http.MethodGet, "/settings", ""), `"chats\.system"`),
		r("a conversation in a note is gone on with there", func(w *seedWorld) string {
			w.Setenv("LORE_MODEL", "quote")
			return w.run("chat", "--from", "Talk", "--save") + file("Talk.md")(w)
		}, `### user`, `Vue is a framework`),
		r("OpenAI is a provider", page(http.MethodGet, "/models", ""), `"openai"`),
		r("Anthropic is a provider", page(http.MethodGet, "/models", ""), `"anthropic"`),
		r("Gemini is a provider", page(http.MethodGet, "/models", ""), `"gemini"|"google"`),
		r("OpenRouter is a provider", page(http.MethodGet, "/models", ""), `"openrouter"`),
		r("Ollama is a provider, and its absence is no error", page(http.MethodGet, "/models", ""), `"ollama"`),
		r("LM Studio is a provider, and its absence is no error", page(http.MethodGet, "/models", ""), `"lmstudio"|"lm-studio"|"lm_studio"`),
		r("calls and decisions are logged", get("/activity?tool=file_read"), `"decision":"ask"`, `"status":"done"`),
	}
	walk(t, files, rows)
}
