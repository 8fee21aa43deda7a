package configfile

import (
	"slices"
	"strings"

	"lore/internal/fault"
)

// A Place is the machine and the person whose files are looked for.
type Place struct {
	OS   string // as runtime.GOOS names it
	Env  func(string) string
	Home string // the person's home folder
}

// A Client is a program that uses MCP servers.
type Client struct {
	ID    string // what a person types
	Title string // what its makers call it
	Next  string // what makes it read its file again
	// Project is the file inside a project's folder that it reads too; empty
	// when there is none.
	Project string

	form    form
	paths   func(Place) []string
	snippet func(name string, e Entry) string // of a client whose file is not edited
}

// Clients lists every client whose files are known.
func Clients() []Client {
	return []Client{
		{
			ID: "claude", Title: "Claude Desktop", Next: "quit it and start it again",
			form: generic, paths: claudePaths,
		},
		{
			ID: "claude-code", Title: "Claude Code", Next: "begin a new session", Project: ".mcp.json",
			form: form{group: "mcpServers", fields: typedFields}, paths: claudeCodePaths,
		},
		{
			ID: "cursor", Title: "Cursor", Next: "turn it on in its settings, under MCP, if it asks", Project: ".cursor/mcp.json",
			form: generic, paths: inHome(".cursor", "mcp.json"),
		},
		{
			ID: "vscode", Title: "VS Code", Next: "start it there with the command MCP: List Servers", Project: ".vscode/mcp.json",
			form: form{group: "servers", fields: typedFields}, paths: codePaths,
		},
		{
			ID: "zed", Title: "Zed", Next: "it is available immediately",
			form: form{group: "context_servers", fields: plainFields}, paths: zedPaths,
		},
		{
			ID: "windsurf", Title: "Windsurf", Next: "refresh the servers in its Cascade panel",
			form: generic, paths: inHome(".codeium", "windsurf", "mcp_config.json"),
		},
		{
			ID: "gemini", Title: "Gemini CLI", Next: "start it again", Project: ".gemini/settings.json",
			form: generic, paths: inHome(".gemini", "settings.json"),
		},
		{
			ID: "codex", Title: "Codex", Next: "begin a new session", Project: ".codex/config.toml",
			form: form{group: "mcp_servers", toml: true, fields: plainFields}, paths: codexPaths,
		},
		{
			ID: "lmstudio", Title: "LM Studio", Next: "turn it on in a chat, under Integrations",
			form: generic, paths: inHome(".lmstudio", "mcp.json"),
		},
		{ID: "opencode", Title: "opencode", Next: "start it again", paths: opencodePaths, snippet: opencodeSnippet},
		{ID: "goose", Title: "goose", Next: "begin a new session", paths: goosePaths, snippet: gooseSnippet},
	}
}

// ByID finds a client by what a person types.
func ByID(id string) (Client, error) {
	all := Clients()
	i := slices.IndexFunc(all, func(c Client) bool { return c.ID == id })
	if i >= 0 {
		return all[i], nil
	}
	var ids []string
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return Client{}, fault.Fix(fault.NotFound, "use "+strings.Join(ids, ", ")+"; for other apps, lore install --print prints an entry that most of them accept",
		"unknown app %q", id)
}

// Path is the file that the client reads: of the places that it is known to
// use, the first file that exists, else the first whose folder does, else the
// first. Found says whether anything of the client is on this machine.
func (c Client) Path(p Place, exists func(string) bool) (path string, found bool) {
	all := c.paths(p)
	for _, file := range all {
		if exists(file) {
			return file, true
		}
	}
	for _, file := range all {
		// A file that lies in the home folder itself says nothing by its folder.
		if dir := p.dir(file); dir != p.Home && exists(dir) {
			return file, true
		}
	}
	return all[0], false
}

// join makes a path the way the place writes them, which need not be the way of
// the machine that asks.
func (p Place) join(dir string, names ...string) string {
	return strings.TrimRight(dir, p.separators()) + p.sep() + strings.Join(names, p.sep())
}

func (p Place) sep() string {
	if p.OS == "windows" {
		return `\`
	}
	return "/"
}

func (p Place) separators() string {
	if p.OS == "windows" {
		return `\/`
	}
	return "/"
}

func (p Place) dir(file string) string {
	return file[:max(strings.LastIndexAny(file, p.separators()), 0)]
}

// env is the folder that a variable names, else the one in the home folder.
func (p Place) env(name string, inHome ...string) string {
	if v := p.Env(name); v != "" {
		return v
	}
	return p.join(p.Home, inHome...)
}

// config is where programs keep their settings.
func (p Place) config() string {
	switch p.OS {
	case "darwin":
		return p.join(p.Home, "Library", "Application Support")
	case "windows":
		return p.env("APPDATA", "AppData", "Roaming")
	}
	return p.env("XDG_CONFIG_HOME", ".config")
}

func inHome(names ...string) func(Place) []string {
	return func(p Place) []string { return []string{p.join(p.Home, names...)} }
}

// claudePaths has two places on Windows: the program from the store keeps its
// files in a folder of its package.
func claudePaths(p Place) []string {
	const name = "claude_desktop_config.json"
	out := []string{p.join(p.config(), "Claude", name)}
	if p.OS == "windows" {
		store := p.join(p.env("LOCALAPPDATA", "AppData", "Local"), "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude", name)
		out = append(out, store)
	}
	return out
}

func claudeCodePaths(p Place) []string {
	if dir := p.Env("CLAUDE_CONFIG_DIR"); dir != "" {
		return []string{p.join(dir, ".claude.json")}
	}
	return []string{p.join(p.Home, ".claude.json")}
}

func codePaths(p Place) []string {
	return []string{
		p.join(p.config(), "Code", "User", "mcp.json"),
		p.join(p.config(), "Code - Insiders", "User", "mcp.json"),
	}
}

// zedPaths are the same on Linux and macOS, but for the variable.
func zedPaths(p Place) []string {
	switch p.OS {
	case "windows":
		return []string{p.join(p.config(), "Zed", "settings.json")}
	case "darwin":
		return []string{p.join(p.Home, ".config", "zed", "settings.json")}
	}
	return []string{p.join(p.config(), "zed", "settings.json")}
}

func codexPaths(p Place) []string {
	return []string{p.join(p.env("CODEX_HOME", ".codex"), "config.toml")}
}

func opencodePaths(p Place) []string {
	dir := p.env("XDG_CONFIG_HOME", ".config")
	return []string{p.join(dir, "opencode", "opencode.json"), p.join(dir, "opencode", "opencode.jsonc")}
}

func goosePaths(p Place) []string {
	if p.OS == "windows" {
		return []string{p.join(p.config(), "Block", "goose", "config", "config.yaml")}
	}
	return []string{p.join(p.env("XDG_CONFIG_HOME", ".config"), "goose", "config.yaml")}
}
