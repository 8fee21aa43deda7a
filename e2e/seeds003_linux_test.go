package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
)

// TestSeed003LocalLoop walks through the tools that a small local model needs, and
// the loop around them.
func TestSeed003LocalLoop(t *testing.T) {
	files := map[string]string{
		"config.json":   "{\"a\": 1}\n",
		"src/main.txt":  "one World\ntwo\nthree World\n",
		".hidden.txt":   "x\n",
		"src/binary.md": "a\x00b",
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>Water</title><main><p>Boil it.</p></main>`)
	}))
	t.Cleanup(site.Close)
	page1 := func(key, value string) deed {
		return page(http.MethodPost, "/settings", `{"key":"`+key+`","value":"`+value+`"}`)
	}
	rows := []row{
		r("a tool is defined by name, description and a schema of its arguments", get("/tools/write_file"), `"name":"write_file"`, `"description":"[^"]{40,}`, `"type":"object"`, `"required":\["content","path"\]|"required":\["path","content"\]`),
		r("arguments are texts, numbers, truth values, lists and objects", get("/tools"), `"type":"string"`, `"type":"(integer|number)"`, `"type":"boolean"`, `"type":"array"`, `"type":"object"`),
		r("write_file makes folders and says how many bytes", do("write_file", `{"path":"scripts/deep/hello.py","content":"#!/usr/bin/env python3\nprint('Hello, World!')\n"}`), `"success":true`, `"bytes":46`, `scripts/deep/hello.py`),
		r("write_file writes line ends as such", file("scripts/deep/hello.py"), `^#!/usr/bin/env python3\nprint\('Hello, World!'\)\n$`),
		r("write_file overwrites", all(do("write_file", `{"path":"scripts/deep/hello.py","content":"print('Hello')\n"}`), file("scripts/deep/hello.py")), `"created":false`, `\nprint\('Hello'\)\n$`),
		r("read_file returns a file as it is", ask("read_file", `{"path":"config.json"}`), `\{\\"a\\": 1\}\\n`),
		r("read_file says which file is missing", ask("read_file", `{"path":"none.json"}`), `"kind":"not_found"`, `none\.json`),
		r("read_file reads a part of a long file", ask("read_file", `{"path":"src/main.txt","offset":2,"limit":1}`), `"two\\n"|"content":"two`, `!three`),
		r("read_file refuses what is no text", ask("read_file", `{"path":"src/binary.md"}`), `"kind":"`, `!"success":true`),
		r("list_files lists the working folder unless told", ask("list_files", `{}`), `config\.json`, `"src"|src/`),
		r("list_files shows hidden files, marked", ask("list_files", `{}`), `\.hidden\.txt`),
		r("list_files tells sizes and times", ask("list_files", `{"path":"src"}`), `main\.txt`, `"size":\d+`, `"modified":"20`),
		r("list_files says that a folder is missing", ask("list_files", `{"path":"nowhere"}`), `"kind":"not_found"`),
		r("search_text finds a pattern, with file and line", ask("search_text", `{"pattern":"Wor.d","path":"src"}`), `"path":"src/main.txt"`, `"line":3`, `three World`),
		r("search_text searches everything unless told", ask("search_text", `{"pattern":"three World"}`), `src/main\.txt`),
		r("search_text says that nothing matches", ask("search_text", `{"pattern":"zzzzqq"}`), `"matches":\[\]`, `"success":true`),
		r("edit_file finds and replaces everywhere", all(do("edit_file", `{"path":"src/main.txt","find":"World","replace":"Earth","all":true}`), file("src/main.txt")), `one Earth\ntwo\nthree Earth`),
		r("edit_file does not guess which place is meant", ask("edit_file", `{"path":"src/main.txt","find":"Earth","replace":"Mars"}`), `"kind":"(ambiguous|conflict|invalid)"`),
		r("edit_file takes a regular expression", all(do("edit_file", `{"path":"src/main.txt","find":"t[w]o","replace":"2","regex":true}`), file("src/main.txt")), `\n2\n`),
		r("list_processes lists own processes", ask("list_processes", `{"filter":"lore"}`), `"pid":\d+`, `lore`),
		r("git_status tells of changed files", func(w *seedWorld) string {
			for _, args := range [][]string{{"init", "-q"}, {"add", "config.json"}} {
				if out, err := exec.Command("git", append([]string{"-C", w.vault}, args...)...).CombinedOutput(); err != nil {
					return string(out)
				}
			}
			return ask("git_status", `{}`)(w)
		}, `config\.json`),
		r("download_url is off until a person turns it on", ask("download_url", `{"url":"http://127.0.0.1:1/"}`), `"kind":"denied"`, `turned off|off`),
		r("download_url reaches no private address", all(page1("tools.download_url", "ask"), do("download_url", `{"url":"http://127.0.0.1:1/"}`)), `"kind":"denied"`, `127\.0\.0\.1: it is this computer`),
		r("download_url returns a page as text, when a person agrees", do("download_url", `{"url":"`+site.URL+`/page"}`), `"success":true`, `Boil it\.`, `"untrusted":true`),
		r("run_command is off until a person turns it on", ask("run_command", `{"command":"echo hi"}`), `"kind":"denied"`, `turned off`),
		r("arguments that come as a string are read", typed("call", "read_file", `"{\"path\":\"config.json\"}"`), `\\"a\\": 1`),
		r("arguments that come as an object are read", typed("call", "read_file", `{"path":"config.json"}`), `\\"a\\": 1`),
		r("an unknown tool is an error that names it", ask("write_fle", `{}`), `unknown tool \\"write_fle\\"`, `write_file`),
		r("paths are relative to the working folder", all(ask("read_file", `{"path":"../outside.txt"}`), ask("read_file", `{"path":"./config.json"}`)), `"kind":"unsafe_path"`, `\{\\"a\\": 1\}`),
		r("a model calls a tool, sees what came of it, and ends with a summary", func(w *seedWorld) string {
			onStage(w.T, w.vault, act{call: "write_file", args: `{"path":"out/hello.txt","content":"hi\n"}`}, act{call: "read_file", args: `{"path":"out/hello.txt"}`}, act{call: "task_complete", args: `{"summary":"Wrote hello.txt and read it."}`})
			return w.run("run", "--toolsets", "files", "--allow", "write_file:out/**", "Write hello") + file("out/hello.txt")(w)
		}, `write_file.*read_file`, `Wrote hello\.txt and read it\.`, `hi\n$`),
		r("a run that is complete ends with exit code 0", func(w *seedWorld) string {
			onStage(w.T, w.vault, act{call: "task_complete", args: `{"summary":"All done."}`})
			cmd := exec.Command("lore", "--vault", w.vault, "run", "Do nothing")
			if out, err := cmd.CombinedOutput(); err != nil {
				return err.Error() + string(out)
			}
			return "exit code 0"
		}, `^exit code 0$`),
		r("a model that sends its arguments as text twice is understood", func(w *seedWorld) string {
			onStage(w.T, w.vault, act{call: "read_file", args: `"{\"path\":\"config.json\"}"`}, act{text: []string{"It says 1."}})
			return w.run("run", "--toolsets", "files", "What is a?")
		}, `✓ read_file`, `It says 1\.`),
		r("a tool that fails tells the model, and the run goes on", func(w *seedWorld) string {
			onStage(w.T, w.vault, act{call: "read_file", args: `{"path":"none.json"}`}, act{text: []string{"There is none."}})
			return w.run("run", "--toolsets", "files", "Read none")
		}, `none\.json`, `There is none\.`),
		r("a run has a limit of steps", func(w *seedWorld) string {
			var acts []act
			for range 6 {
				acts = append(acts, act{call: "read_file", args: `{"path":"config.json"}`})
			}
			onStage(w.T, w.vault, acts...)
			return w.run("run", "--toolsets", "files", "--steps", "3", "Go on and on")
		}, `the limit of 3 steps is reached`),
	}
	if ok, _ := condition("sandbox"); ok {
		rows = append(rows,
			r("run_command asks with the command", all(page1("tools.run_command", "ask"), ask("run_command", `{"command":"cat config.json; echo oops >&2; exit 3"}`)), `"requires_confirmation":true`, `cat config\.json`),
			r("run_command works in the folder and returns its output", answer(`"approve":true`), `\{\\"a\\": 1\}`),
			r("run_command returns errors and the exit code", do("run_command", `{"command":"cat config.json; echo oops >&2; exit 3"}`), `oops`, `"exit_code":3`),
		)
	}
	walk(t, files, rows, "LORE_WEB_ALLOW="+strings.TrimPrefix(site.URL, "http://"))
}
