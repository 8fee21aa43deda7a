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
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lore/internal/fault"
	"lore/internal/state"
)

// An Entry is one line of audit.jsonl. Its last field is a MAC of everything
// before it, the MAC of the line above included, so no line can be changed,
// taken out or moved by someone who has not the key. The number and MAC of the
// last line that is surely on disk stand elsewhere, so the end cannot be cut off
// either.
type Entry struct {
	Seq       int64     `json:"seq"`
	Time      time.Time `json:"time"`
	Event     string    `json:"event"` // "call" or "operation", or what was found wrong with the log: "torn", "missing", "replaced"
	Kind      string    `json:"kind,omitempty"`
	Who       string    `json:"who,omitempty"`
	Surface   string    `json:"surface,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	ArgsHash  string    `json:"args_hash,omitempty"`
	Decision  string    `json:"decision,omitempty"`
	Status    string    `json:"status,omitempty"`
	Fault     string    `json:"fault,omitempty"`
	Operation string    `json:"operation,omitempty"`
	Question  string    `json:"question,omitempty"`
	Count     int       `json:"count,omitempty"` // files
	Pre       string    `json:"pre,omitempty"`   // of all files before
	Post      string    `json:"post,omitempty"`
	Files     []File    `json:"files,omitempty"` // a few, one by one
	// Torn is the hash of the piece of a line above that a crash left, and Last
	// the number of the last line that should have stood above and does not.
	Torn string `json:"torn,omitempty"`
	Last int64  `json:"last,omitempty"`
	Prev string `json:"prev"`
	MAC  string `json:"mac,omitempty"`
}

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

	mu  sync.Mutex
	key []byte
}

// In names the log in a folder, with its key beside it. It opens nothing; random
// is asked for a key when there is none.
func In(dir string, random io.Reader) *Log {
	return &Log{path: filepath.Join(dir, "audit.jsonl"), keyPath: filepath.Join(dir, "audit.key"), random: random}
}

const keySize = 32

// secret reads the key, or makes it. The caller holds the log.
func (l *Log) secret(make bool) ([]byte, error) {
	if l.key != nil {
		return l.key, nil
	}
	text, err := os.ReadFile(l.keyPath)
	if errors.Is(err, fs.ErrNotExist) && make {
		var raw [keySize]byte
		if _, err := io.ReadFull(l.random, raw[:]); err != nil {
			return nil, err
		}
		text = []byte(hex.EncodeToString(raw[:]) + "\n")
		err = writeSynced(l.keyPath, text)
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keySize {
		return nil, fault.Fix(fault.Unavailable, "bring back a copy; moving it away makes a new one, and older entries can then not be proved",
			"%s is damaged", l.keyPath)
	}
	l.key = key
	return key, nil
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
// file. Known is the last entry that must be there. Synced entries are on disk
// when it returns, and the place that it returns is the next one to be known.
func (l *Log) Append(known End, list []Entry, synced bool) (End, error) {
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
	key, err := l.secret(true)
	if err != nil {
		return End{}, state.Explain(err, l.keyPath)
	}
	last, err := readTail(f)
	if err != nil {
		return End{}, state.Explain(err, l.path)
	}
	text, end, err := chain(key, last, known, list)
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
	return end, nil
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
		e.Seq, e.Prev = end.Seq, end.MAC
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

// scan looks for the last line that is an entry, in whole lines and a rest. A
// line that lacks nothing but its end is whole.
func (t *tail) scan(buf []byte) bool {
	t.piece, t.open = nil, len(buf) > 0 && buf[len(buf)-1] != '\n'
	for rest := buf; len(rest) > 0; {
		i := bytes.LastIndexByte(bytes.TrimSuffix(rest, []byte("\n")), '\n') + 1
		line := rest[i:]
		if e, ok := parseEntry(line); ok {
			t.last = e
			return true
		}
		t.piece = buf[i:]
		rest = rest[:i]
	}
	return false
}
