//go:build torture && linux

package torture

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// questions are asked twice when a vault is judged: of the index that lived
// through it, and of a new one.
var questions = [][]string{
	{"list", "--limit", "1000", "--json"},
	{"tags", "--limit", "1000", "--json"},
	{"broken", "--limit", "1000", "--json"},
	{"orphans", "--limit", "1000", "--json"},
	{"search", "words", "--mode", "lexical", "--json"},
}

// judge compares every answer that is marked fresh with that of a new index, and
// looks at every file of the vault.
func (w *world) judge() {
	w.t.Helper()
	anew := *w
	anew.data = filepath.Join(w.dir, fmt.Sprint("new", len(w.siblings())))
	if err := os.MkdirAll(anew.data, 0o700); err != nil {
		w.t.Fatal(err)
	}
	for _, q := range questions {
		old, fresh := w.ask(q)
		want, _ := anew.ask(q)
		if fresh && !reflect.DeepEqual(old, want) {
			w.t.Errorf("lore %s says that it is fresh and answers\n%v\nwhere a new index says\n%v", strings.Join(q, " "), old, want)
		}
		if !fresh {
			w.t.Errorf("lore %s is not fresh although nothing changes", strings.Join(q, " "))
		}
	}
	w.whole()
}

func (w *world) siblings() []string {
	found, err := filepath.Glob(filepath.Join(w.dir, "new*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// ask runs a command and takes the freshness out of its answer.
func (w *world) ask(args []string) (answer map[string]any, fresh bool) {
	w.t.Helper()
	w.mustLore(args...).decode(w.t, &answer)
	if ix, ok := answer["index"].(map[string]any); ok {
		fresh, _ = ix["fresh"].(bool)
	}
	delete(answer, "index")
	return answer, fresh
}

// sealed is a text whose last line tells whether it is whole.
func sealed(text string) string {
	return text + fmt.Sprintf("words end %d\n", len(text))
}

// whole fails when a note was torn: every note of these tests is sealed, and
// edits of Lore change neither its length nor its last line.
func (w *world) whole() {
	w.t.Helper()
	err := filepath.WalkDir(w.vault, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".md" || strings.Contains(p, "/.lore/") {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		text := string(b)
		i := strings.LastIndex(text, "words end ")
		var n int
		if i < 0 {
			w.t.Errorf("%s has lost its end: %q", p, text)
		} else if _, err := fmt.Sscanf(text[i:], "words end %d\n", &n); err != nil || n != i {
			w.t.Errorf("%s is torn: %q", p, text)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// healthy fails when the doctor finds an error.
func (w *world) healthy() {
	w.t.Helper()
	if r := w.lore("doctor", "--json"); r.code != 0 {
		w.t.Errorf("doctor: %v", r)
	}
	var out struct {
		Entries int `json:"entries"`
	}
	r := w.lore("audit", "verify", "--json")
	if err := json.Unmarshal([]byte(r.out), &out); r.code != 0 || err != nil {
		w.t.Errorf("audit: %v", r)
	}
}
