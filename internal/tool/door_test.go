package tool

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestOneDoor reads the package's own source: the work of a tool is started in
// one place, and the only exported way to that place is Registry.Call.
func TestOneDoor(t *testing.T) {
	callers := map[string][]string{} // what is used, to the functions that use it
	exported := map[string]bool{}
	names, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			exported[fd.Name.Name] = fd.Name.IsExported()
			ast.Inspect(fd.Body, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					callers[s.Sel.Name] = append(callers[s.Sel.Name], fd.Name.Name)
				}
				return true
			})
		}
	}
	// Read writes the field while it makes the tool; guarded calls it.
	if got := unique(callers["run"]); !slices.Equal(got, []string{"Read", "guarded"}) {
		t.Errorf("the field run is used by %v", got)
	}
	if got := unique(callers["guarded"]); !slices.Equal(got, []string{"Call"}) {
		t.Errorf("guarded is called by %v", got)
	}
	if exported["guarded"] || !exported["Call"] {
		t.Error("the test does not see what is exported")
	}
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
