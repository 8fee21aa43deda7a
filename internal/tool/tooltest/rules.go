package tooltest

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/tool"
	"lore/internal/tool/tooldoc"
)

// rules checks what every toolset promises, in the package of the test.
func rules(t *testing.T, tools []*tool.Tool) {
	names := map[string]bool{}
	for _, tl := range tools {
		names[tl.Name] = true
		if len(tl.Doc) < 20 || namesStruct(tl.Doc, tl.InputType().Name()) {
			t.Errorf("%s: the description says too little or names the struct: %q", tl.Name, tl.Doc)
		}
		described(t, tl.Name, tl.Input())
		for _, e := range tl.Examples {
			if !json.Valid([]byte(e.Args)) {
				t.Errorf("%s: the example %q is no JSON", tl.Name, e.Args)
			}
		}
		if tl.Output().Type != "object" {
			t.Errorf("%s: the result is no object", tl.Name)
		}
	}
	for _, r := range runners(t) {
		if !slices.ContainsFunc(tools, func(tl *tool.Tool) bool { return tl.InputType().Name() == r }) {
			t.Errorf("%s has a method Run or Plan and is not registered in Tools", r)
		}
	}
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		if name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(s), ".txtar"), "-"); !names[name] {
			t.Errorf("%s belongs to no tool", s)
		}
	}
	generated(t)
}

// namesStruct reports whether a description begins with the name of the struct. A
// name of one word may be the verb that the description begins with: Undo.
func namesStruct(doc, name string) bool {
	rest, ok := strings.CutPrefix(doc, name)
	isVerb := strings.ToLower(name[1:]) == name[1:] && strings.HasPrefix(rest, " a")
	return ok && !isVerb
}

func described(t *testing.T, at string, s *jsonschema.Schema) {
	for name, p := range s.Properties {
		if p.Description == "" {
			t.Errorf("%s.%s has no description", at, name)
		}
		described(t, at+"."+name, p)
	}
}

// runners lists the structs of the package that have a method Run or Plan.
func runners(t *testing.T) []string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Recv == nil || !slices.Contains([]string{"Run", "Plan", "Gather"}, fd.Name.Name) {
				continue
			}
			typ := fd.Recv.List[0].Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			if id, ok := typ.(*ast.Ident); ok && id.IsExported() {
				out = append(out, id.Name)
			}
		}
	}
	return out
}

// generated checks that docs_gen.go was made from the comments as they are.
func generated(t *testing.T) {
	docs, err := tooldoc.Read(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want, err := tooldoc.Generate(filepath.Base(dir), docs)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("docs_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(have, []byte("\r\n"), []byte("\n")), want) {
		t.Error("docs_gen.go is older than the comments; run go generate")
	}
}

// Tokens estimates what a model pays for knowing the tools: a token is about
// four bytes of name, description and schema.
func Tokens(t *testing.T, tools []*tool.Tool) (total int, each map[string]int) {
	t.Helper()
	each = map[string]int{}
	for _, tl := range tools {
		b, err := json.Marshal(map[string]any{"name": tl.Name, "description": tl.Doc, "inputSchema": tl.Input()})
		if err != nil {
			t.Fatal(err)
		}
		each[tl.Name] = (len(b) + 3) / 4
		total += each[tl.Name]
	}
	return total, each
}
