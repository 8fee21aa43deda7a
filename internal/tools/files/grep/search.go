package grep

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Options say what is searched and how much is kept.
type Options struct {
	// Enter says whether a folder is searched, File whether a file is; both get
	// the path from where the search begins. They are called by several
	// goroutines.
	Enter, File func(path string) bool
	// Linked lets files be read that have several names. Check decides about an
	// open file where the system tells only then how many it has; may be nil.
	Linked bool
	Check  func(*os.File) error
	// Context is how many lines around a match are kept.
	Context int
	// Most is how many matches of one file are kept; all are counted.
	Most int
	// MaxFile is the size from which a file is not read; 0 is 256 MB.
	MaxFile int64
}

// A Match is one line that matches.
type Match struct {
	Path   string
	Line   int
	Text   string
	Before []string
	After  []string
}

// Found is what a search found.
type Found struct {
	Matches  []Match // by path and line
	Total    int     // lines that match, in all files
	Files    int     // files with such a line
	Searched int     // files that were read
	Skipped  int     // files that are too large or could not be read
}

// maxFile is the size from which a file is not searched.
const maxFile = 256 << 20

// batch is how many files of one folder are searched at a time.
const batch = 32

// A job is a folder to list, or some files of it to search. A folder is opened
// when its turn comes: there may be more of them than a process may have open.
type job struct {
	dir   *folder
	sub   string   // the folder in it to list; "" is itself
	names []string // the files in it to search
}

// A folder is open while there is work in it.
type folder struct {
	at   handle
	path string // from where the search begins; "" there
	mu   sync.Mutex
	uses int
}

// below is the path of a name in the folder.
func (f *folder) below(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "/" + name
}

func (f *folder) use() {
	f.mu.Lock()
	f.uses++
	f.mu.Unlock()
}

func (f *folder) release() {
	f.mu.Lock()
	f.uses--
	last := f.uses == 0
	f.mu.Unlock()
	if last {
		f.at.close()
	}
}

// A search is one search. Workers take the newest job first, so that few folders
// are open.
type search struct {
	ctx   context.Context // of this one search
	m     *Matcher
	o     Options
	mu    sync.Mutex
	more  *sync.Cond
	jobs  []job
	busy  int
	found Found
	err   error
	visit func(path string, data []byte, mode fs.FileMode) // instead of a search
}

// Search searches an open folder and those in it. It follows no link.
func Search(ctx context.Context, dir *os.File, m *Matcher, o Options) (Found, error) {
	return walk(ctx, dir, &search{m: m, o: o})
}

// Read reads the files that a search would read. visit is called by several
// goroutines, and must not keep data.
func Read(ctx context.Context, dir *os.File, o Options, visit func(path string, data []byte, mode fs.FileMode)) (Found, error) {
	return walk(ctx, dir, &search{o: o, visit: visit})
}

func walk(ctx context.Context, dir *os.File, s *search) (Found, error) {
	at, err := open(dir)
	if err != nil {
		return Found{}, err
	}
	if s.ctx = ctx; s.o.MaxFile == 0 {
		s.o.MaxFile = maxFile
	}
	s.more = sync.NewCond(&s.mu)
	s.jobs = []job{{dir: &folder{at: at, uses: 1}}}
	var wg sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)) {
		wg.Go(s.work)
	}
	wg.Wait()
	slices.SortFunc(s.found.Matches, func(a, b Match) int { return cmp.Or(strings.Compare(a.Path, b.Path), a.Line-b.Line) })
	return s.found, s.err
}

// Text searches one text that was read already.
func Text(path string, data []byte, m *Matcher, o Options) Found {
	var w worker
	w.search(m, o, path, data)
	w.found.Searched++
	return w.found
}

// A worker has the memory of one goroutine.
type worker struct {
	buf   []byte
	scan  scan
	found Found
}

