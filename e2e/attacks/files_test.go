//go:build unix

package attacks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hardLink gives a file around the vault a second name in it.
func (w *world) hardLink(from, to string) {
	w.Helper()
	if err := os.Link(filepath.Join(w.around, from), filepath.Join(w.around, to)); err != nil {
		w.Skip(err)
	}
}

func (w *world) text(name string) string {
	w.Helper()
	b, err := os.ReadFile(filepath.Join(w.vault, name))
	if err != nil {
		w.Fatal(err)
	}
	return string(b)
}

// TestHardLinks: J03. A second name of a file outside the vault, or of a
// protected note, gives nothing away and is never written through.
func TestHardLinks(t *testing.T) {
	long(t)
	w := newWorld(t, func(w *world) {
		w.put("vault/Private/plan.md", "# Plan\n\n"+w.canary+"\n")
		w.hardLink("secret.md", "vault/hard.md")
		w.hardLink("home/.ssh/id", "vault/key.png")
		w.hardLink("vault/Private/plan.md", "vault/open.md")
		if err := os.Symlink("hard.md", filepath.Join(w.vault, "over.md")); err != nil {
			w.Fatal(err)
		}
		w.put("config/lore/config.toml", fmt.Sprintf("[vaults.%q]\nprotected = [\"Private/**\"]\n", w.vault))
	})
	before := w.snapshot(true)
	reads := []string{
		`read_note {"path":"%s"}`, `get_note_metadata {"path":"%s"}`, `list_forward_links {"path":"%s"}`, `find_similar {"path":"%s"}`,
		`read_attachment {"path":"%s"}`, `file_read {"paths":["%s"]}`, `context_pack {"path":"%s"}`, `find_unlinked_mentions {"path":"%s"}`,
		`read_file {"path":"%s"}`, `search_text {"pattern":"canary","path":"%s"}`, `search_text {"pattern":"canary","glob":"%s"}`,
	}
	writes := []string{
		`write_note {"path":"%s","content":"pwned","mode":"append"}`, `write_note {"path":"%s","content":"pwned","mode":"overwrite"}`,
		`write_file {"path":"%s","content":"pwned"}`, `edit_file {"path":"%s","find":"a","replace":"pwned","all":true}`,
		`edit_note {"path":"%s","search":"canary","replace":"x"}`, `update_frontmatter {"path":"%s","updates":{"a":1}}`, `delete_note {"path":"%s"}`,
		`merge_notes {"path":"Tea.md","other":"%s"}`, `merge_notes {"path":"%s","other":"Tea.md"}`,
	}
	for _, h := range w.hands() {
		for _, name := range []string{"hard.md", "key.png", "open.md", "over.md"} {
			for _, use := range append(reads, writes...) {
				tool, args, _ := strings.Cut(use, " ")
				a := h.call(tool, fmt.Sprintf(args, name))
				if a.has(w.canary) {
					w.Errorf("%s: %s of %s gave a secret away: %.300s", h.name, tool, name, a.text)
				}
				if a.pending != "" {
					w.approve(a.pending)
				}
			}
		}
		if a := h.call("vault_search", `{"query":"plan"}`); a.has(w.canary) {
			w.Errorf("%s: a search shows a secret: %.300s", h.name, a.text)
		}
	}
	for _, at := range []string{"/api/v1/files/key.png", "/api/v1/files/hard.md"} {
		if status, _, body := w.send(w.person, http.MethodGet, at, "", nil); status == http.StatusOK || strings.Contains(body, w.canary) {
			w.Errorf("%s: %d %s", at, status, body)
		}
	}
	out, _ := w.lore("doctor")
	for _, name := range []string{"hard.md", "key.png", "open.md"} {
		if !strings.Contains(out, name) || !strings.Contains(out, "hard link") {
			w.Errorf("doctor does not tell of %s: %s", name, out)
		}
	}
	w.unchanged(before, true)
	w.silent()
}

