// Package archtest holds the tests that keep the folders honest: they parse
// every Go file of the module and compare it with what ARCHITECTURE.md says.
package archtest

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forbiddenNames are package names that say nothing about what is inside.
var forbiddenNames = []string{"util", "utils", "common", "helper", "helpers", "types", "models", "misc", "base", "shared"}

// Ceilings, counted in lines of code without blank lines and comments.
const (
	maxFile     = 500
	maxPackage  = 2000
	maxFunction = 60
)

// exceptions are the places that are over a ceiling, each with its reason.
var exceptions = map[string]string{
	"internal/tool/history":    "one store: calls, changes, the way back and the proof of both share their rows",
	"internal/note":            "one dialect, one parser: block, inline, front matter and edits share their types",
	"internal/surface/cli":     "many commands, one file each, that share the program around them alone",
	"internal/tool":            "one door: what goes through it shares the call, and the call shares all of it",
	"internal/tools/explore":   "a toolset: many tools, one file each, that do not know each other",
	"internal/tools/notes":     "a toolset: many tools, one file each, that do not know each other",
	"internal/tools/knowledge": "a toolset: many tools, one file each, that do not know each other",
}

// dependencies are the modules that may be used, each with its reason.
var dependencies = map[string]string{
	"modernc.org/sqlite":                              "SQLite with FTS5 in pure Go: one binary, no cgo",
	"modernc.org/libc":                                "pinned to the version that modernc.org/sqlite is built for",
	"go.yaml.in/yaml/v4":                              "reads front matter: values and their places",
	"github.com/fsnotify/fsnotify":                    "events of the file system",
	"github.com/google/jsonschema-go":                 "schemas from structs; the type that the MCP SDK uses",
	"github.com/modelcontextprotocol/go-sdk":          "the Model Context Protocol, both eras of it",
	"github.com/JohannesKaufmann/html-to-markdown/v2": "web pages as Markdown",
	"golang.org/x/net":                                "parses web pages, and knows their character sets",
	"github.com/coder/acp-go-sdk":                     "the Agent Client Protocol, for editors",
	"github.com/zalando/go-keyring":                   "keys of providers in the keyring of the system",
	"github.com/spf13/cobra":                          "commands, help and shell completion",
	"github.com/spf13/pflag":                          "cobra's flags, made from schemas",
	"github.com/pelletier/go-toml/v2":                 "reads the settings",
	"charm.land/bubbletea/v2":                         "a whole terminal: keys, pastes, sizes, and drawing only what changed",
	"golang.org/x/sync":                               "errgroup",
	"golang.org/x/oauth2":                             "tokens of servers that want a login, as the MCP SDK hands them over",
	"golang.org/x/sys":                                "CPU features; renameat2 and xattrs",
	"golang.org/x/term":                               "is it a terminal, and how wide",
	"golang.org/x/text":                               "Unicode normal forms; the rules of context for joiners",
	"github.com/yuin/goldmark":                        "tests and benchmarks only: the judge of our parser",
	"github.com/rogpeppe/go-internal":                 "tests only: transcripts of the command line",
	"golang.org/x/tools":                              "tests only: txtar archives",
	"pgregory.net/rapid":                              "tests only: properties",
}

// oracles are what the module conformance alone uses: others who judge us. Nothing
// of them may be in the program, or in its go.mod.
var oracles = map[string]string{
	"github.com/openai/openai-go/v3":         "the SDK of OpenAI, which judges our adapter",
	"github.com/anthropics/anthropic-sdk-go": "the SDK of Anthropic, which does the same",
	"google.golang.org/genai":                "the SDK of Gemini",
	"github.com/ollama/ollama":               "the client of Ollama",
}

const module = "lore"

// A file is one parsed Go file, by its path from the root of the module.
type file struct {
	path string
	ast  *ast.File
	fset *token.FileSet
	src  []byte
}

func (f *file) pkg() string   { return path.Dir(f.path) }
func (f *file) isTest() bool  { return strings.HasSuffix(f.path, "_test.go") }
func (f *file) isMain() bool  { return f.ast.Name.Name == "main" }
func (f *file) isMade() bool  { return ast.IsGenerated(f.ast) }
func (f *file) short() string { return strings.TrimPrefix(f.pkg(), "internal/") }

// load parses every file in this process: the test cache sees what a process
// opens, not what a child of it reads.
func load(t *testing.T) []*file {
	t.Helper()
	root := os.DirFS(filepath.Join("..", "..", ".."))
	var out []*file
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		out = append(out, &file{name, f, fset, src})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestToolsetsDoNotKnowEachOther(t *testing.T) {
	for _, f := range load(t) {
		for _, im := range f.ast.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			mine := strings.HasPrefix(f.pkg(), "internal/tools/")
			if mine && strings.HasPrefix(p, module+"/internal/tools/") && !strings.HasPrefix(p+"/", module+"/"+f.pkg()+"/") && p != module+"/internal/tools/toolkit" {
				t.Errorf("%s imports another toolset: %s", f.path, p)
			}
		}
	}
}

