package archtest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A plan is what the tables of ARCHITECTURE.md say.
type plan struct {
	floors   map[string]int      // of rooms
	imports  map[string][]string // of rooms
	never    map[string][]string // of packages
	forTests []string            // packages that only tests import
}

var quoted = regexp.MustCompile("`([^`]+)`")

// names are the words between backquotes.
func names(cell string) (out []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

func readPlan(t *testing.T) plan {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	p := plan{map[string]int{}, map[string][]string{}, map[string][]string{}, nil}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = title
		}
		if strings.HasPrefix(line, "Only tests import") || p.forTests != nil && section == "The packages" {
			p.forTests = append(p.forTests, names(line)...)
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || !strings.Contains(line, "`") {
			continue
		}
		switch section {
		case "The rooms":
			room := names(cells[1])[0]
			if p.floors[room], err = strconv.Atoi(strings.TrimSpace(cells[0])); err != nil {
				t.Fatal(line)
			}
			p.imports[room] = names(cells[3])
		case "The packages":
			p.never[names(cells[0])[0]] = names(cells[2])
		}
	}
	if len(p.floors) == 0 || len(p.never) == 0 || len(p.forTests) == 0 {
		t.Fatal("ARCHITECTURE.md has no tables of rooms and packages")
	}
	return p
}

func roomOf(pkg string) string {
	room, _, _ := strings.Cut(pkg, "/")
	return room
}

// TestRooms compares the rooms and their imports with the table.
func TestRooms(t *testing.T) {
	p := readPlan(t)
	if len(p.floors) > 20 {
		t.Errorf("internal has %d rooms; 20 are enough", len(p.floors))
	}
	found := map[string]map[string]bool{}
	for _, f := range load(t) {
		if f.isTest() || f.isMain() || !strings.HasPrefix(f.path, "internal/") || slices.Contains(p.forTests, f.short()) {
			continue
		}
		mine := roomOf(f.short())
		if found[mine] == nil {
			found[mine] = map[string]bool{}
		}
		for _, other := range imported(f) {
			if theirs := roomOf(other); theirs != mine {
				found[mine][theirs] = true
				if !slices.Contains(p.imports[mine], theirs) {
					t.Errorf("%s: the room %s does not import %s; see ARCHITECTURE.md", f.path, mine, theirs)
				}
			}
		}
	}
	for room, floor := range p.floors {
		if found[room] == nil {
			t.Errorf("ARCHITECTURE.md has a room %s that does not exist", room)
		}
		above := 0
		for _, other := range p.imports[room] {
			if !found[room][other] {
				t.Errorf("ARCHITECTURE.md lets %s import %s, which it does not", room, other)
			}
			above = max(above, p.floors[other])
		}
		if floor != above+1 {
			t.Errorf("the room %s is on floor %d, the table says %d", room, above+1, floor)
		}
	}
	for room := range found {
		if _, ok := p.floors[room]; !ok {
			t.Errorf("ARCHITECTURE.md does not know the room %s", room)
		}
	}
}

// TestPackages compares the packages, and what they must never import, with the
// table.
func TestPackages(t *testing.T) {
	p := readPlan(t)
	exist := map[string]bool{}
	for _, f := range load(t) {
		if f.isTest() || f.isMain() || !strings.HasPrefix(f.path, "internal/") {
			continue
		}
		exist[f.short()] = true
		for _, other := range imported(f) {
			if slices.Contains(p.forTests, other) && !slices.Contains(p.forTests, f.short()) {
				t.Errorf("%s imports %s, which is for tests", f.path, other)
			}
			for _, never := range p.never[f.short()] {
				if other == never || strings.HasPrefix(other, never+"/") {
					t.Errorf("%s must never import %s; see ARCHITECTURE.md", f.path, other)
				}
			}
		}
	}
	listed := slices.AppendSeq(slices.Clone(p.forTests), maps.Keys(p.never))
	for pkg := range exist {
		if !slices.Contains(listed, pkg) {
			t.Errorf("ARCHITECTURE.md does not say what internal/%s owns", pkg)
		}
	}
	for pkg := range p.never {
		if !exist[pkg] {
			t.Errorf("ARCHITECTURE.md lists internal/%s, which does not exist", pkg)
		}
	}
}

// imported are the packages below internal that a file imports.
func imported(f *file) (out []string) {
	for _, im := range f.ast.Imports {
		p, _ := strconv.Unquote(im.Path.Value)
		if p, ok := strings.CutPrefix(p, module+"/internal/"); ok {
			out = append(out, p)
		}
	}
	return out
}