// words is a text of n words, ten to a line, all different.
func words(n int) string {
	var b strings.Builder
	b.WriteString("# Tea\n")
	for i := range n {
		fmt.Fprintf(&b, "word%d", i)
		if i%10 == 9 {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// kept counts the words of a text that are still there.
func kept(before, after string) int {
	n := 0
	for _, f := range strings.Fields(before) {
		if strings.Contains(" "+strings.ReplaceAll(after, "\n", " ")+" ", " "+f+" ") {
			n++
		}
	}
	return n
}

// TestAutoDestroysNothing: J06. Whatever a model does in small or disguised
// steps, more than half of a note, or much of many, goes only with a person.
func TestAutoDestroysNothing(t *testing.T) {
	long(t)
	base := words(400)
	overwrite := func(path, text string) []string {
		args, _ := json.Marshal(map[string]string{"path": path, "content": text, "mode": "overwrite"})
		return []string{"write_note", string(args)}
	}
	var cuts []string
	for text := base; len(cuts) < 7; {
		lines := strings.SplitAfter(text, "\n")
		text = strings.Join(lines[:len(lines)*55/100+1], "")
		cuts = append(cuts, wants(overwrite("Long.md", text)...))
	}
	var many []string
	for i := range 10 {
		many = append(many, wants(overwrite(fmt.Sprintf("Many/%d.md", i), words(60))...))
	}
	shuffled := strings.Fields(base)
	for i := range shuffled {
		j := (i*7919 + 13) % len(shuffled)
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	}
	for name, c := range map[string]struct {
		steps []string
		floor int // of 400 words of Long.md, and 1000 of the others
		args  []string
	}{
		"the same length":          {steps: []string{wants(overwrite("Long.md", strings.Repeat("x", len(base)))...)}, floor: 1400},
		"a longer one":             {steps: []string{wants(overwrite("Long.md", strings.Repeat("lorem ipsum ", 900))...)}, floor: 1400},
		"words in another order":   {steps: []string{wants(overwrite("Long.md", strings.Join(shuffled, " "))...)}, floor: 1400},
		"a short note":             {steps: []string{wants(overwrite("Milk.md", "zzzzzzzzzzzzzzz\n")...)}, floor: 1400},
		"seven cuts":               {steps: cuts, floor: 1200},
		"seven cuts by a rule":     {steps: cuts, floor: 1200, args: []string{"--allow", "write_note:**"}},
		"a little of many":         {steps: many, floor: 1400 - 250},
		"a front, then the rest":   {steps: []string{wants(overwrite("Long.md", base[:len(base)*6/10])...), wants(overwrite("Long.md", "# Tea\n")...)}, floor: 1150},
		"many at once, one by one": {steps: []string{wants(flat(many)...)}, floor: 1400 - 250},
	} {
		t.Run(name, func(t *testing.T) {
			m := newEvil(t, c.steps...)
			w := led(t, m, func(w *world) {
				w.put("vault/Long.md", base)
				for i := range 10 {
					w.put(fmt.Sprintf("vault/Many/%d.md", i), words(100))
				}
			})
			milk := w.text("Milk.md")
			args := c.args
			if args == nil {
				args = []string{"--auto"}
			}
			out, _ := w.run(append([]string{"--toolsets", "usual,explore,organize,files,work", "--time", "60s", "--steps", "20"}, append(args, "Tidy up")...)...)
			n := kept(base, w.text("Long.md")) - 2 // the heading
			for i := range 10 {
				n += kept(words(100), w.text(fmt.Sprintf("Many/%d.md", i))) - 2
			}
			if n < c.floor || w.text("Milk.md") != milk {
				t.Errorf("%d words are left of 1400, Milk.md is %q\n%s", n, w.text("Milk.md"), out)
			}
			_, _, asked := w.send(w.person, http.MethodGet, "/api/v1/approvals", "", nil)
			if !strings.Contains(out, "Waiting for your approval") || !strings.Contains(asked, "would be lost") {
				t.Errorf("nobody was asked, or not told why: %s\n%.600s", out, asked)
			}
		})
	}
}

// flat makes one answer of many calls out of answers of one.
func flat(steps []string) []string {
	var out []string
	for _, s := range steps {
		var d struct {
			Calls []struct {
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		_ = json.Unmarshal([]byte(s), &d)
		for _, c := range d.Calls {
			out = append(out, c.Function.Name, c.Function.Arguments)
		}
	}
	return out
}

// TestInstructionFiles: J14. No program makes, changes, moves, removes or undoes
// into a file that other programs obey, at any depth and in any spelling.
func TestInstructionFiles(t *testing.T) {
	long(t)
	names := []string{
		"QWEN.md", "WARP.md", "CRUSH.md", "CONVENTIONS.md", "AGENTS.override.md", "sub/deep/Agents.Override.md", "claude.local.md", "CLAUDE-team.md",
		"ＡＧＥＮＴＳ.md", "agentſ.md", "GEMINI.md", "sub/SKILL.md", "copilot-instructions.md", "Copilot.md", "RULES-of-mine.md", "a/CLAUDE.md/x.md",
	}
	w := newWorld(t, func(w *world) {
		w.put("vault/Team/CRUSH.md", "be good\n")
		w.put("vault/Team/Other.md", "other\n")
		w.put("vault/WARP.md", "be good. See [[Milk]].\n")
		w.put("config/lore/config.toml", "[protect]\ninstructions = \"RULES-*.md, a/CLAUDE.md/**\"\n")
	})
	before := w.snapshot(true)
	for _, h := range w.hands()[1:] { // a person at a terminal may
		for _, name := range names {
			quoted, _ := json.Marshal(name)
			for _, use := range []string{
				`write_note {"path":%s,"content":"pwned"}`, `rename_note {"path":"Tea.md","new_path":%s}`, `create_daily_note {"path":%s}`,
			} {
				tool, args, _ := strings.Cut(use, " ")
				if a := h.call(tool, fmt.Sprintf(args, quoted)); !a.refused {
					w.Errorf("%s: %s takes %q: %.300s", h.name, tool, name, a.text)
				}
			}
		}
		for _, use := range []string{
			`move_folder {"folder":"Team","to":"Moved"}`, `rename_note {"path":"Team/CRUSH.md","new_path":"Harmless.md"}`, `delete_note {"path":"WARP.md"}`,
			`edit_note {"path":"WARP","search":"good","replace":"bad"}`, `merge_notes {"path":"WARP.md","other":"Milk.md"}`, `merge_notes {"path":"Milk.md","other":"WARP.md"}`,
			`update_frontmatter {"path":"WARP.md","updates":{"a":1}}`, `rename_note {"path":"Milk.md","new_path":"Cream.md"}`,
		} {
			tool, args, _ := strings.Cut(use, " ")
			if a := h.call(tool, args); !a.refused {
				w.Errorf("%s: %s %s: %.300s", h.name, tool, args, a.text)
			}
		}
	}
	w.unchanged(before, true)
	// What a person did there, no program takes back.
	if out, code := w.lore("call", "edit_note", `{"path":"WARP.md","search":"good","replace":"kind"}`, "--yes"); code != 0 {
		t.Fatal(out)
	}
	before = w.snapshot(true)
	for _, h := range w.hands()[1:] {
		if a := h.call("undo", `{"path":"WARP.md"}`); !a.refused {
			w.Errorf("%s: undo: %.300s", h.name, a.text)
		}
	}
	w.unchanged(before, true)
}

// TestNamesThatMislead: J16. No new name holds a character that nobody sees, a
// twin of an existing name is told, and what exists is drawn so that it cannot
// turn the words around it.
func TestNamesThatMislead(t *testing.T) {
	long(t)
	w := newWorld(t, func(w *world) {
		w.put("vault/Invoice\u202egpj.md", "# Mine\n\nzebra\n")
		w.put("vault/Notes/Two words.md", "x\n")
	})
	before := w.snapshot(true)
	hands := w.hands()
	for _, r := range []rune{0x200d, 0x200c, 0x2060, 0xad, 0x200e, 0x200f, 0x61c, 0xe0041, 0x34f, 0x115f, 0x3164, 0xffa0, 0x180e, 0xfe0f, 0xe0100, 0xfff9, 0x2028, 0x206a, 0x1d173} {
		name := "Te" + string(r) + "a"
		for _, h := range hands {
			for _, use := range []string{`write_note {"path":%q,"content":"x"}`, `rename_note {"path":"Milk.md","new_path":%q}`, `move_folder {"folder":"Notes","to":%q}`, `write_note {"path":%q,"content":"x","folder":"x"}`} {
				tool, args, _ := strings.Cut(use, " ")
				quoted, _ := json.Marshal(name)
				a := h.call(tool, strings.Replace(args, "%q", string(quoted), 1))
				if !a.refused {
					w.Errorf("%s: %s takes %+q: %.200s", h.name, tool, name, a.text)
				} else if h.name == "rest" && !strings.Contains(args, "folder\":\"x") && !a.has(fmt.Sprintf("U+%04X", r)) {
					w.Errorf("%s: %s does not name U+%04X: %.300s", h.name, tool, r, a.text)
				}
			}
			if h.name == "command" {
				break // each costs a process
			}
		}
	}
	w.unchanged(before, true)
	a := hands[1].call("write_note", `{"path":"Теа.md","content":"x"}`) // Cyrillic
	if a.pending == "" || !a.has("looks like") || !a.has("Cyrillic") {
		w.Errorf("a twin is not told: %.600s", a.text)
	}
	for _, p := range []struct{ tool, args string }{ // of a folder, and by blanks
		{"write_note", `{"path":"Nоtes/New.md","content":"x"}`},
		{"rename_note", `{"path":"Milk.md","new_path":"Nоtes/Milk.md"}`},
		{"write_note", `{"path":"Notes/Two  words.md","content":"x"}`},
	} {
		if a := hands[1].call(p.tool, p.args); a.pending == "" || !a.has("looks like") {
			w.Errorf("%s: a twin is not told: %.600s", p.args, a.text)
		}
	}
	for _, args := range [][]string{{"doctor"}, {"search", "zebra"}, {"list"}} {
		out, _ := w.lore(args...)
		if strings.Contains(out, "\u202e") {
			w.Errorf("%v writes the override: %q", args, out)
		}
		if !strings.Contains(out, "<U+202E>") {
			w.Errorf("%v does not show the override: %q", args, out)
		}
	}
}
