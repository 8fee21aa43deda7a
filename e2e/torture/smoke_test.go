//go:build torture && linux

package torture

import (
	"strings"
	"testing"
)

func TestPlainVault(t *testing.T) {
	w := newWorld(t)
	w.write("Tea.md", "# Tea\n\nSee [[Sencha]].\n")
	w.write("Sencha.md", "# Sencha\n")
	w.mustLore("rename", "Sencha.md", "Green/Sencha.md", "--yes")
	if got := w.read("Tea.md"); !strings.Contains(got, "Sencha") || w.read("Green/Sencha.md") == "" {
		t.Errorf("Tea.md is %q", got)
	}
	w.mustLore("undo", "--yes")
	if w.read("Sencha.md") == "" {
		t.Error("undo did not bring Sencha.md back")
	}
}
