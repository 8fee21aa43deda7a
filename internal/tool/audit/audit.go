// Package audit keeps the log that shows whether someone changed it: one line
// of JSON for every call and every change, chained by MACs under a key of its
// own. It knows what an entry looks like and not what it means; the number of
// the last entry that must be there is told to it, because only another file
// can know that the end of this one was cut off.
package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/state"
)

// An Entry is one line of audit.jsonl. Its last field is a MAC of everything
// before it, the MAC of the line above included, so no line can be changed,
// taken out or moved by someone who has not the key. The number and MAC of the
// last line that is surely on disk stand elsewhere, so the end cannot be cut off
// either.
type Entry struct {
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	// Event is "call" or "operation", or "pruned" for calls that were let go by
	// rule, or what was found wrong: "torn", "missing", "replaced", "restarted",
	// "unkept", "unanchored", "rolled_back"; or [AcceptedRow] and [Accepted].
	Event     string `json:"event"`
	Version   int    `json:"v,omitempty"`
	Call      string `json:"call,omitempty"` // its id
	Row       string `json:"row,omitempty"`  // hash of the record of the call
	Kind      string `json:"kind,omitempty"`
	Who       string `json:"who,omitempty"`
	Surface   string `json:"surface,omitempty"`
	Tool      string `json:"tool,omitempty"`
	ArgsHash  string `json:"args_hash,omitempty"`
	Decision  string `json:"decision,omitempty"`
	Status    string `json:"status,omitempty"`
	Fault     string `json:"fault,omitempty"`
	Operation string `json:"operation,omitempty"`
	Question  string `json:"question,omitempty"`
	Count     int    `json:"count,omitempty"` // files
	Pre       string `json:"pre,omitempty"`   // of all files before
	Post      string `json:"post,omitempty"`
	Files     []File `json:"files,omitempty"` // a few, one by one
	// Old is the hash of the log that could no longer be proved when this one
	// began ("restarted").
	Old string `json:"old,omitempty"`
	// Torn is the hash of the piece of a line above that a crash left, and Last
	// the number of the last line that should have stood above and does not.
	Torn string `json:"torn,omitempty"`
	// First and Last are the entries above whose records were not written, because
	// the program was stopped ("unkept"); of other events see Torn.
	First int64 `json:"first,omitempty"`
	// Until is the moment before which calls were let go ("pruned").
	Until time.Time `json:"until,omitzero"`
	Last  int64     `json:"last,omitempty"`
	Prev  string    `json:"prev"`
	MAC   string    `json:"mac,omitempty"`
}

// A person accepts a loss of records: one entry for each record, with the hash of
// what is left of it, then one with their number.
const (
	AcceptedRow = "accepted_row"
	Accepted    = "accepted"
)

// A File is what an operation did to one file, by hashes.
type File struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	Pre  string `json:"pre,omitempty"`
	Post string `json:"post,omitempty"`
}

// A Log is the log of one folder. It may be used from several goroutines, and
// several processes may append to it.
type Log struct {
	path, keyPath string
	random        io.Reader
	// Told hears that the key was damaged and a new chain began. It may be nil.
	Told func(string)

	mu  sync.Mutex
	key []byte
}

// In names the log in a folder, with its key beside it. It opens nothing; random
// is asked for a key when there is none.
func In(dir string, random io.Reader) *Log {
	return &Log{path: filepath.Join(dir, "audit.jsonl"), keyPath: filepath.Join(dir, "audit.key"), random: random}
}

const keySize = 32

