package userfacing

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// Errors are the messages and fixes that the code gives to package fault.
func Errors(root string) (out []String, err error) {
	add := func(name, text string) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isFault(call.Fun) {
				return true
			}
			for _, arg := range call.Args {
				for _, text := range literals(arg) {
					if hasWord.MatchString(text) {
						out = append(out, String{"error", fmt.Sprintf("%s:%d", name, set.Position(arg.Pos()).Line), text})
					}
				}
			}
			return true
		})
		return nil
	}
	err = files(root, "internal", []string{".go"}, add)
	return out, err
}

func isFault(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "fault" && (sel.Sel.Name == "New" || sel.Sel.Name == "Fix" || sel.Sel.Name == "Field")
}

// literals are the texts of an argument: one literal, or several joined by +.
// Arguments that a nested call takes are texts of that call.
func literals(e ast.Expr) (out []string) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); e.Kind == token.STRING && err == nil {
			return []string{text}
		}
	case *ast.BinaryExpr:
		return append(literals(e.X), literals(e.Y)...)
	case *ast.ParenExpr:
		return literals(e.X)
	}
	return nil
}
