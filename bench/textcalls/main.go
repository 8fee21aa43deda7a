// Command textcalls measures how well internal/llm/textcall finds the calls of
// tools in what models wrote.
//
// It reads collections of answers (see bench/README.md) from a folder: those that
// the tests of two servers hold, with what the servers read out of them, and
// answers of real models.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"lore/internal/llm"
	"lore/internal/llm/textcall"
)

// A sample is an answer, and what is in it.
type sample struct {
	id, group string
	raw       string
	tools     []llm.Tool
	want      []call
	unsure    bool // nobody says which calls there are: none must be invented, no text lost
	content   string
}

// A call is what is wanted; no arguments: nobody says which.
type call struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"arguments"`
	Some json.RawMessage `json:"arguments_include"`
}

// A score counts what happened to the samples of a group.
type score struct {
	samples, right, wrong, missed, invented, unjudged, content, kept, repaired int
}

func main() {
	log.SetFlags(0)
	data := flag.String("data", "", "the `folder` with the collections")
	show := flag.String("show", "", "print the samples of this `group` that went wrong; all: of every group")
	half := flag.String("half", "", "only the `half` develop or heldout, split by the hash of the samples' ids")
	flag.Parse()
	for _, part := range []struct {
		title string
		load  func(string) ([]sample, error)
	}{{"vLLM's tests", vllm}, {"llama.cpp's tests", llamaCPP}, {"answers of real models (BFCL)", bfcl}} {
		list, err := part.load(*data)
		if err != nil {
			log.Fatal(err)
		}
		table(part.title, halved(list, *half), *show)
	}
	if err := repairs(*data, *show); err != nil {
		log.Fatal(err)
	}
}

// halved are the samples of one half: rules are made by reading the errors of
// develop, and heldout says what they are worth.
func halved(list []sample, half string) []sample {
	return slices.DeleteFunc(list, func(s sample) bool {
		h := fnv.New32a()
		h.Write([]byte(s.id))
		name := "develop"
		if h.Sum32()%2 == 1 {
			name = "heldout"
		}
		return half != "" && half != name
	})
}

// table prints what becomes of samples, group by group.
func table(title string, list []sample, show string) {
	scores := map[string]*score{}
	size, start := 0, time.Now()
	for _, s := range list {
		textcall.Parse(s.raw, s.tools)
		size += len(s.raw)
	}
	took := time.Since(start)
	for _, s := range list {
		for _, group := range []string{s.group, "all"} {
			if scores[group] == nil {
				scores[group] = &score{}
			}
			ok := judge(s, scores[group])
			if !ok && group != "all" && (show == group || show == "all") {
				got, rest := textcall.Parse(s.raw, s.tools)
				fmt.Printf("--- %s %s\n%q\ngot:  %s\nwant: %s\nrest: %q\ncontent: %q\n", s.group, s.id, s.raw, told(got), wanted(s.want), rest, s.content)
			}
		}
	}
	fmt.Printf("\n**%s**, %.0f MB/s\n\n| group | answers | calls right | other arguments | missed | invented | not judged | mended | text kept |\n|---|---|---|---|---|---|---|---|---|\n", title, float64(size)/1e6/took.Seconds())
	groups := make([]string, 0, len(scores))
	for g := range scores {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b string) int {
		if (a == "all") != (b == "all") {
			return map[bool]int{true: 1, false: -1}[a == "all"]
		}
		return cmp.Compare(a, b)
	})
	for _, g := range groups {
		s := scores[g]
		fmt.Printf("| %s | %d | %d | %d | %d | %d | %d | %d | %d of %d |\n", g, s.samples, s.right, s.wrong, s.missed, s.invented, s.unjudged, s.repaired, s.kept, s.content)
	}
	all := scores["all"]
	fmt.Printf("\n%d of %d calls right: %.1f %%\n", all.right, all.right+all.wrong+all.missed, 100*float64(all.right)/float64(max(1, all.right+all.wrong+all.missed)))
}

// judge counts one sample, and reports whether all went well.
func judge(s sample, to *score) bool {
	got, rest := textcall.Parse(s.raw, s.tools)
	to.samples++
	for _, c := range got {
		if c.Repaired != "" {
			to.repaired++
		}
	}
	good := true
	if !s.unsure {
		for k := range max(len(got), len(s.want)) {
			switch {
			case k >= len(got):
				to.missed++
				good = false
			case k >= len(s.want):
				to.invented++
				good = false
			case !same(got[k], s.want[k]):
				to.wrong++
				good = false
			default:
				to.right++
			}
		}
	}
	if s.unsure {
		to.unjudged += len(got)
		good = len(got) > 0
	}
	if content := strings.TrimSpace(s.content); content != "" && strings.Contains(s.raw, content) {
		to.content++
		if strings.Contains(rest, content) {
			to.kept++
		} else {
			good = false
		}
	}
	return good
}

func same(got textcall.Call, want call) bool {
	if want.Name != "" && got.Name != want.Name {
		return false
	}
	if want.Some != nil {
		var g, w map[string]any
		if json.Unmarshal(got.Args, &g) != nil || json.Unmarshal(want.Some, &w) != nil {
			return false
		}
		for k, v := range w {
			if !reflect.DeepEqual(g[k], v) {
				return false
			}
		}
		return true
	}
	return want.Args == nil || equal(got.Args, want.Args)
}

func equal(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func told(list []textcall.Call) string {
	var b bytes.Buffer
	for _, c := range list {
		fmt.Fprintf(&b, "%s %s [%s]; ", c.Name, c.Args, c.Repaired)
	}
	return b.String()
}

func wanted(list []call) string {
	var b bytes.Buffer
	for _, c := range list {
		fmt.Fprintf(&b, "%s %s%s; ", c.Name, c.Args, c.Some)
	}
	return b.String()
}

func read(folder, name string, into any) error {
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