func (s *search) work() {
	var w worker
	for {
		j, ok := s.take()
		if !ok {
			break
		}
		if s.ctx.Err() == nil {
			s.run(&w, j)
		}
		j.dir.release()
		s.done()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.found
	f.Matches = append(f.Matches, w.found.Matches...)
	f.Total, f.Files, f.Searched, f.Skipped = f.Total+w.found.Total, f.Files+w.found.Files, f.Searched+w.found.Searched, f.Skipped+w.found.Skipped
	s.err = s.ctx.Err()
}

func (s *search) run(w *worker, j job) {
	switch {
	case j.names != nil:
		s.files(w, j)
	case j.sub == "":
		s.list(j.dir)
	default:
		at, err := j.dir.at.enter(j.sub)
		if err != nil {
			return // it went away, or may not be read
		}
		sub := &folder{at: at, path: j.dir.below(j.sub), uses: 1}
		s.list(sub)
		sub.release()
	}
}

// take waits for a job; ok is false when there is none and will be none.
func (s *search) take() (j job, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.jobs) == 0 {
		if s.busy == 0 {
			return job{}, false
		}
		s.more.Wait()
	}
	j = s.jobs[len(s.jobs)-1]
	s.jobs = s.jobs[:len(s.jobs)-1]
	s.busy++
	return j, true
}

func (s *search) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy--; s.busy == 0 && len(s.jobs) == 0 {
		s.more.Broadcast()
	}
}

func (s *search) add(list ...job) {
	if len(list) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = append(s.jobs, list...)
	s.more.Broadcast()
}

// list makes jobs of what is in a folder.
func (s *search) list(dir *folder) {
	names, err := dir.at.names()
	if err != nil {
		return // it went away, or may not be read
	}
	var jobs []job
	var files []string
	for _, e := range names {
		at := dir.below(e.name)
		switch {
		case e.isFolder && s.o.Enter(at):
			dir.use()
			jobs = append(jobs, job{dir: dir, sub: e.name})
		case e.isFile && s.o.File(at):
			files = append(files, e.name)
		}
	}
	for part := range slices.Chunk(files, batch) {
		dir.use()
		jobs = append(jobs, job{dir: dir, names: part})
	}
	s.add(jobs...)
}

func (s *search) files(w *worker, j job) {
	for _, name := range j.names {
		if s.ctx.Err() != nil {
			return
		}
		data, mode, ok := j.dir.at.read(name, &w.buf, s.o)
		if !ok {
			w.found.Skipped++
			continue
		}
		if w.found.Searched++; s.visit != nil {
			s.visit(j.dir.below(name), data, mode)
			continue
		}
		w.search(s.m, s.o, j.dir.below(name), data)
	}
}

// head is how much of a file tells whether it is text.
const head = 8 << 10

// search finds the matching lines of one text.
func (w *worker) search(m *Matcher, o Options, path string, data []byte) {
	if bytes.IndexByte(data[:min(len(data), head)], 0) >= 0 {
		return
	}
	m.scan(&w.scan, data)
	n, line, counted := 0, 1, 0
	for {
		start, end, ok := w.scan.next()
		if !ok {
			break
		}
		if n == 0 && bytes.IndexByte(data, 0) >= 0 { // as costly as the search: only where it matters
			return
		}
		if n++; n > o.Most {
			continue
		}
		line += bytes.Count(data[counted:start], []byte{'\n'})
		counted = start
		match := Match{Path: path, Line: line, Text: shown(data[start:end])}
		if o.Context > 0 {
			match.Before, match.After = before(data, start, o.Context), after(data, end, o.Context)
		}
		w.found.Matches = append(w.found.Matches, match)
	}
	if n > 0 {
		w.found.Total += n
		w.found.Files++
	}
}

// maxLine is how much of a line is shown.
const maxLine = 1000

func shown(line []byte) string {
	if len(line) > maxLine {
		for line = line[:maxLine]; len(line) > maxLine-utf8.UTFMax && !utf8.Valid(line[max(0, len(line)-utf8.UTFMax):]); {
			line = line[:len(line)-1]
		}
		return strings.ToValidUTF8(string(line), "\uFFFD") + "…"
	}
	return strings.ToValidUTF8(string(line), "\uFFFD")
}

// before are the n lines before a line that starts at start.
func before(data []byte, start, n int) []string {
	var out []string
	for end := start - 1; end >= 0 && len(out) < n; {
		from := bytes.LastIndexByte(data[:end], '\n') + 1
		out = append(out, shown(bytes.TrimSuffix(data[from:end], []byte{'\r'})))
		end = from - 1
	}
	slices.Reverse(out)
	return out
}

// after are the n lines after a line that ends at end.
func after(data []byte, end, n int) []string {
	rest := bytes.TrimPrefix(data[end:], []byte{'\r'})
	var out []string
	for len(rest) > 1 && len(out) < n {
		rest = rest[1:] // the line end
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			i = len(rest)
		}
		out = append(out, shown(bytes.TrimSuffix(rest[:i], []byte{'\r'})))
		rest = rest[i:]
	}
	return out
}
