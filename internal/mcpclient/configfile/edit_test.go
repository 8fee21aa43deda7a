package configfile

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"lore/internal/fault"
)

var update = flag.Bool("update", false, "write what the code makes into the golden files")

var ann = Entry{Command: "/usr/local/bin/lore", Args: []string{"mcp", "--vault", "/home/ann/notes"}}

// visible writes what an editor would hide, so that golden files keep it.
var visible = strings.NewReplacer("\r\n", "<CR>\n", bom, "<BOM>")

// hidden is the way back.
var hidden = strings.NewReplacer("<CR>\n", "\r\n", "<BOM>", bom)

// TestGolden plays testdata/CLIENT.txtar: for each file "name" the file
// "name.want" is what Put makes of it, or the error. Removing gives back the
// file, unless its name says that an entry was there before.
func TestGolden(t *testing.T) {
	for _, c := range Clients() {
		if !c.Editable() {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			path := filepath.Join("testdata", c.ID+".txtar")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			out := &txtar.Archive{Comment: txtar.Parse(b).Comment}
			want := map[string]string{}
			for _, f := range txtar.Parse(b).Files {
				want[f.Name] = string(f.Data)
			}
			for _, f := range txtar.Parse(b).Files {
				if strings.HasSuffix(f.Name, ".want") {
					continue
				}
				got := golden(t, c, f.Name, hidden.Replace(string(f.Data)))
				if got != want[f.Name+".want"] && !*update {
					t.Errorf("%s: got\n%s\nwant\n%s", f.Name, got, want[f.Name+".want"])
				}
				out.Files = append(out.Files, f, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// golden runs one case. Texts whose name begins with "cut" lose the line end
// that a txtar file cannot leave out.
func golden(t *testing.T, c Client, name, text string) string {
	t.Helper()
	if strings.HasPrefix(name, "cut") {
		text = strings.TrimSuffix(text, "\n")
	}
	after, err := c.Put(text, "lore", ann)
	if err != nil {
		if fault.Of(err) != fault.Invalid {
			t.Errorf("%s: the error is %v", name, err)
		}
		return "error: " + err.Error() + "\n"
	}
	again, err := c.Put(after, "lore", ann)
	if err != nil || again != after {
		t.Errorf("%s: the second time it changes: %v\n%s", name, err, again)
	}
	if e, ok, err := c.Find(after, "lore"); err != nil || !ok || e.Command != ann.Command || strings.Join(e.Args, " ") != strings.Join(ann.Args, " ") {
		t.Errorf("%s: found %v, %v, %v", name, e, ok, err)
	}
	back, err := c.Remove(after, "lore")
	if err != nil {
		t.Errorf("%s: remove: %v", name, err)
	}
	if _, ok, _ := c.Find(text, "lore"); !ok && back != text {
		t.Errorf("%s: removing gives %q, not %q", name, back, text)
	}
	if strings.HasPrefix(name, "cut") {
		after += "\n"
	}
	return visible.Replace(after)
}

func TestErrorsDoNotHideTheirReason(t *testing.T) {
	c, err := ByID("cursor")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"{\n  \"a\": }":                       "line 2: no value begins with \"}\"",
		`{"a": 1 "b": 2}`:                     "line 1: a comma or } is missing",
		`{"a": tru}`:                          `"tru" is not a value`,
		`[]`:                                  "the whole text is not an object",
		`{"mcpServers": []}`:                  `"mcpServers" is not an object`,
		`{"mcpServers": {}, "mcpServers": 1}`: `"mcpServers" occurs twice`,
		`{} {}`:                               "there is text after the end",
		`{"a": 1,, "b": 2}`:                   "a name in quotes or } is missing",
		"{/* }":                               "a comment is not closed",
		"\xff\xfe{\x00}\x00":                  "the text is not UTF-8",
		strings.Repeat("[", 5000):             "nested too deep",
	} {
		_, err := c.Put(text, "lore", ann)
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, fault.Invalid) {
			t.Errorf("%.40q: %v, not %s", text, err, want)
		}
	}
}

// FuzzJSON holds for every text that can be read and has no entry yet: what is
// added is one stretch of bytes and a comma at the most, the result can be read,
// adding twice is adding once, and removing gives the very bytes back.
func FuzzJSON(f *testing.F) {
	for _, c := range Clients() {
		b, err := os.ReadFile(filepath.Join("testdata", c.ID+".txtar"))
		if err != nil {
			continue
		}
		for _, file := range txtar.Parse(b).Files {
			if text := hidden.Replace(string(file.Data)); !strings.HasSuffix(file.Name, ".want") {
				f.Add(text)
				f.Add(strings.TrimSuffix(text, "\n"))
			}
		}
	}
	for _, s := range []string{
		`{ "mcpServers": { } }`, "{\"a\": 1 //c\r}", "{\n\t\"a\": 1, // c\n\t/* d\n*/ }", "// only a comment", "{\"mcpServers\": {/*x*/}}",
		"{\"mcpServers\": {\n // none\n}}", `{"mcpServers": {"a": {}, /* last */ },}`,
		"{\"mcpServers\": {\n// mine\n\"lore\": {}, \"b\": {}}}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { holds(t, Client{form: generic}, text) })
}

// FuzzTOML is the same for TOML.
func FuzzTOML(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("testdata", "codex.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range txtar.Parse(b).Files {
		if text := hidden.Replace(string(file.Data)); !strings.HasSuffix(file.Name, ".want") {
			f.Add(text)
			f.Add(strings.TrimSuffix(text, "\n"))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		holds(t, Client{form: form{group: "mcp_servers", toml: true, fields: plainFields}}, text)
	})
}

func holds(t *testing.T, c Client, text string) {
	t.Helper()
	_, there, err := c.Find(text, "lore")
	if err != nil {
		return
	}
	after, err := c.Put(text, "lore", ann)
	if err != nil {
		return // refused, and told so
	}
	again, err := c.Put(after, "lore", ann)
	if err != nil || again != after {
		t.Fatalf("twice: %v\n%q\n%q", err, after, again)
	}
	back, err := c.Remove(after, "lore")
	if err != nil {
		t.Fatalf("remove from %q: %v", after, err)
	}
	if _, still, err := c.Find(back, "lore"); still || err != nil {
		t.Fatalf("still there: %v\n%q", err, back)
	}
	if there {
		return
	}
	if back != text {
		t.Fatalf("%q became\n%q and then\n%q", text, after, back)
	}
	if !within(text, after) {
		t.Fatalf("bytes were lost: %q\n%q", text, after)
	}
}

// within reports whether every byte of a stands in b, in its order.
func within(a, b string) bool {
	for i := range len(b) {
		if a != "" && a[0] == b[i] {
			a = a[1:]
		}
	}
	return a == ""
}
