package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestLogMessagesAreDocumented compares the messages that the source logs with
// docs/events.md: who reads a log must be able to look up what it says.
func TestLogMessagesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "events.md"))
	if err != nil {
		t.Fatal(err)
	}
	levels := map[string]string{"Debug": "debug", "Info": "info", "Warn": "warn", "Error": "error"}
	said := map[string]bool{}
	for _, f := range load(t) {
		if f.isTest() || !strings.HasPrefix(f.path, "internal/") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || levels[sel.Sel.Name] == "" || !isLog(sel.X) {
				return true
			}
			lit, ok := call.Args[0].(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				t.Errorf("%s: a log message is not written out", f.fset.Position(call.Pos()))
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			row := "| " + levels[sel.Sel.Name] + " | `" + text + "` |"
			said[row] = true
			if !strings.Contains(string(doc), row) {
				t.Errorf("%s: docs/events.md has no row %s", f.fset.Position(call.Pos()), row)
			}
			return true
		})
	}
	for line := range strings.SplitSeq(string(doc), "\n") {
		parts := strings.SplitN(line, " | ", 3)
		if len(parts) < 3 || !strings.HasPrefix(parts[1], "`") || levels[strings.ToUpper(strings.TrimPrefix(parts[0], "| ")[:1])+strings.TrimPrefix(parts[0], "| ")[1:]] == "" {
			continue
		}
		if !said[parts[0]+" | "+parts[1]+" |"] {
			t.Errorf("docs/events.md: nothing logs %s", parts[1])
		}
	}
}

// isLog reports whether an expression is a logger by its name.
func isLog(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return strings.EqualFold(x.Name, "log")
	case *ast.SelectorExpr:
		return strings.EqualFold(x.Sel.Name, "log")
	case *ast.CallExpr:
		return isLog(x.Fun)
	}
	return false
}
