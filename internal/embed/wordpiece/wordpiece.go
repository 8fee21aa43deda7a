// Package wordpiece cuts text into the pieces that BERT models read: words in
// lower case without accents, and what of them is in the model's vocabulary.
// It knows a vocabulary and nothing of the model behind it.
//
// Its pieces are those of @huggingface/tokenizers for an uncased BERT, but for
// ideographs beyond U+FFFF, each of which is a word here as it was when the
// models were trained (the reference glues neighbours together).
package wordpiece

import (
	"strings"
	"unicode/utf8"

	"lore/internal/fault"
)

// maxWord is the number of characters above which a word is unknown.
const maxWord = 100

// A Tokenizer turns text into ids. It does not change after [New] and is safe
// for concurrent use.
type Tokenizer struct {
	text   string   // the vocabulary, one piece a line
	starts []uint32 // where each piece begins in text, and the end
	// table is an open-addressed hash table of id+1, a power of two long and
	// at most half full. Making it costs about a millisecond for 30,000
	// pieces, a fifth of what a map of strings does.
	table   []uint32
	longest int // bytes of the longest piece, without its "##"
	special special
	// accents says that the vocabulary has letters with their accents.
	accents bool
}

// special has the ids of the pieces with a meaning of their own.
type special struct{ unknown, begin, end int32 }

// reserved are pieces that stand for themselves wherever a text has them, in
// exactly this spelling.
var reserved = [...]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}

// New reads a vocabulary: one piece a line, whose number is its id. It keeps
// the string. A vocabulary without [UNK], [CLS] and [SEP], with an empty line
// or the same piece twice, is refused.
func New(vocabulary string) (*Tokenizer, error) {
	if len(vocabulary) > 1<<28 {
		return nil, fault.New(fault.TooLarge, "the vocabulary is too large (%d bytes)", len(vocabulary))
	}
	text := strings.TrimSuffix(vocabulary, "\n")
	count := strings.Count(text, "\n") + 1
	size := 4
	for size < 2*count {
		size *= 2
	}
	t := &Tokenizer{text: text, starts: make([]uint32, 0, count+1), table: make([]uint32, size)}
	for start := 0; start <= len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		piece := text[start:end]
		id := len(t.starts)
		t.starts = append(t.starts, uint32(start))
		if piece == "" {
			return nil, fault.New(fault.Invalid, "vocabulary: piece %d is empty", id)
		}
		if !t.insert(piece, id) {
			return nil, fault.New(fault.Invalid, "vocabulary: piece %q occurs twice", piece)
		}
		t.longest = max(t.longest, len(strings.TrimPrefix(piece, "##")))
		start = end + 1
	}
	t.starts = append(t.starts, uint32(len(text)+1))
	for name, id := range map[string]*int32{
		"[UNK]": &t.special.unknown, "[CLS]": &t.special.begin, "[SEP]": &t.special.end,
	} {
		if *id = t.find([]byte(name), hash(hashStart, name)); *id < 0 {
			return nil, fault.New(fault.Invalid, "the vocabulary has no %s", name)
		}
	}
	return t, nil
}

// NewMultilingual is New for a vocabulary of many languages: words keep their
// accents, and Japanese is cut where its scripts change. Reserved pieces in a
// text are ordinary text.
func NewMultilingual(vocabulary string) (*Tokenizer, error) {
	t, err := New(vocabulary)
	if err != nil {
		return nil, err
	}
	t.accents = true
	return t, nil
}

// Len is the number of pieces: every id is below it.
func (t *Tokenizer) Len() int { return len(t.starts) - 1 }

// Piece is the text of an id.
func (t *Tokenizer) Piece(id int32) string {
	return t.text[t.starts[id] : t.starts[id+1]-1]
}

// hashStart and hash are FNV-1a: the hash of a longer text goes on from that
// of a shorter one, so that all beginnings of a word are hashed in one pass.
const hashStart = 2166136261

