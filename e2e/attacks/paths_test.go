//go:build unix

package attacks

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// uses are the ways to give a path to a tool. Each must refuse one that leads
// out; %s is the path as JSON.
var uses = []struct {
	tool, args string
	notes      bool // it takes a note, so that .md may be added
}{
	{"read_note", `{"path":%s}`, true},
	{"get_note_metadata", `{"path":%s}`, true},
	{"list_backlinks", `{"path":%s}`, true},
	{"list_forward_links", `{"path":%s}`, true},
	{"find_similar", `{"path":%s}`, true},
	{"find_unlinked_mentions", `{"path":%s}`, true},
	{"read_attachment", `{"path":%s}`, false},
	{"get_file_tree", `{"folder":%s}`, false},
	{"list_notes", `{"folder":%s}`, false},
	{"write_note", `{"path":%s,"content":"pwned"}`, true},
	{"edit_note", `{"path":%s,"search":"a","replace":"b"}`, true},
	{"update_frontmatter", `{"path":%s,"updates":{"a":1}}`, true},
	{"delete_note", `{"path":%s}`, true},
	{"rename_note", `{"path":%s,"new_path":"new.md"}`, true},
	{"rename_note", `{"path":"Tea.md","new_path":%s}`, true},
	{"move_folder", `{"folder":%s,"to":"x"}`, false},
	{"move_folder", `{"folder":"Notes","to":%s}`, false},
	{"merge_notes", `{"path":"Tea.md","other":%s}`, true},
	{"link_mentions", `{"path":%s}`, true},
	{"undo", `{"path":%s}`, true},
}

// TestPaths: A01-A04, A06, A12. No path points outside the vault.
func TestPaths(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	outside := []string{
		"../secret.txt", "../secret.md", "../secret", "Notes/../../secret.md", "../vault-evil/x.md", "../vault-evil/x", "../vault/../secret.md",
		"/etc/passwd", "//etc/passwd", "///a.md", filepath.Join(w.around, "secret.md"), w.vault + "/Tea.md",
		`..\..\x.md`, `..\secret.md`, `sub\..\..\x`, `C:\x.md`, `C:/x.md`, `\\host\share\x`, `\\?\C:\x.md`,
		"a.md\x00.png", "a\x00/../b", "Tea.md\x00", "/proc/self/root/etc/passwd", "/dev/fd/3", "/dev/stdin", "~/.ssh/id", "$HOME/.ssh/id",
		"..", "../", ".", "./..", "Notes/..", "....//secret.md", "..%2fsecret.md", "%2e%2e/secret.md", "file:///etc/passwd", "note:///../secret.md",
		"..\u2215secret.md", "\u2025/secret.md",
	}
	before := w.snapshot(true)
	for _, h := range w.hands() {
		for _, path := range outside {
			quoted, _ := json.Marshal(path)
			for _, use := range uses {
				a := h.call(use.tool, fmt.Sprintf(use.args, quoted))
				if a.has(w.canary) || a.has("root:x:") {
					w.Fatalf("%s: %s of %q gave a secret away: %s", h.name, use.tool, path, a.text)
				}
				// A folder of the vault's root, and a name that merely looks strange, lie inside.
				if !a.refused && leads(path) {
					w.Errorf("%s: %s takes %q: %.300s", h.name, use.tool, path, a.text)
				}
				if h.name == "command" && (!leads(path) || !whole()) {
					break // each costs a process
				}
			}
		}
	}
	w.unchanged(before, true)
	w.silent()
}

// leads reports whether a path is certainly not one inside the vault.
func leads(path string) bool {
	switch path {
	case ".", "Notes/..", "....//secret.md", "..%2fsecret.md", "%2e%2e/secret.md", "~/.ssh/id", "$HOME/.ssh/id", "file:///etc/passwd",
		"note:///../secret.md", "..\u2215secret.md", "\u2025/secret.md":
		return false
	}
	return true
}

