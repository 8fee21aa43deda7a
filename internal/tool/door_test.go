package tool

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// callGraph reads the package's own source: which function calls which
// names.
func callGraph(t *testing.T) map[string][]string {
	t.Helper()
	uses := map[string][]string{}
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
			ast.Inspect(fd.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				switch fun := call.Fun.(type) {
				case *ast.SelectorExpr:
					uses[fd.Name.Name] = append(uses[fd.Name.Name], fun.Sel.Name)
				case *ast.Ident:
					uses[fd.Name.Name] = append(uses[fd.Name.Name], fun.Name)
				}
				return true
			})
		}
	}
	return uses
}

// reaches lists the exported functions from which a use of name can be reached.
func reaches(uses map[string][]string, name string) []string {
	found := map[string]bool{name: true}
	for again := true; again; {
		again = false
		for f, list := range uses {
			if !found[f] && slices.ContainsFunc(list, func(u string) bool { return found[u] }) {
				found[f], again = true, true
			}
		}
	}
	var out []string
	for f := range found {
		if ast.IsExported(f) && f != name && uses[f] != nil {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// TestOneDoor proves from the source that the work of a tool is started in one
// place, and which exported functions lead there.
func TestOneDoor(t *testing.T) {
	uses := callGraph(t)
	var starters []string
	for f, list := range uses {
		if slices.Contains(list, "guarded") {
			starters = append(starters, f)
		}
	}
	slices.Sort(starters)
	if want := []string{"foreseen", "planned", "read", "unlimited"}; !slices.Equal(starters, want) {
		t.Errorf("guarded is called by %v, want %v", starters, want)
	}
	// Rehearse plans and goes no further: it does not reach Apply.
	// A tool that makes several calls plans each of them with Make, within its own.
	if got, want := reaches(uses, "guarded"), []string{"Answer", "Await", "Call", "CarryOutApprovals", "Make", "Rehearse"}; !slices.Equal(got, want) {
		t.Errorf("the work of a tool can be started through %v, want %v", got, want)
	}
	if got, want := reaches(uses, "apply"), []string{"Answer", "Await", "Call", "CarryOutApprovals"}; !slices.Equal(got, want) {
		t.Errorf("edits can be made through %v, want %v", got, want)
	}
	for f, list := range uses {
		if slices.Contains(list, "Apply") && f != "apply" {
			t.Errorf("%s calls Apply beside apply", f)
		}
	}
}

// TestOutsiders compiles programs that try to run a tool past the door. None of
// them may compile, each for the reason that it names in its first line.
func TestOutsiders(t *testing.T) {
	entries, err := os.ReadDir("testdata/outsider")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		src, err := os.ReadFile("testdata/outsider/" + e.Name() + "/main.go")
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(src), "\n")
		want := strings.TrimPrefix(first, "// ")
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, "./testdata/outsider/"+e.Name()).CombinedOutput()
		switch {
		case want == "compiles" && err != nil:
			t.Errorf("%s should compile, so that the others mean something: %s", e.Name(), out)
		case want != "compiles" && err == nil:
			t.Errorf("%s compiles", e.Name())
		case want != "compiles" && !strings.Contains(string(out), want):
			t.Errorf("%s fails for another reason than %q: %s", e.Name(), want, out)
		}
	}
}