// secret reads the key, or makes it when there is neither a key nor an entry.
// The caller holds the log.
func (l *Log) secret(last tail, make bool) ([]byte, error) {
	if l.key != nil && last.proved(l.key) {
		return l.key, nil
	}
	l.key = nil // another process may have begun a new chain
	text, err := os.ReadFile(l.keyPath)
	if errors.Is(err, fs.ErrNotExist) && make && last.size == 0 {
		return l.newKey()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	key, bad := hex.DecodeString(strings.TrimSpace(string(text)))
	switch {
	case err != nil:
		return nil, l.badKey("is missing")
	case bad != nil || len(key) != keySize:
		return nil, l.badKey("is damaged")
	}
	l.key = key
	return key, nil
}

func (l *Log) newKey() ([]byte, error) {
	var raw [keySize]byte
	if _, err := io.ReadFull(l.random, raw[:]); err != nil {
		return nil, err
	}
	if err := writeSynced(l.keyPath, []byte(hex.EncodeToString(raw[:])+"\n")); err != nil {
		return nil, err
	}
	l.key = raw[:]
	return l.key, nil
}

// badKey is the error of a key that proves nothing.
func (l *Log) badKey(problem string) error {
	return fmt.Errorf("%w: %w", errKey, fault.Fix(fault.Unavailable,
		"restore it from a backup, or continue: the next recorded call starts a new log, and the old one is kept but cannot be verified", "%s %s", l.keyPath, problem))
}

var errKey = errors.New("no entry can be verified")

// restart begins a new chain, because the key of the old one is lost. The old log
// and key are kept beside it. The file is locked.
func (l *Log) restart(f *os.File, last tail, now time.Time) (tail, error) {
	old := make([]byte, last.size)
	if _, err := f.ReadAt(old, 0); err != nil && !errors.Is(err, io.EOF) {
		return tail{}, err
	}
	aside := strings.TrimSuffix(l.path, ".jsonl") + ".broken-" + now.UTC().Format("20060102T150405.000000000")
	if err := writeSynced(aside+".jsonl", old); err != nil {
		return tail{}, err
	}
	if err := os.Rename(l.keyPath, aside+".key"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tail{}, err
	}
	key, err := l.newKey()
	if err != nil {
		return tail{}, err
	}
	sum := sha256.Sum256(old)
	e := Entry{Seq: last.last.Seq + 1, Time: now.UTC(), Event: "restarted", Last: last.last.Seq, Old: hex.EncodeToString(sum[:])}
	line, mac, err := seal(key, e)
	if err != nil {
		return tail{}, err
	}
	if err := f.Truncate(0); err != nil {
		return tail{}, err
	}
	if _, err := f.WriteAt(line, 0); err != nil {
		return tail{}, err
	}
	if l.Told != nil {
		l.Told(fmt.Sprintf("%s was damaged or missing: a new audit log was started, and the %d entries before it are kept in %s.jsonl but cannot be verified", l.keyPath, last.last.Seq, aside))
	}
	e.MAC = mac
	return tail{last: e, line: line, first: line, size: int64(len(line))}, f.Sync()
}

// proved reports whether the key made the last entry, or the first: one of them
// may have been changed. A log without entries proves any key.
func (t tail) proved(key []byte) bool {
	if t.line == nil {
		return true
	}
	for _, line := range [][]byte{t.line, t.first} {
		if e, ok := parseEntry(line); ok && proves(key, line, e) {
			return true
		}
	}
	return false
}

// writeSynced makes a file of that content, whole or not at all.
func writeSynced(path string, text []byte) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// macMark is where the MAC begins in a line; what stands before it is proved.
const macMark = `,"mac":"`

func seal(key []byte, e Entry) (line []byte, mac string, err error) {
	e.MAC = ""
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, "", err
	}
	body := bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	mac = hex.EncodeToString(sign(key, body))
	return append(body, macMark+mac+"\"}\n"...), mac, nil
}

func sign(key, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(body) // never fails
	return h.Sum(nil)
}

// A tail is how a log ends: its last whole line, and what stands after it.
type tail struct {
	last  Entry
	line  []byte // of the last entry; nil when there is none
	first []byte // the first line of the file
	piece []byte
	open  bool // the last line has no end
	size  int64
}

// An End is a place in the log: the number of an entry and its MAC.
type End struct {
	Seq int64
	MAC string
}

// Append writes entries, whose numbers and MACs it sets, under the lock of the
// file. Known is the last entry that must be there, and kept the last one whose
// records are written; those above it and not in the list never will be. Synced
// entries are on disk when it returns, and the place that it returns is the next
// one to be known.
func (l *Log) Append(known End, kept int64, list []Entry, synced bool) (End, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return End{}, state.Explain(err, l.path)
	}
	defer f.Close()
	if err := state.Lock(f); err != nil {
		return End{}, state.Explain(err, l.path)
	}
	last, err := readTail(f)
	if err != nil {
		return End{}, state.Explain(err, l.path)
	}
	key, err := l.secret(last, true)
	if errors.Is(err, errKey) || err == nil && !last.proved(key) {
		if last, err = l.restart(f, last, list[0].Time); err == nil {
			key, known, kept = l.key, End{}, last.last.Seq
			err = l.writeAnchor(key, Anchor{Seq: last.last.Seq, MAC: last.last.MAC, Kept: last.last.Seq, Boot: boot()})
		}
	}
	if err != nil {
		return End{}, state.Explain(err, l.keyPath)
	}
	anchor, found, err := l.anchored(key, last, kept, list[0].Time)
	if err != nil {
		return End{}, state.Explain(err, l.anchorPath())
	}
	text, end, err := chain(key, last, anchor.must(known), append(found, list...))
	if err != nil {
		return End{}, err
	}
	if _, err = f.WriteAt(text, last.size); err == nil && synced {
		err = f.Sync()
	}
	if err != nil {
		// What was written of it stays a piece that the next one heals; cutting
		// it off may fail as well.
		_ = f.Truncate(last.size)
		return End{}, state.Explain(err, l.path)
	}
	anchor.Seq, anchor.MAC, anchor.Boot = end.Seq, end.MAC, boot()
	if synced {
		anchor.Synced, anchor.SyncedMAC = end.Seq, end.MAC
	}
	anchor.Kept = max(anchor.Kept, kept)
	_ = l.writeAnchor(key, anchor) // the entries are there; it lags until the next one
	return end, nil
}

