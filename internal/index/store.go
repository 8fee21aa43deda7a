// Package index keeps what is known about a vault's notes so that questions
// can be answered without opening files, and keeps it true while they change.
//
// Everything here is derived: deleting it loses nothing. The package owns the
// rows, their freshness and the [Store] contract; it does not rank, and it does
// not know that tools exist.
package index

import (
	"context"
	"slices"
	"time"
)

// A Store keeps documents and answers questions about them. The package
// indextest is its exam; an implementation is right when it passes.
//
// All methods may be called from several goroutines. Readers see the state
// before or after an Apply, never between. Paths are vault paths: relative,
// with slashes, NFC. Lists are in the order that each method states, the same
// for the same content whatever the order it arrived in.
type Store interface {
	// Apply makes one batch of changes, all or nothing. A document replaces
	// the one of the same path; dropping an unknown path is no error; applying
	// the same batch twice changes nothing the second time.
	Apply(ctx context.Context, b Batch) error

	// Settle is called when a burst of batches is over. The store may tidy up;
	// nothing that a reader sees changes, except that it may come faster.
	Optimize(ctx context.Context) error

	// Files hands every known file to yield, by path. It is what a walk of the
	// vault is compared with, so it must be cheap.
	Files(ctx context.Context, yield func(File) error) error

	// Notes returns the rows that sel asks for, in its order.
	Notes(ctx context.Context, sel Select) ([]Row, error)

	// Match returns the notes whose words fit m, best first by BM25, then by
	// path. Higher scores are better; they mean something only within one
	// answer.
	Match(ctx context.Context, m Match) ([]Scored, error)

	// Nearest returns the passages whose vectors lie nearest to n.Vector, with
	// their cosine, nearest first. Vectors of other models are not looked at.
	Nearest(ctx context.Context, n Near) ([]NearPassage, error)

	// Passages returns passages by note and sequence, or the ones that still
	// lack a vector.
	Passages(ctx context.Context, q PassageQuery) ([]Passage, error)

	// Links returns links as they are written, by source path and position.
	// They are resolved by the reader ([Resolve]), so a link whose target
	// appears later needs no repair.
	Links(ctx context.Context, q LinkQuery) ([]Link, error)

	// Relations returns typed relations as they are written, by source path and
	// position. Like links, they are resolved by the reader.
	Relations(ctx context.Context, q RelationQuery) ([]Relation, error)

	// Names returns which files carry the names, by key, kind and path.
	Names(ctx context.Context, q NameQuery) ([]Name, error)

	// Facets counts notes by the values of one aspect, most frequent first,
	// then by value.
	Facets(ctx context.Context, f Facet, where Filter) ([]Count, error)

	// Stats describes the store as a whole.
	Stats(ctx context.Context, model string) (Stats, error)

	// Close releases the store. Nothing may be called after it.
	Close() error
}

// A Batch is what one Apply changes. Dropped paths go before documents come.
type Batch struct {
	Put     []Document
	Drop    []string
	Touch   []File   // known content, new stat: only the File of the row changes
	Model   string   // the id of the model that made Vectors
	Vectors []Vector // each kept as long as some passage has its hash
}

// A Hash names content: the first 16 bytes of a SHA-256.
type Hash [16]byte

// A File is what a directory listing tells about one file, and the hash of the
// content that was indexed.
type File struct {
	Path    string
	Size    int64
	ModTime int64 // nanoseconds since 1970
	// ChangeTime is the same for the last change of any kind, which no program
	// can put back; 0 where the system does not tell.
	ChangeTime int64
	Inode      uint64
	Hash       Hash
	// Seen is when the content was read, in nanoseconds since 1970. A file
	// whose ModTime is not clearly before it may have changed again in the
	// same tick of the clock, and is read once more.
	Seen int64
}

// A Kind says what a file is to the index.
type Kind string

// The kinds of files.
const (
	KindNote       Kind = "note"
	KindCanvas     Kind = "canvas"
	KindAttachment Kind = "attachment" // known by name only, so that links to it resolve
	KindConflict   Kind = "conflict"   // a sync tool's copy: listed, not searched, not linked to
)

