package attacks

import (
	"strings"
	"testing"
)

// TestCommandsAreOff: G01. Nobody runs a command before a person turned that on,
// through any surface and under any name.
func TestCommandsAreOff(t *testing.T) {
	long(t)
	w := newWorld(t, func(w *world) { w.put("config/lore/config.toml", "[tools]\nfiles = \"allow\"\n") })
	before := w.snapshot(true)
	for _, h := range w.hands() {
		for _, name := range []string{"run_command", "runCommand", "run_command ", "Run_Command"} {
			a := h.call(name, `{"command":"touch pwned; cat ../secret.txt"}`)
			if a.pending != "" || a.has(w.canary) || !a.refused {
				w.Errorf("%s: %s: %.300s", h.name, name, a.text)
			}
		}
	}
	w.unchanged(before, true)
	w.silent()
}

// TestFilesOfAVault: A18, A19. The tools for files reach no file that the others
// do not reach, and models write nothing that runs when somebody opens it.
func TestFilesOfAVault(t *testing.T) {
	long(t)
	w := newWorld(t, func(w *world) {
		w.put("config/lore/config.toml", "[approve]\ncreate = \"allow\"\n[tools]\nfiles = \"allow\"\n")
		w.put("vault/.obsidian/app.json", w.canary)
		w.put("vault/.env", w.canary)
	})
	before := w.snapshot(true)
	names := []string{
		"../secret.txt", "../vault-evil/x.md", "/etc/passwd", ".env", ".obsidian/app.json", ".git/hooks/post-checkout", ".lore/x", ".mcp.json", "AGENTS.md", "Notes/../../secret.txt", `..\\secret.txt`,
		"x.sh", "x.desktop", "X.HTML", "x.svg", "x.js", "x.lnk", "x.url", "x.plist", "x.exe", "x.md\u0000.png",
	}
	for _, h := range w.hands() {
		if strings.HasPrefix(h.name, "cli") || h.name == "command" { // a person
			continue
		}
		for _, name := range names {
			for _, use := range []string{
				`write_file {"path":"%s","content":"pwned"}`, `write_to_file {"path":"%s","content":"pwned"}`, `edit_file {"path":"%s","find":"a","replace":"pwned","all":true}`,
				`replace_in_file {"path":"%s","diff":"<<<<<<< SEARCH\na\n=======\npwned\n>>>>>>> REPLACE"}`, `read_file {"path":"%s"}`, `list_files {"path":"%s"}`, `search_text {"pattern":".","path":"%s"}`,
			} {
				tool, args, _ := strings.Cut(use, " ")
				if a := h.call(tool, strings.Replace(args, "%s", name, 1)); a.has(w.canary) || a.pending != "" {
					w.Errorf("%s: %s of %s: %.300s", h.name, tool, name, a.text)
				}
			}
		}
	}
	w.unchanged(before, true)
	w.silent()
}