// anchored reads the anchor before an entry is written, and tells what the log,
// the anchor and the records show about each other. A log that has none yet gets
// one first, so that it is never missing beside entries that need it.
func (l *Log) anchored(key []byte, last tail, kept int64, now time.Time) (a Anchor, found []Entry, err error) {
	a, bad := l.readAnchor(key)
	switch {
	case bad != nil && last.last.Version >= version:
		found = append(found, Entry{Time: now, Event: "unanchored"})
		fallthrough
	case bad != nil:
		a = Anchor{Seq: last.last.Seq, MAC: last.last.MAC, Kept: kept, Boot: boot()}
		return a, found, l.writeAnchor(key, a)
	case kept < a.Kept && a.Boot == boot() && a.Boot != "":
		found = append(found, Entry{Time: now, Event: "rolled_back", First: kept + 1, Last: a.Kept})
		a.Kept = kept
	}
	if end := last.last.Seq; end > kept && last.last.Version >= version && len(found) == 0 {
		found = append(found, Entry{Time: now, Event: "unkept", First: kept + 1, Last: end})
	}
	return a, found, nil
}

// chain writes the lines of the entries, after a line about what is wrong with
// the end of the log.
func chain(key []byte, last tail, known End, list []Entry) (text []byte, end End, err error) {
	end = End{last.last.Seq, last.last.MAC}
	found := Entry{Time: list[0].Time}
	if len(last.piece) > 0 {
		sum := sha256.Sum256(bytes.TrimSuffix(last.piece, []byte("\n")))
		found.Event, found.Torn = "torn", hex.EncodeToString(sum[:])
	}
	if last.open {
		text = append(text, '\n')
	}
	switch {
	case known.Seq > end.Seq:
		found.Event, found.Last = "missing", known.Seq
		end.Seq = known.Seq
	case known.Seq == end.Seq && known.MAC != end.MAC:
		found.Event, found.Last = "replaced", known.Seq
	}
	if found.Event != "" {
		list = append([]Entry{found}, list...)
	}
	for _, e := range list {
		end.Seq++
		e.Seq, e.Prev, e.Version = end.Seq, end.MAC, version
		var line []byte
		if line, end.MAC, err = seal(key, e); err != nil {
			return nil, End{}, err
		}
		text = append(text, line...)
	}
	return text, end, nil
}

// readTail finds the last line that can be read. What follows it, ended or not,
// is a piece.
func readTail(f *os.File) (tail, error) {
	info, err := f.Stat()
	if err != nil {
		return tail{}, err
	}
	t := tail{size: info.Size()}
	if t.first, err = firstLine(f); err != nil {
		return tail{}, err
	}
	for want := int64(8 << 10); ; want *= 4 {
		from := max(0, t.size-want)
		buf := make([]byte, t.size-from)
		if _, err := f.ReadAt(buf, from); err != nil && !errors.Is(err, io.EOF) {
			return tail{}, err
		}
		if from > 0 { // the first line may have begun earlier
			_, rest, ok := bytes.Cut(buf, []byte("\n"))
			if !ok {
				continue
			}
			buf = rest
		}
		if t.scan(buf) || from == 0 {
			return t, nil
		}
	}
}

// firstLine reads the beginning of the log.
func firstLine(f *os.File) ([]byte, error) {
	buf := make([]byte, 4<<10)
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line, _, _ := bytes.Cut(buf[:n], []byte("\n"))
	return append(line, '\n'), nil
}

// scan looks for the last line that is an entry, in whole lines and a rest. A
// line that lacks nothing but its end is whole.
func (t *tail) scan(buf []byte) bool {
	t.piece, t.open = nil, len(buf) > 0 && buf[len(buf)-1] != '\n'
	for rest := buf; len(rest) > 0; {
		i := bytes.LastIndexByte(bytes.TrimSuffix(rest, []byte("\n")), '\n') + 1
		line := rest[i:]
		if e, ok := parseEntry(line); ok {
			t.last, t.line = e, bytes.Clone(line)
			return true
		}
		t.piece = buf[i:]
		rest = rest[:i]
	}
	return false
}