// waysOut are the names by which the standard library reaches other hosts.
var waysOut = map[string][]string{
	"http": {"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
	"net":  {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer"},
}

// TestToolsGoOutThroughEgress holds for what models can set in motion. The
// servers of "tools/external" are named by a person, one by one.
func TestToolsGoOutThroughEgress(t *testing.T) {
	for _, f := range load(t) {
		mine := strings.HasPrefix(f.short(), "tools/") && f.short() != "tools/external" || f.short() == "outside/websearch"
		if f.isTest() || !mine {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if p, ok := s.X.(*ast.Ident); ok && slices.Contains(waysOut[p.Name], s.Sel.Name) {
					t.Errorf("%s: %s.%s reaches hosts that nobody looked at; use egress", f.fset.Position(s.Pos()), p.Name, s.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestEveryPackageSaysWhatItOwns(t *testing.T) {
	said := map[string]bool{}
	for _, f := range load(t) {
		if f.isTest() && f.short() != "app/archtest" {
			continue
		}
		said[f.pkg()] = said[f.pkg()] || len(f.ast.Doc.Text()) > 40
	}
	for p, ok := range said {
		if !ok {
			t.Errorf("%s has no package comment that says what it owns", p)
		}
	}
}

func TestExportedNamesAreExplained(t *testing.T) {
	for _, f := range load(t) {
		if f.isTest() || f.isMade() || f.isMain() {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || exportedReceiver(d)) {
					t.Errorf("%s: %s has no comment", f.fset.Position(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if ts, ok := s.(*ast.TypeSpec); ok && ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil {
						t.Errorf("%s: %s has no comment", f.fset.Position(ts.Pos()), ts.Name.Name)
					}
				}
			}
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	t := d.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	if g, ok := t.(*ast.IndexExpr); ok {
		t = g.X
	}
	id, ok := t.(*ast.Ident)
	return ok && id.IsExported()
}

func TestNamesSaySomething(t *testing.T) {
	for _, f := range load(t) {
		if slices.Contains(forbiddenNames, strings.TrimSuffix(f.ast.Name.Name, "_test")) {
			t.Errorf("%s: package name %q says nothing about what is inside", f.path, f.ast.Name.Name)
		}
	}
}

func TestNothingGrowsTooLarge(t *testing.T) {
	used := map[string]bool{}
	over := func(place, what string, have, limit int) {
		if have <= limit {
			return
		}
		if _, ok := exceptions[place]; ok {
			used[place] = true
			return
		}
		t.Errorf("%s: %s has %d lines of code, the ceiling is %d; split it by noun, or write an exception with its reason", place, what, have, limit)
	}
	packages := map[string]int{}
	for _, f := range load(t) {
		if f.isMade() || f.isTest() {
			continue
		}
		n := codeLines(f)
		packages[f.pkg()] += n
		over(f.path, "the file", n, maxFile)
		for _, d := range f.ast.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok && fd.Body != nil {
				lines := f.fset.Position(fd.End()).Line - f.fset.Position(fd.Pos()).Line + 1
				over(f.path+":"+fd.Name.Name, "the function", lines, maxFunction)
			}
		}
	}
	for p, n := range packages {
		over(p, "the package", n, maxPackage)
	}
	for place := range exceptions {
		if !used[place] {
			t.Errorf("the exception for %s is no longer needed", place)
		}
	}
}

// codeLines counts the lines that hold a token: no blank lines, no comments.
func codeLines(f *file) int {
	lines := map[int]bool{}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup:
			return false
		}
		lines[f.fset.Position(n.Pos()).Line] = true
		lines[f.fset.Position(n.End()-1).Line] = true
		return true
	})
	return len(lines)
}

func TestDependenciesAreAllowed(t *testing.T) {
	direct := map[string]bool{}
	for _, f := range load(t) {
		for _, im := range f.ast.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			first, _, _ := strings.Cut(p, "/")
			if !strings.Contains(first, ".") {
				continue
			}
			list := dependencies
			if strings.HasPrefix(f.path, "conformance/") {
				list = oracles
			}
			found := ""
			for d := range list {
				if p == d || strings.HasPrefix(p, d+"/") {
					found = d
				}
			}
			if found == "" {
				t.Errorf("%s imports %s, which is not on the list of dependencies", f.path, p)
			}
			direct[found] = true
		}
	}
	mod, err := os.Open(filepath.Join("..", "..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	defer mod.Close()
	sc := bufio.NewScanner(mod)
	for sc.Scan() {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(sc.Text()), "require "))
		if len(f) == 2 && strings.HasPrefix(f[1], "v") && dependencies[f[0]] == "" {
			t.Errorf("go.mod requires %s, which has no reason on the list", f[0])
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	for d := range oracles {
		if !direct[d] {
			t.Errorf("%s is on the list of oracles and not used", d)
		}
	}
	for d := range dependencies {
		if !direct[d] && d != "modernc.org/libc" {
			t.Errorf("%s is on the list of dependencies and not used", d)
		}
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	for d := range dependencies {
		if !strings.Contains(string(doc), "`"+d+"`") {
			t.Errorf("docs/dependencies.md does not name %s", d)
		}
	}
}

// TestSurfacesNameNoTool looks for the names of tools in the code of surfaces:
// they draw shapes and make forms from schemas, whatever the tool.
func TestSurfacesNameNoTool(t *testing.T) {
	names := toolNames(t)
	for _, f := range load(t) {
		if f.isTest() || !strings.HasPrefix(f.path, "internal/surface/") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if s, err := strconv.Unquote(lit.Value); err == nil && names[s] {
				t.Errorf("%s: a surface knows the tool %q by name", f.fset.Position(lit.Pos()), s)
			}
			return true
		})
	}
}

// toolNames are the files of the toolsets: one file is one tool.
func toolNames(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	found, err := filepath.Glob(filepath.Join("..", "..", "tools", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found {
		name := strings.TrimSuffix(filepath.Base(p), ".go")
		if strings.Contains(name, "_") && !strings.HasSuffix(name, "_test") && name != "docs_gen" {
			out[name] = true
		}
	}
	if len(out) == 0 {
		t.Fatal("no tools found")
	}
	return out
}
