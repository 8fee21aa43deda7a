package vault

import (
	"cmp"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"lore/internal/vault/syncname"
)

// A Kind says what a file is to a vault.
type Kind string

// The kinds of files.
const (
	Note       Kind = "note"       // .md, .markdown
	Canvas     Kind = "canvas"     // .canvas
	Attachment Kind = "attachment" // everything else
	Conflict   Kind = "conflict"   // a copy of a note that a sync tool set aside
)

// KindOf tells the kind of a file by its name.
func KindOf(key string) Kind {
	name := path.Base(key)
	kind := Attachment
	switch {
	case IsNoteName(name):
		kind = Note
	case strings.EqualFold(path.Ext(name), ".canvas"):
		kind = Canvas
	}
	if kind != Attachment && syncname.ConflictOf(name) != "" {
		return Conflict
	}
	return kind
}

// IsNoteName reports whether a file is read as a note: also a copy of one that a
// sync tool set aside.
func IsNoteName(key string) bool {
	ext := path.Ext(key)
	return strings.EqualFold(ext, ".md") || strings.EqualFold(ext, ".markdown")
}

// An Entry is one file of a vault, as a walk sees it.
type Entry struct {
	Path    string // the key
	Size    int64
	ModTime int64 // nanoseconds since 1970
	// ChangeTime is the same for the file's last change of any kind, which no
	// program can put back; 0 where the system does not tell.
	ChangeTime int64
	Inode      uint64
	Kind       Kind
	OnDisk     string // the path as the file system spells it; equal to Path nearly always
	Link       bool   // the name is a link to a file inside the vault; the rest describes that file
	Linked     bool   // the file has other names too (hard links); false where the system tells only of an open file
}

// A ProblemKind says what is odd about a path.
type ProblemKind string

// What a walk reports.
const (
	Unreadable       ProblemKind = "unreadable"        // no permission, or the disk fails
	NameTwin         ProblemKind = "name_twin"         // two files with one key; only the first is listed
	CaseTwin         ProblemKind = "case_twin"         // two files whose keys differ only in case; both are listed
	NotRegular       ProblemKind = "not_regular"       // a pipe, a socket, a device
	BrokenLink       ProblemKind = "broken_link"       // a link that leads nowhere, or in a circle
	EscapingLink     ProblemKind = "escaping_link"     // a link out of the vault, into a hidden place, or an absolute one
	FolderLink       ProblemKind = "folder_link"       // a link to a folder of the vault, which is listed under its own name
	BadName          ProblemKind = "bad_name"          // a name that no path may hold
	TooDeep          ProblemKind = "too_deep"          // folders inside folders past the limit
	PossibleConflict ProblemKind = "possible_conflict" // "x 2.md" beside "x.md"
	NotDownloaded    ProblemKind = "not_downloaded"    // iCloud holds the content
	MisleadingName   ProblemKind = "misleading_name"   // a name with characters that nobody sees, or that turn the words around it
	HardLink         ProblemKind = "hard_link"         // a file with other names; it is listed and not read
)

// A Problem is something about a vault that its owner may want to know.
type Problem struct {
	Kind   ProblemKind
	Path   string // the key, or what can be shown of it
	Detail string
	Other  string // the other path of a twin, a link or a conflict
}

// A Listing is what a walk found. It is immutable.
type Listing struct {
	Entries  []Entry // sorted by path
	Problems []Problem
	Hidden   int // files and folders whose names begin with a dot
	Excluded int // files and folders that the settings keep out
	Partial  int // downloads that have not ended
	Folders  int // folders that were entered, with the root
	// Replaced says that the folder is another one than the vault was opened on.
	Replaced bool
	// Began is when the walk began.
	Began time.Time
	// State is what the vault thinks of itself after this walk.
	State State

	root    fs.FileInfo      // the folder
	folders []FolderSnapshot // that were entered
	rules   string           // which paths were left out
	unread  bool             // some folder could not be read
	any     bool             // the folder holds something, were it only Lore's own
	unknown []string         // keys of which the walk cannot say whether they exist; sorted
}

// Get finds the entry of a key.
func (l *Listing) Get(key string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(l.Entries, key, func(e Entry, k string) int { return strings.Compare(e.Path, k) })
	if !ok {
		return Entry{}, false
	}
	return l.Entries[i], true
}

// Notes yields the notes and canvases: what is read and searched.
func (l *Listing) Notes() iter.Seq[Entry] { return l.ofKind(Note, Canvas) }

// Conflicts yields the copies that sync tools set aside.
func (l *Listing) Conflicts() iter.Seq[Entry] { return l.ofKind(Conflict, Conflict) }

func (l *Listing) ofKind(a, b Kind) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, e := range l.Entries {
			if (e.Kind == a || e.Kind == b) && !yield(e) {
				return
			}
		}
	}
}

// Unknown reports whether the walk cannot say that key is gone: it lies in a
// folder that could not be read, or its content is not downloaded.
func (l *Listing) Unknown(key string) bool {
	for k := key; ; k = path.Dir(k) {
		if _, ok := slices.BinarySearch(l.unknown, k); ok {
			return true
		}
		if k == "." || k == "/" {
			return false
		}
	}
}

// Gone returns those of the known keys that are certainly no longer there. It
// returns none while the vault is offline or settling.
func (l *Listing) Gone(known []string) []string {
	if !l.State.Believed() {
		return nil
	}
	return l.missing(known)
}

func (l *Listing) missing(known []string) []string {
	var out []string
	i := 0
	for _, k := range known {
		// What a walk knew is sorted, so the next entry is nearly always near.
		for i < len(l.Entries) && l.Entries[i].Path < k {
			i++
		}
		if i < len(l.Entries) && l.Entries[i].Path == k {
			continue
		}
		if _, ok := l.Get(k); !ok && !l.Unknown(k) {
			out = append(out, k)
		}
	}
	return out
}

func (l *Listing) finish() {
	slices.SortFunc(l.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	slices.SortStableFunc(l.Problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(string(a.Kind), string(b.Kind)))
	})
	slices.Sort(l.unknown)
}
