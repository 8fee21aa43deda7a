package configfile

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lore/internal/fault"
)

func TestParse(t *testing.T) {
	text := `// servers of ann
{
  "mcpServers": {
    "git": {"command": "uvx", "args": ["mcp-server-git", "${REPO:-.}"], "env": {"N": 1, "T": "${TOKEN}"}, "unknown": {"x": []},},
    "docs": {"httpUrl": "https://docs.example/mcp", "headers": {"Authorization": "Bearer ${env:KEY}"}, "timeout": 2500, "includeTools": ["a"], "excludeTools": ["b"]},
    "old": {"type": "sse", "url": "http://127.0.0.1:1/sse", "disabled": true},
    "new": {"type": "streamable-http", "serverUrl": "http://127.0.0.1:1/mcp", "enabled": false},
  },
  "servers": {
    "code": {"type": "stdio", "command": "x", "cwd": "/w", "envFile": ".env", "env": {"K": "${input:key}"}},
  },
  "inputs": [{"id": "key", "type": "promptString", "description": "Key", "password": true}, {"id": "unused"}],
}`
	got, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []Server{
		{Name: "git", Type: Stdio, Command: "uvx", Args: []string{"mcp-server-git", "${REPO:-.}"}, Env: map[string]string{"N": "1", "T": "${TOKEN}"}},
		{
			Name: "docs", Type: HTTP, URL: "https://docs.example/mcp", Headers: map[string]string{"Authorization": "Bearer ${env:KEY}"},
			Timeout: 2500 * time.Millisecond, Include: []string{"a"}, Exclude: []string{"b"},
		},
		{Name: "old", Type: SSE, URL: "http://127.0.0.1:1/sse", Disabled: true},
		{Name: "new", Type: HTTP, URL: "http://127.0.0.1:1/mcp", Disabled: true},
		{
			Name: "code", Type: Stdio, Command: "x", Dir: "/w", EnvFile: ".env", Env: map[string]string{"K": "${input:key}"},
			Inputs: []Input{{ID: "key", Type: "promptString", Description: "Key", Password: true}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// TestOneBadServerLeavesTheOthers: what cannot be used is told, the rest can.
func TestOneBadServerLeavesTheOthers(t *testing.T) {
	for entry, want := range map[string]string{
		`{"command": "x", "url": "http://x"}`:           "it has both a command and a url",
		`{}`:                                            "it has neither a command nor a url",
		`{"type": "http", "command": "x"}`:              "it has the type http",
		`{"type": "pigeon", "command": "x"}`:            "type is not stdio, http or sse",
		`{"command": ["x"]}`:                            "command is not a string",
		`{"command": "x", "args": "y"}`:                 "args is not a list",
		`{"command": "x", "args": [1]}`:                 "args is not a string",
		`{"command": "x", "args": ["a\u0000b"]}`:        "args contains a zero byte",
		`{"command": "x", "env": {"A": null}}`:          "env .A is not a string",
		`{"command": "x", "timeout": "soon"}`:           "timeout is not a number of milliseconds",
		`{"command": "x", "disabled": "no"}`:            "disabled is neither true nor false",
		`{"url": "http://a", "httpUrl": "http://evil"}`: "httpUrl is a second address",
		`7`: "is not an object",
	} {
		got, err := Parse(`{"mcpServers": {"bad": ` + entry + `, "good": {"command": "y"}}}`)
		if err != nil || len(got) != 2 {
			t.Errorf("%s: %v, %v", entry, got, err)
			continue
		}
		if got[0].Problem == nil || !strings.Contains(got[0].Problem.Error(), want) {
			t.Errorf("%s: the problem is %v, not %s", entry, got[0].Problem, want)
		}
		if got[1].Problem != nil || got[1].Command != "y" {
			t.Errorf("%s: the other one is %+v", entry, got[1])
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers": {"a": {"command": "ls", "command": "rm"}}}`:                     `"command" occurs twice`,
		`{"mcpServers": {"a": {"command": "ls"}, "\u0061": {"command": "rm"}}}`:         `"a" occurs twice`,
		`{"mcpServers": {"a": {"command": "ls", "env": {"X": "1", "X": "2"}}}}`:         `"X" occurs twice`,
		`{"mcpServers": {"a": {"command": "ls"}}, "servers": {"a": {"command": "rm"}}}`: `in both mcpServers and servers`,
		`{"mcpServers": 1}`: `"mcpServers" is not an object`,
		`{`:                 "line 1",
	} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	// A name in other letters is another name, and unknown.
	if got, err := Parse(`{"mcpServers": {"a": {"command": "ls", "Command": "rm"}}, "MCPSERVERS": {"b": {"command": "rm"}}}`); err != nil || len(got) != 1 || got[0].Command != "ls" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(path, []byte(bom+"{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(path); err != nil || len(got) != 1 || got[0].Name != "a" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := Read(dir); !errors.Is(err, fault.Unsafe) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path+": line 1") {
		t.Errorf("a broken file: %v", err)
	}
}

func TestExpand(t *testing.T) {
	env := map[string]string{"HOME": "/home/ann", "EMPTY": "", "LOOP": "${HOME}"}
	lookup := func(r Ref) (string, bool) {
		if r.Kind == "input" {
			return "secret", r.Name == "key"
		}
		v, ok := env[r.Name]
		return v, ok
	}
	for in, want := range map[string]string{
		"plain $HOME":          "plain $HOME",
		"${HOME}/x":            "/home/ann/x",
		"${env:HOME}${HOME}":   "/home/ann/home/ann",
		"${NONE:-d}":           "d",
		"${NONE:-}":            "",
		"${EMPTY:-d}":          "d",
		"${EMPTY}":             "",
		"${LOOP}":              "${HOME}",
		"${input:key}":         "secret",
		"${NONE}":              "error: the variable NONE is not set",
		"${env:NONE}":          "error: the variable NONE is not set",
		"${input:none}":        "error: the input none has no answer",
		"${":                   "error: ${ is not closed",
		"${}":                  "error: ${} is not a variable",
		"${HOME:-${NONE}}":     "error: ${HOME:-${NONE} is not a variable",
		"${command:evil.run}":  "error: ${command:evil.run} is not a variable",
		"${NONE:-a}${HOME:-b}": "a/home/ann",
	} {
		s := Server{Name: "s", Command: "c", Args: []string{in}, Env: map[string]string{"A": in}}
		got, err := s.Expand(lookup)
		if why, bad := strings.CutPrefix(want, "error: "); bad {
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, not %s", in, err, why)
			}
			continue
		}
		if err != nil || got.Args[0] != want || got.Env["A"] != want {
			t.Errorf("%s: %q, %v; want %q", in, got.Args, err, want)
		}
		if s.Args[0] != in || s.Env["A"] != in {
			t.Errorf("%s: the server itself changed", in)
		}
	}
}

func TestDigest(t *testing.T) {
	base := Server{Name: "a", Type: Stdio, Command: "x", Args: []string{"1", "2"}, Env: map[string]string{"A": "b", "C": "d"}}
	same := base
	same.Name, same.Disabled, same.Timeout = "other", true, time.Second
	same.Env = map[string]string{"C": "d", "A": "b"}
	same.Headers = map[string]string{}
	if base.Digest() != same.Digest() {
		t.Error("what is not run changes the digest")
	}
	seen := map[string]string{base.Digest(): "base"}
	for name, change := range map[string]func(*Server){
		"command":  func(s *Server) { s.Command = "y" },
		"words":    func(s *Server) { s.Args = []string{"1 2"} },
		"fewer":    func(s *Server) { s.Args = []string{"12"} },
		"more":     func(s *Server) { s.Args = []string{"1", "2", ""} },
		"env":      func(s *Server) { s.Env = map[string]string{"A": "b"} },
		"envs":     func(s *Server) { s.Env = map[string]string{"A": "bC", "": "d"} },
		"env file": func(s *Server) { s.EnvFile = "e" },
		"folder":   func(s *Server) { s.Dir = "e" },
		"address":  func(s *Server) { s.URL = "e" },
		"header":   func(s *Server) { s.Headers = map[string]string{"A": "b", "C": "d"}; s.Env = nil },
		"type":     func(s *Server) { s.Type = SSE },
	} {
		s := base
		change(&s)
		if was, ok := seen[s.Digest()]; ok {
			t.Errorf("%s has the digest of %s", name, was)
		}
		seen[s.Digest()] = name
	}
}

// FuzzParse looks for texts that take the reader down.
func FuzzParse(f *testing.F) {
	f.Add(`{"mcpServers": {"a": {"command": "x", "args": ["${A:-b}"], "timeout": 1e3}}, "inputs": [{"id": "a"}, 1]}`)
	f.Add(`{"servers": {"a": {"url": "${input:a}", "headers": {"A": 1}}}, "inputs": {"id": []}}`)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text)
		if err != nil {
			return
		}
		for _, s := range list {
			_ = s.Digest()
			_, _ = s.Expand(func(Ref) (string, bool) { return "", false })
		}
	})
}