// A Document is everything the index keeps of one file.
type Document struct {
	File
	Kind      Kind
	Title     string
	Type      string
	Node      string   // property id: what the note is called as a node; often empty
	Sure      *float64 // property confidence, 0 to 1; nil when it is not known
	Date      int64    // property date or created, in seconds since 1970; 0 when there is none
	Words     int
	Lines     int
	Tasks     int // boxes that are not ticked
	Done      int // boxes that are
	Aliases   []string
	Tags      []string // as written, each once; nested ones with slashes
	Props     []Prop
	Headings  []string
	Links     []Link
	Relations []Relation
	Chunks    []Chunk
	Problems  []Problem
	ReadOnly  bool
	Body      string // the text without front matter
}

// A Prop is one property of the front matter; lists give one Prop for each
// element, with the same key.
type Prop struct {
	Key   string `json:"k"`
	Value string `json:"v"`
}

// A Problem is something that the owner of a note may want to know.
type Problem struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	Line   int    `json:"line,omitempty"`
}

// A Chunk is one passage of a document.
type Chunk struct {
	Heading string // the path of headings, joined by " > "
	Text    string // as written
	Line    int
	Hash    Hash // of everything its vector depends on
}

// A Vector belongs to all passages with its hash.
type Vector struct {
	Hash   Hash
	Vector []float32
}

// A Row is a note without its text.
type Row struct {
	ID       int64 // of this store and this run: never kept
	File     File
	Kind     Kind
	Title    string
	Type     string
	Node     string
	Sure     *float64
	Date     int64
	Words    int
	Lines    int
	Tasks    int
	Done     int
	Tags     []string
	Aliases  []string
	Props    []Prop
	Problems []Problem
	ReadOnly bool
}

// When is the moment a note is about: its own date, else when it was changed.
func (r *Row) When() time.Time {
	if r.Date != 0 {
		return time.Unix(r.Date, 0)
	}
	return time.Unix(0, r.File.ModTime)
}

// A Filter narrows a question to some notes. The zero Filter lets all notes
// and canvases through, and neither attachments nor conflict files.
type Filter struct {
	Kinds    []Kind
	Tags     []string // nested tags count for their parents
	AnyTag   bool     // one of Tags is enough
	NoTags   []string
	Folders  []string // any of these folders, at any depth
	Globs    []string // any of these path patterns: * within a name, ** across folders
	NoGlobs  []string
	Types    []string // any of these, whatever the case
	NoTypes  []string
	Typed    bool     // only notes that say what type they are
	Untyped  bool     // only notes that do not
	MinSure  *float64 // a stated confidence of at least this
	MaxSure  *float64 // and at most that
	After    int64    // seconds since 1970, inclusive; 0 is open
	Before   int64    // exclusive
	Props    []PropFilter
	Problems bool    // only notes with problems
	Tasks    bool    // only notes with an open task
	Has      []Term  // words and phrases that must each occur
	Without  []Term  // words and phrases that must not
	And      *Filter // must hold too
}

// TakeWords takes the conditions on words out of a filter and returns them. It
// leaves the filters that And leads to as they are.
func (f *Filter) TakeWords() Filter {
	words := Filter{Has: f.Has, Without: f.Without}
	f.Has, f.Without = nil, nil
	if f.And != nil {
		rest := *f.And
		more := rest.TakeWords()
		f.And = &rest
		words.Has, words.Without = slices.Concat(words.Has, more.Has), slices.Concat(words.Without, more.Without)
	}
	return words
}

// A PropFilter asks for a property, with any value when Value is empty. Values
// compare without case. The ordering operators compare numbers with numbers,
// dates with dates, and any other value as text. Of a list, one element is
// enough.
type PropFilter struct {
	Key   string
	Op    string // "", "=", "<", "<=", ">", ">=" or [OpContains]
	Value string
	Not   bool // also lets notes through that do not have the property
}

// OpContains asks for a value that contains a text.
const OpContains = "contains"

// A Select asks for rows.
type Select struct {
	IDs    []int64
	Paths  []string
	Filter Filter
	Order  Order
	Limit  int // 0 is all
	Offset int
}

// An Order sorts rows; ties go by path.
type Order string

// The orders of rows.
const (
	ByPath     Order = ""
	ByModified Order = "modified" // newest first
	ByTitle    Order = "title"
	BySize     Order = "size"   // largest first
	BySure     Order = "sure"   // most confident first, those that state none last
	ByRandom   Order = "random" // a new one each time
)

// A Column is a part of a note that words are found in, weighted apart.
type Column int

// The columns.
const (
	ColTitle Column = iota
	ColNames
	ColHeadings
	ColTags
	ColBody
	Columns // how many there are
)