// TestLinksAndSpecialFiles: A07-A10, A13, A14, A16. What lies in the vault and
// leads out of it, or is no file, is never read, followed or waited for.
func TestLinksAndSpecialFiles(t *testing.T) {
	long(t)
	w := newWorld(t, func(w *world) {
		link := func(to, name string) {
			if err := os.Symlink(to, filepath.Join(w.vault, name)); err != nil {
				w.Fatal(err)
			}
		}
		link("../secret.md", "leak.md")
		link(filepath.Join(w.around, "new"), "dangling.md")
		link("..", "up")
		link("/proc/self/cwd", "magic")
		link("l2.md", "l1.md")
		link("l1.md", "l2.md")
		link("Tea.md", "inside.md")
		if err := errors.Join(syscall.Mkfifo(filepath.Join(w.vault, "fifo.md"), 0o644), os.Mkdir(filepath.Join(w.vault, "dir.md"), 0o755)); err != nil {
			w.Fatal(err)
		}
		if l, err := net.Listen("unix", filepath.Join(w.vault, "s.md")); err == nil {
			w.Cleanup(func() { _ = l.Close() })
		}
		deep := w.vault
		for range 300 { // as deep as a path may be
			deep = filepath.Join(deep, "deep")
		}
		if err := os.MkdirAll(deep, 0o755); err != nil {
			w.Fatal(err)
		}
	})
	before := w.snapshot(true)
	targets := []string{
		"leak.md", "leak", "leak.md/", "dangling.md", "up/secret.md", "up/x.md", "up/vault-evil/x.md", "magic/secret.md", "l1.md", "fifo.md",
		"dir.md", "s.md", "up/vault/Tea.md",
	}
	for _, h := range w.hands() {
		for _, path := range targets {
			quoted, _ := json.Marshal(path)
			for _, use := range uses {
				if h.name == "command" && use.tool != "read_note" && use.tool != "write_note" && use.tool != "delete_note" {
					continue // each costs a process
				}
				if (path == "leak" || path == "dir.md") && use.tool == "move_folder" || use.tool == "undo" {
					continue // a folder may be called so
				}
				a := h.call(use.tool, fmt.Sprintf(use.args, quoted))
				if a.has(w.canary) {
					w.Fatalf("%s: %s of %q gave a secret away: %s", h.name, use.tool, path, a.text)
				}
				if a.pending != "" && use.tool != "rename_note" && use.tool != "move_folder" || !a.refused && use.tool == "read_note" {
					w.Errorf("%s: %s takes %q: %.300s", h.name, use.tool, path, a.text)
				}
				if a.pending != "" && path != "dir.md" {
					w.approve(a.pending) // what was asked must come to nothing
				}
			}
		}
		for _, c := range []struct{ tool, args string }{
			{"search_notes", fmt.Sprintf(`{"query":%q}`, w.canary)}, {"vault_search", fmt.Sprintf(`{"query":%q}`, w.canary)}, {"context_pack", fmt.Sprintf(`{"question":%q}`, w.canary)},
			{"file_read", `{"file_paths":["leak.md","up/secret.md","fifo.md","../secret.md"]}`}, {"get_file_tree", `{}`}, {"list_notes", `{}`}, {"vault_health", `{}`},
		} {
			a := h.call(c.tool, c.args)
			if strings.Count(a.text, w.canary) > strings.Count(c.args, w.canary) {
				w.Errorf("%s: %s gave a secret away: %s", h.name, c.tool, a.text)
			}
		}
	}
	w.unchanged(before, true)
	if _, err := os.Stat(filepath.Join(w.around, "new")); err == nil {
		w.Error("a dangling link was followed")
	}
}

