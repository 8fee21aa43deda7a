package history

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
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

// An entry is one line of audit.jsonl. Its last field is a MAC of everything
// before it, the MAC of the line above included, so no line can be changed,
// taken out or moved by someone who has not the key. The number and MAC of the
// last line that is surely on disk stand in state.db, so the end cannot be cut
// off either.
type entry struct {
	Seq       int64       `json:"seq"`
	Time      time.Time   `json:"time"`
	Event     string      `json:"event"` // "call" or "operation", or what was found wrong with the log: "torn", "missing"
	Kind      string      `json:"kind,omitempty"`
	Who       string      `json:"who,omitempty"`
	Surface   string      `json:"surface,omitempty"`
	Tool      string      `json:"tool,omitempty"`
	ArgsHash  string      `json:"args_hash,omitempty"`
	Decision  string      `json:"decision,omitempty"`
	Status    string      `json:"status,omitempty"`
	Fault     string      `json:"fault,omitempty"`
	Operation string      `json:"operation,omitempty"`
	Question  string      `json:"question,omitempty"`
	Count     int         `json:"count,omitempty"` // files
	Pre       string      `json:"pre,omitempty"`   // of all files before
	Post      string      `json:"post,omitempty"`
	Files     []entryFile `json:"files,omitempty"` // a few, one by one
	// Torn is the hash of the piece of a line above that a crash left, and Last
	// the number of the last line that should have stood above and does not.
	Torn string `json:"torn,omitempty"`
	Last int64  `json:"last,omitempty"`
	Prev string `json:"prev"`
	MAC  string `json:"mac,omitempty"`
}

type entryFile struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	Pre  string `json:"pre,omitempty"`
	Post string `json:"post,omitempty"`
}

// An audit is the log of one folder.
type audit struct {
	path, keyPath string
	random        io.Reader

	mu  sync.Mutex
	key []byte
}

func newAudit(dir string, random io.Reader) *audit {
	return &audit{path: filepath.Join(dir, "audit.jsonl"), keyPath: filepath.Join(dir, "audit.key"), random: random}
}

const keySize = 32

// secret reads the key, or makes it. The caller holds the log.
func (a *audit) secret(make bool) ([]byte, error) {
	if a.key != nil {
		return a.key, nil
	}
	text, err := os.ReadFile(a.keyPath)
	if errors.Is(err, fs.ErrNotExist) && make {
		var raw [keySize]byte
		if _, err := io.ReadFull(a.random, raw[:]); err != nil {
			return nil, err
		}
		text = []byte(hex.EncodeToString(raw[:]) + "\n")
		err = writeSynced(a.keyPath, text)
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keySize {
		return nil, fault.Fix(fault.Unavailable, "bring back a copy; moving it away makes a new one, and older entries can then not be proved",
			"%s is damaged", a.keyPath)
	}
	a.key = key
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

func seal(key []byte, e entry) (line []byte, mac string, err error) {
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
	last  entry
	piece []byte
	size  int64
}

// append writes entries under the lock of the file, in the transaction that
// holds what they speak of. Synced entries are on disk when it returns, and the
// transaction remembers the last of them.
func (a *audit) append(ctx context.Context, tx *sql.Tx, list []entry, synced bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, err := os.OpenFile(a.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return explainFile(err, a.path)
	}
	defer f.Close()
	if err := lockFile(f); err != nil {
		return explainFile(err, a.path)
	}
	key, err := a.secret(true)
	if err != nil {
		return explainFile(err, a.keyPath)
	}
	end, err := readTail(f)
	if err != nil {
		return explainFile(err, a.path)
	}
	known, err := fact(ctx, tx, "audit_seq")
	if err != nil {
		return err
	}
	text, seq, mac, err := a.chain(key, end, known, list)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(text, end.size); err == nil && synced {
		err = f.Sync()
	}
	if err != nil {
		// What was written of it stays a piece that the next one heals; cutting
		// it off may fail as well.
		_ = f.Truncate(end.size)
		return explainFile(err, a.path)
	}
	if !synced {
		return nil
	}
	return errors.Join(setFact(ctx, tx, "audit_seq", seq), setFact(ctx, tx, "audit_mac", mac))
}

// chain writes the lines of the entries, after a line about what is wrong with
// the end of the log.
func (a *audit) chain(key []byte, end tail, known int64, list []entry) (text []byte, seq int64, mac string, err error) {
	seq, mac = end.last.Seq, end.last.MAC
	at := list[0].Time
	found := entry{Time: at}
	if len(end.piece) > 0 {
		sum := sha256.Sum256(bytes.TrimSuffix(end.piece, []byte("\n")))
		found.Event, found.Torn = "torn", hex.EncodeToString(sum[:])
		if end.piece[len(end.piece)-1] != '\n' {
			text = append(text, '\n')
		}
	}
	if known > seq {
		found.Event, found.Last = "missing", known
		seq = known
	}
	if found.Event != "" {
		list = append([]entry{found}, list...)
	}
	for _, e := range list {
		seq++
		e.Seq, e.Prev = seq, mac
		var line []byte
		if line, mac, err = seal(key, e); err != nil {
			return nil, 0, "", err
		}
		text = append(text, line...)
	}
	return text, seq, mac, nil
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

// scan looks for the last whole line in whole lines and a rest.
func (t *tail) scan(buf []byte) bool {
	t.piece = nil
	for rest := buf; len(rest) > 0; {
		i := bytes.LastIndexByte(bytes.TrimSuffix(rest, []byte("\n")), '\n') + 1
		line := rest[i:]
		e := entry{}
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &e) == nil && e.MAC != "" {
			t.last = e
			return true
		}
		t.piece = buf[i:]
		rest = rest[:i]
	}
	return false
}

func explainFile(err error, path string) error { return state.Explain(err, path) }