// A Term is a word or, with several words, a phrase. Words are plain text: the
// store quotes them.
type Term struct {
	Words  []string
	Prefix bool // the last word may go on
}

// A Match asks for notes by their words.
type Match struct {
	All     []Term           // every one must occur
	Any     []Term           // more of these is better; one is enough when All is empty
	Weights [Columns]float64 // all zero: nothing is ranked, which is much cheaper
	Filter  Filter
	Limit   int
}

// A Scored is one note of an answer.
type Scored struct {
	ID    int64
	Path  string
	Score float64
}

// A Near asks for the passages nearest to a vector, or, without one, to the
// middle of the vectors of some passages; those without a vector do not count.
type Near struct {
	Model  string
	Vector []float32
	Of     []Hash
	Among  []Hash // look at passages with these hashes alone; nil is all
	Filter Filter
	Limit  int
}

// A NearPassage is one passage of an answer to [Near].
type NearPassage struct {
	ID     int64 // of the note
	Path   string
	Seq    int
	Cosine float32
}

// A PassageQuery asks for passages of some notes, or for the ones that Model
// has not embedded yet, those of the newest and most linked notes first.
type PassageQuery struct {
	IDs   []int64
	Model string
	Limit int
}

// A Passage is one chunk with the note it stands in.
type Passage struct {
	ID      int64 // of the note
	Path    string
	Title   string
	Seq     int
	Heading string
	Line    int
	Text    string
	Hash    Hash
}

// A Link is one link as it is written in a note.
type Link struct {
	From     string // the path of the note it stands in
	Kind     string // the note package's LinkKind
	Target   string
	Fragment string
	Text     string
	Field    string
	Line     int
	Start    int // the whole link, in bytes of the file
	End      int
}

// A LinkQuery asks for the links of some notes, or for the links that may point
// to a name, or, with neither, for all.
type LinkQuery struct {
	From    []string
	To      []string // name keys
	Untyped bool     // only those that no relation states
	Limit   int
}

// A Relation is one typed relation as it is written in a note.
type Relation struct {
	From       string // the path of the note it stands in
	Type       string // SUPPORTS
	Kind       string // of the link, as in [Link]
	Target     string
	Fragment   string
	Confidence *float64
	Notes      string
	ID         string // its block id; often empty
	Form       string // the relation package's Form
	Line       int
	Start      int // the line, field or property that states it, in bytes of the file
	End        int
}

// A RelationQuery asks for relations: of some notes, of those that may point to a
// name, or of those with an id, or, with none of these, for all. Types narrows
// every one of them.
type RelationQuery struct {
	From  []string
	To    []string // name keys
	IDs   []string
	Types []string
	Limit int
}

// A NameKind says why a file has a name, strongest first.
type NameKind int

// The kinds of names.
const (
	NameFile   NameKind = iota // its own, without ".md"; attachments keep their extension
	NameAlias                  // property aliases
	NameFolder                 // the folder that it is the index of
	NameTitle                  // its title; links do not use it, people do
	NameNode                   // property id; links do not use it either
)

// A Name is one name of one file, as a key (see [Key]).
type Name struct {
	Key  string
	Kind NameKind
	Path string
}

// A NameQuery asks who carries the keys, or, with Like, whose names are similar
// to a word, most similar first, or, with Prefix, whose names of one kind begin
// so.
type NameQuery struct {
	Keys   []string
	Like   string
	Prefix string // a key, or the beginning of one
	Kind   NameKind
	Limit  int
}

// A Facet is an aspect that notes can be counted by.
type Facet string

// The facets.
const (
	FacetTag    Facet = "tag"
	FacetType   Facet = "type"
	FacetFolder Facet = "folder"
	FacetProp   Facet = "property"
)

// A Count is one value of a facet.
type Count struct {
	Value string
	Notes int
}

// Stats describes a store.
type Stats struct {
	Notes       int
	Attachments int
	Conflicts   int
	Links       int
	Relations   int
	Nodes       int // notes that say what type they are
	Passages    int
	Embedded    int // passages that have a vector of the model asked for
	Problems    int // notes with at least one
	Bytes       int64
	Version     int
	Generation  int64 // grows with every Apply that changed something
}

// Interrupted is the error of the context, looked at in every 256th round of a
// loop over what the store answered: work on a large vault ends with its caller.
func Interrupted(ctx context.Context, round int) error {
	if round%256 != 0 {
		return nil
	}
	return ctx.Err()
}
