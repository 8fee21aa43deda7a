//go:build torture && linux

package torture

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// save writes a file as one kind of editor does.
var editors = map[string]func(path, text string) error{
	"in place": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) },
	"beside, then renamed": func(path, text string) error {
		if err := os.WriteFile(path+".tmp", []byte(text), 0o644); err != nil {
			return err
		}
		return os.Rename(path+".tmp", path)
	},
	"with a backup": func(path, text string) error {
		if err := os.Rename(path, path+"~"); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(text), 0o644)
	},
	"at the end": func(path, text string) error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		if e := f.Close(); err == nil {
			err = e
		}
		return err
	},
}

// An editor and Lore change the same note. The editor's last save is in the
// note, or in a copy beside it.
func TestEditors(t *testing.T) {
	for name, save := range editors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("Tea.md", "# Tea\n\nTEA\n")
			w.mustLore("index", "--text-only")
			w.start("mcp") // a process that stays, so that commands are quick
			stop := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
						w.lore("write", "Tea.md", "--content", fmt.Sprintf("lore %d", i), "--mode", "append", "--yes")
					}
				}
			})
			lost := 0
			for i := range rounds(40) {
				mark := fmt.Sprintf("saved-%d.", i)
				if err := save(filepath.Join(w.vault, "Tea.md"), "# Tea\n\nTEA "+mark+"\n"); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				} else if err == nil && !w.anywhere(mark) {
					lost++
				}
			}
			close(stop)
			wg.Wait()
			if lost > 0 {
				t.Errorf("%d saves were lost", lost)
			}
			w.healthy()
		})
	}
}

// anywhere reports whether a text is in any file of the vault or of the data
// folder, or was.
func (w *world) anywhere(text string) bool {
	found := false
	for range 3 { // a file may move while it is looked for
		for _, root := range []string{w.vault, w.data} {
			err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || found {
					return nil
				}
				b, err := os.ReadFile(p)
				found = found || err == nil && strings.Contains(string(b), text)
				return nil
			})
			if err != nil {
				w.t.Fatal(err)
			}
		}
		if found {
			return true
		}
	}
	return false
}