// TestNames: A17, A20. Strange names are refused, or become a file in the vault
// and nothing else.
func TestNames(t *testing.T) {
	long(t)
	w := newWorld(t, nil)
	before := w.snapshot(false)
	names := []string{
		"con.md", "nul", "NUL.md", "a.md.", "a.md ", " a.md", "a:b.md", "a.md::$DATA", strings.Repeat("n", 256) + ".md", strings.Repeat("d/", 2100) + "x.md",
		"", "-rf.md", "--output=x", "a\nb.md", "a\x1b[2Jb.md", "a\u202eb.md", "TEA.md", "tea.MD", "notes/x.md", "NOTES/CUP.MD", "a\u0301.md", "😀.md", "a|b?.md", "a*.md",
	}
	for _, h := range w.hands() {
		for i, name := range names {
			args, _ := json.Marshal(map[string]string{"path": name, "content": fmt.Sprintf("%s %d", h.name, i)})
			a := h.call("write_note", string(args))
			if a.pending != "" {
				w.approve(a.pending)
			}
			if (name == "TEA.md" || name == "tea.MD" || name == "NOTES/CUP.MD" || name == "notes/x.md") && !a.refused && !a.has("Tea.md") && !a.has("Cup.md") {
				if twins(w.vault) {
					w.Errorf("%s: %q made a twin: %.300s", h.name, name, a.text)
				}
			}
		}
	}
	w.unchanged(before, false)
	if b, err := os.ReadFile(filepath.Join(w.vault, "Tea.md")); err != nil || !strings.Contains(string(b), "Tea") && !strings.Contains(string(b), "mcp") && !strings.Contains(string(b), "command") {
		w.Errorf("Tea.md holds %q, %v", b, err)
	}
}

// twins reports whether two names in the vault differ in case alone.
func twins(dir string) bool {
	seen := map[string]bool{}
	found := false
	_ = filepath.WalkDir(dir, func(p string, _ os.DirEntry, _ error) error {
		low := strings.ToLower(p)
		found = found || seen[low]
		seen[low] = true
		return nil
	})
	return found
}

// TestFilesThatActs: A18, A19, H05. No program writes what other programs obey,
// or what is run.
func TestFilesThatAct(t *testing.T) {
	long(t)
	w := newWorld(t, func(w *world) {
		w.put("vault/AGENTS.md", "be good\n")
		w.put("vault/CLAUDE.md", "be good\n")
		w.put("vault/.obsidian/app.json", "{}")
		w.put("vault/.git/config", "[core]\n")
	})
	if out, code := w.lore("write", "first", "--content", "so that there is a record", "--yes"); code != 0 {
		t.Fatal(out)
	}
	before := w.snapshot(true)
	data, err := filepath.Glob(filepath.Join(w.around, "data", "lore", "*", "audit.jsonl"))
	if err != nil || len(data) != 1 {
		t.Fatal(data, err)
	}
	paths := []string{
		".git/hooks/post-checkout", ".git/config", ".obsidian/plugins/x/main.js", ".obsidian/app.json", ".obsidian/app", ".trash/x.md", ".lore/config", ".lore/x.md",
		".mcp.json", "AGENTS.md", "agents.md", "CLAUDE.md", "Claude", "sub/AGENTS.md", ".vscode/tasks.json", ".cursor/rules/x.md", ".github/copilot-instructions.md",
		"x.desktop", "x.sh", "x.svg", "x.html", "x.js", "x.lnk", "x.url", "x.plist", "x.exe", "x.md/../.git/config", ".hidden.md", "a/.hidden/x.md", data[0],
	}
	for _, h := range w.hands()[1:] { // a person at a terminal may do more
		for _, path := range paths {
			quoted, _ := json.Marshal(path)
			for _, use := range []string{`write_note {"path":%s,"content":"pwned"}`, `rename_note {"path":"Tea.md","new_path":%s}`, `edit_note {"path":%s,"search":"good","replace":"bad"}`, `delete_note {"path":%s}`} {
				tool, args, _ := strings.Cut(use, " ")
				a := h.call(tool, fmt.Sprintf(args, quoted))
				if a.refused {
					continue
				}
				if strings.HasPrefix(path, "x.") && tool != "edit_note" && tool != "delete_note" && a.has(".md") {
					continue // it became a note: x.sh.md
				}
				w.Errorf("%s: %s takes %q: %.300s", h.name, tool, path, a.text)
			}
		}
	}
	w.unchanged(before, true)
	if out, code := w.lore("audit", "verify"); code != 0 {
		w.Error(out)
	}
}
