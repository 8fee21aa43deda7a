// Command speed measures what Lore costs against the least it could cost with
// the same parts, in one run, so that a busy machine slows both:
//
//	speed index VAULT DIR    CPU seconds and memory of indexing, against the floor
//	speed search VAULT DIR   milliseconds of a question, against a plain FTS5 query
//	speed start VAULT DIR    a whole command, against a program with one query
//	speed change DIR         one save, one call, renames with many links
//	speed clients LORE MODULES DIR   calls over MCP, against servers from npm
//	speed vectors            scanning 100,000 vectors, against reading the bytes
//
// Every part that is measured runs in a process of its own (speed part …).
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("speed index|search|start VAULT DIR, speed change DIR, speed clients LORE MODULES DIR, or speed vectors")
	}
	args := os.Args[2:]
	var err error
	switch os.Args[1] {
	case "part":
		err = part(args)
	case "index":
		err = compareIndex(args[0], args[1])
	case "search":
		err = compareSearch(args[0], args[1])
	case "start":
		err = compareStart(args[0], args[1])
	case "change":
		err = compareChange(args[0])
	case "clients":
		err = compareClients(args[0], args[1], args[2])
	case "vectors":
		err = compareVectors()
	default:
		err = fmt.Errorf("unknown measure %q", os.Args[1])
	}
	if err != nil {
		log.Fatal(err)
	}
}

// part runs what is measured.
func part(args []string) error {
	switch args[0] {
	case "floor":
		return floor(args[1], args[2])
	case "index":
		return indexOnce(args[1], args[2])
	case "walk":
		return walk(args[1])
	case "query":
		return bareQuery(args[1], args[2])
	}
	return fmt.Errorf("unknown part %q", args[0])
}

// A cost is what one process used.
type cost struct {
	cpu  time.Duration
	wall time.Duration
	rss  int64 // peak, in KB
	out  string
}

// spend runs a part of this program, or another one, and measures it.
func spend(command string, args ...string) (cost, error) {
	cmd := exec.Command(command, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("%s %s: %w", command, strings.Join(args, " "), err)
	}
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{
		cpu:  cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		wall: time.Since(start), rss: u.Maxrss, out: strings.TrimSpace(out.String()),
	}, nil
}

func self(args ...string) (cost, error) {
	return spend(os.Args[0], append([]string{"part"}, args...)...)
}

// best of several runs: what the machine can do when it is left alone.
func best(n int, run func() (cost, error)) (cost, error) {
	var all []cost
	for range n {
		c, err := run()
		if err != nil {
			return c, err
		}
		all = append(all, c)
	}
	return slices.MinFunc(all, func(a, b cost) int { return int(a.cpu - b.cpu) }), nil
}

func compareIndex(vault, dir string) error {
	f, err := best(2, func() (cost, error) { return self("floor", vault, filepath.Join(dir, "floor")) })
	if err != nil {
		return err
	}
	ours, err := best(2, func() (cost, error) {
		if err := os.RemoveAll(filepath.Join(dir, "index")); err != nil {
			return cost{}, err
		}
		return self("index", vault, filepath.Join(dir, "index"))
	})
	if err != nil {
		return err
	}
	w, err := best(5, func() (cost, error) { return self("walk", vault) })
	if err != nil {
		return err
	}
	again, err := best(5, func() (cost, error) { return self("index", vault, filepath.Join(dir, "index")) })
	if err != nil {
		return err
	}
	name := filepath.Base(vault)
	fmt.Println("| vault | what | Lore | floor | ratio |")
	fmt.Println("|---|---|---|---|---|")
	fmt.Printf("| %s | index, CPU s | %.2f | %.2f | %.2f |\n", name, ours.cpu.Seconds(), f.cpu.Seconds(), ours.cpu.Seconds()/f.cpu.Seconds())
	fmt.Printf("| %s | index, wall s | %.2f | %.2f | %.2f |\n", name, ours.wall.Seconds(), f.wall.Seconds(), ours.wall.Seconds()/f.wall.Seconds())
	fmt.Printf("| %s | index, peak memory MB | %d | %d | |\n", name, ours.rss>>10, f.rss>>10)
	fmt.Printf("| %s | second start, CPU ms (floor: walk and stat) | %.1f | %.1f | %.2f |\n", name, ms(again.cpu), ms(w.cpu), again.cpu.Seconds()/w.cpu.Seconds())
	fmt.Printf("| %s | second start, wall ms | %.1f | %.1f | %.2f |\n", name, ms(again.wall), ms(w.wall), again.wall.Seconds()/w.wall.Seconds())
	fmt.Printf("\n%s\n", ours.out)
	return nil
}

func compareStart(vault, dir string) error {
	lore := os.Getenv("LORE")
	if lore == "" {
		lore = "bin/lore"
	}
	for k, v := range map[string]string{"XDG_DATA_HOME": filepath.Join(dir, "data"), "XDG_CONFIG_HOME": filepath.Join(dir, "config")} {
		if err := os.Setenv(k, v); err != nil {
			return err
		}
	}
	search := func(mode string) func() (cost, error) {
		return func() (cost, error) {
			return spend(lore, "search", "meeting", "--mode", mode, "--json", "--vault", vault)
		}
	}
	if _, err := search("lexical")(); err != nil { // builds the index
		return err
	}
	db, err := filepath.Glob(filepath.Join(dir, "data", "lore", "*", "index.db"))
	if err != nil || len(db) != 1 {
		return fmt.Errorf("found %d indexes in %s", len(db), dir)
	}
	if err := fillVectors(filepath.Dir(db[0])); err != nil {
		return err
	}
	mark := filepath.Join(filepath.Dir(db[0]), "glance.json")
	walked := func() (cost, error) {
		if err := os.Remove(mark); err != nil { // as after a change
			return cost{}, err
		}
		return search("lexical")()
	}
	var bare, lexical, hybrid, first []cost
	for range 15 { // interleaved, so that noise meets all alike
		for _, m := range []struct {
			to  *[]cost
			run func() (cost, error)
		}{
			{&bare, func() (cost, error) { return self("query", db[0], "meeting") }},
			{&first, walked}, {&lexical, search("lexical")}, {&hybrid, search("hybrid")},
		} {
			c, err := m.run()
			if err != nil {
				return err
			}
			*m.to = append(*m.to, c)
		}
	}
	fmt.Println("| command | wall ms, median | CPU ms, median | ratio (wall) |")
	fmt.Println("|---|---|---|---|")
	b := median(bare)
	for _, m := range []struct {
		name string
		c    []cost
	}{{"open the same file, one query", bare}, {"lore search --mode lexical --json", lexical}, {"lore search --mode hybrid --json", hybrid}, {"lexical, after a change: walks the whole vault", first}} {
		c := median(m.c)
		fmt.Printf("| %s | %.1f | %.1f | %.2f |\n", m.name, ms(c.wall), ms(c.cpu), c.wall.Seconds()/b.wall.Seconds())
	}
	return nil
}

func median(cs []cost) cost {
	byWall := slices.SortedFunc(slices.Values(cs), func(a, b cost) int { return int(a.wall - b.wall) })
	byCPU := slices.SortedFunc(slices.Values(cs), func(a, b cost) int { return int(a.cpu - b.cpu) })
	return cost{wall: byWall[len(cs)/2].wall, cpu: byCPU[len(cs)/2].cpu}
}

func ms(d time.Duration) float64 {
	f, _ := strconv.ParseFloat(fmt.Sprintf("%.3f", d.Seconds()*1000), 64)
	return f
}