func hash[T string | []byte](h uint32, s T) uint32 {
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

func (t *Tokenizer) slot(h uint32) uint32 { return (h ^ h>>15) & uint32(len(t.table)-1) }

func (t *Tokenizer) insert(piece string, id int) bool {
	slot := t.slot(hash(hashStart, piece))
	for t.table[slot] != 0 {
		other := int32(t.table[slot] - 1)
		start, end := t.starts[other], len(t.text)
		if int(other)+1 < len(t.starts) {
			end = int(t.starts[other+1]) - 1
		}
		if t.text[start:end] == piece {
			return false
		}
		slot = (slot + 1) & uint32(len(t.table)-1)
	}
	t.table[slot] = uint32(id + 1)
	return true
}

// find returns the id of a piece whose hash is h, or -1.
func (t *Tokenizer) find(piece []byte, h uint32) int32 {
	return t.lookup("", piece, h)
}

// lookup finds prefix+piece.
func (t *Tokenizer) lookup(prefix string, piece []byte, h uint32) int32 {
	for slot := t.slot(h); t.table[slot] != 0; slot = (slot + 1) & uint32(len(t.table)-1) {
		id := int32(t.table[slot] - 1)
		if p := t.Piece(id); len(p) == len(prefix)+len(piece) && p[:len(prefix)] == prefix && p[len(prefix):] == string(piece) {
			return id
		}
	}
	return -1
}

// Encode appends the ids of text to dst, between those of [CLS] and [SEP]. At
// most max ids are appended in all (at least the two), and of a longer text
// the beginning is taken: its rest is not looked at.
func (t *Tokenizer) Encode(dst []int32, text string, max int) []int32 {
	limit := len(dst) + max - 1
	dst = append(dst, t.special.begin)
	if t.accents {
		return append(t.multilingual(dst, text, limit), t.special.end)
	}
	for text != "" && len(dst) < limit {
		at, name := nextReserved(text)
		dst = t.plain(dst, text[:at], limit)
		if name == "" {
			break
		}
		if id := t.find([]byte(name), hash(hashStart, name)); id >= 0 && len(dst) < limit {
			dst = append(dst, id)
		}
		text = text[at+len(name):]
	}
	return append(dst, t.special.end)
}

// nextReserved finds the first reserved piece in text, or its end.
func nextReserved(text string) (at int, name string) {
	for at < len(text) {
		i := strings.IndexByte(text[at:], '[')
		if i < 0 {
			break
		}
		at += i
		for _, r := range reserved {
			if strings.HasPrefix(text[at:], r) {
				return at, r
			}
		}
		at++
	}
	return len(text), ""
}

// word appends the pieces of one word: the longest that is known, then the
// longest that goes on from there. A word that cannot be put together so is
// one unknown piece.
func (t *Tokenizer) word(dst []int32, w []byte) []int32 {
	if len(w) > maxWord && utf8.RuneCount(w) > maxWord {
		return append(dst, t.special.unknown)
	}
	if out, ok := t.pieces(dst, w); ok {
		return out
	}
	return append(dst, t.special.unknown)
}

// pieces appends the pieces of a word, if it can be put together.
func (t *Tokenizer) pieces(dst []int32, w []byte) ([]int32, bool) {
	before := len(dst)
	var hashes [4 * maxWord]uint32 // of every beginning of what is left
	prefix, from := "", uint32(hashStart)
	for start := 0; start < len(w); {
		rest := w[start:min(len(w), start+min(t.longest, len(hashes)))]
		h := from
		for i, c := range rest {
			h = (h ^ uint32(c)) * 16777619
			hashes[i] = h
		}
		end, id := len(rest), int32(-1)
		for ; end > 0; end-- {
			if id = t.lookup(prefix, rest[:end], hashes[end-1]); id >= 0 {
				break
			}
		}
		if id < 0 {
			return dst[:before], false
		}
		dst = append(dst, id)
		start += end
		prefix, from = "##", hash(hashStart, "##")
	}
	return dst, true
}
