package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"lore/internal/fault"
	"lore/internal/machine/db"
	"lore/internal/machine/state"
)

// Verified is what [Log.Verify] found in a log that nobody changed.
type Verified struct {
	Entries int
	// Torn is how often a crash left a piece of a line. That is no loss: an
	// entry that had been promised to be on disk would be missed.
	Torn int
	// Anchored is the first entry since which the log is compared with its anchor
	// and with the records; 0 when there is none yet.
	Anchored int64
	// Restarted is when this log took the place of one whose key was lost.
	Restarted time.Time
	// Accepted is when a person last accepted that records were lost.
	Accepted time.Time
	// RolledBack is the entry that tells of an older state.db, unless a person
	// accepted the loss later. It is the error then, when there is no worse one.
	RolledBack *BadEntry
}

// A BadEntry is the first place of the audit log that is not as it was written.
type BadEntry struct {
	Line    int   // of the file, counted from 1
	Seq     int64 // of the entry that stands there or should
	Problem string
}

// Error names the place.
func (b *BadEntry) Error() string {
	return fmt.Sprintf("audit log, line %d, entry %d: %s", b.Line, b.Seq, b.Problem)
}

// Unwrap gives the kind: it is not what was written.
func (b *BadEntry) Unwrap() error { return fault.Conflict }

// Verify reads the whole log and proves every entry. Known is the last one that
// must be there. The error is a [BadEntry] that names the first one which was
// changed, removed or moved, or the end that was cut off. It tells a line that a
// crash left unfinished from these.
//
// See, unless it is nil, is called with each entry that is proved, in order.
func (l *Log) Verify(ctx context.Context, known End, see func(Entry)) (Verified, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var anchor Anchor
	var unanchored error
	if key, err := l.secret(tail{}, false); err == nil {
		anchor, unanchored = l.readAnchor(key) // before the log, which only grows
	}
	known = anchor.must(known)
	f, size, err := l.open()
	if errors.Is(err, fs.ErrNotExist) {
		if known.Seq > 0 {
			return Verified{}, &BadEntry{Line: 1, Seq: 1, Problem: fmt.Sprintf("the log is gone; it had %d entries", known.Seq)}
		}
		return Verified{}, nil
	}
	if err != nil {
		return Verified{}, err
	}
	defer f.Close()
	last, err := readTail(f)
	if err != nil {
		return Verified{}, state.Explain(err, l.path)
	}
	key, err := l.secret(last, false)
	if last.size > 0 && err != nil {
		return Verified{}, state.Explain(err, l.keyPath)
	}
	v := verifier{ctx: ctx, key: key, known: known, see: see, unanchored: unanchored, in: bufio.NewReaderSize(io.LimitReader(f, size), 64<<10)}
	err = v.run()
	return v.found, err
}

// open opens the log for reading up to the size it has while nobody writes.
func (l *Log) open() (*os.File, int64, error) {
	f, err := os.OpenFile(l.path, os.O_RDWR, 0)
	if db.IsReadOnly(err) {
		return l.openBeside() // nobody can write it
	}
	if err != nil {
		return nil, 0, err
	}
	if err := state.Lock(f); err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	// The lock belongs to the open file. A second one reads on without it.
	r, err := os.Open(l.path)
	return r, info.Size(), errors.Join(err, f.Close())
}

// openBeside opens the log without waiting for whoever writes it: the last line
// may be a piece.
func (l *Log) openBeside() (*os.File, int64, error) {
	f, err := os.Open(l.path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// A verifier walks through a log.
type verifier struct {
	ctx   context.Context
	key   []byte
	known End
	see   func(Entry)
	in    *bufio.Reader
	// unanchored is what is wrong with the anchor.
	unanchored error

	line  int
	seq   int64 // of the last good entry
	mac   string
	piece [][]byte // lines since then that cannot be read
	first int      // the number of the first of them
	found Verified
}

func (v *verifier) run() error {
	for {
		line, err := v.in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) == 0 {
			return v.end()
		}
		v.line++
		if v.line%1024 == 0 && v.ctx.Err() != nil {
			return v.ctx.Err()
		}
		if err := v.step(line); err != nil {
			return err
		}
	}
}

func (v *verifier) bad(line int, seq int64, format string, args ...any) error {
	return &BadEntry{Line: line, Seq: seq, Problem: fmt.Sprintf(format, args...)}
}

// step proves one line.
func (v *verifier) step(line []byte) error {
	e, ok := parseEntry(line)
	if !ok {
		if len(v.piece) == 0 {
			v.first = v.line
		}
		v.piece = append(v.piece, bytes.TrimSuffix(line, []byte("\n")))
		return nil
	}
	proved := proves(v.key, line, e)
	if len(v.piece) > 0 {
		if !proved || e.Torn == "" || e.Torn != pieceSum(v.piece) {
			return v.bad(v.first, v.seq+1, "it was changed: it cannot be read")
		}
		v.piece = nil
		v.found.Torn++
	}
	switch {
	case !proved:
		return v.bad(v.line, e.Seq, "it was changed, or audit.key was")
	case e.Event == "restarted" && v.line == 1:
		v.found.Restarted = e.Time
		v.seq = e.Seq - 1 // those before it are in another file
	case e.Event == "unanchored":
		return v.bad(v.line, e.Seq, "audit.head was missing or changed when this entry was written: the end of the log above it may have been cut off")
	case e.Event == "missing":
		return v.bad(v.line, v.seq+1, "the end was cut off: entries %d to %d are missing above this line", v.seq+1, e.Last)
	case e.Event == "replaced" && e.Prev == v.mac:
		return v.bad(v.line, e.Last, "entry %d above this line is not the one that was written", e.Last)
	case e.Seq != v.seq+1:
		return v.outOfOrder(e)
	case e.Prev != v.mac:
		return v.bad(v.line, e.Seq, "it does not follow the entry above it")
	case e.Seq == v.known.Seq && e.MAC != v.known.MAC:
		return v.bad(v.line, e.Seq, "it is not the entry that was written under this number")
	}
	v.seq, v.mac = e.Seq, e.MAC
	v.found.Entries++
	v.lost(e)
	if v.found.Anchored == 0 && e.Version >= version {
		v.found.Anchored = e.Seq
	}
	if v.see != nil {
		v.see(e)
	}
	return nil
}

// lost follows what the log tells about records that were lost, and that a
// person accepted it.
func (v *verifier) lost(e Entry) {
	switch {
	case e.Event == "rolled_back" && v.found.RolledBack == nil:
		v.found.RolledBack = &BadEntry{Line: v.line, Seq: e.Seq,
			Problem: fmt.Sprintf("state.db was replaced by an older one, or rows were deleted: it had the records of the entries up to %d, and then only up to %d", e.Last, e.First-1)}
	case e.Event == Accepted:
		v.found.Accepted, v.found.RolledBack = e.Time, nil
	}
}

func parseEntry(line []byte) (e Entry, ok bool) {
	ok = json.Unmarshal(line, &e) == nil && e.MAC != ""
	return e, ok
}

func proves(key, line []byte, e Entry) bool {
	body, rest, ok := bytes.Cut(line, []byte(macMark+e.MAC))
	mac, err := hex.DecodeString(e.MAC)
	return ok && err == nil && (string(rest) == "\"}\n" || string(rest) == "\"}") && hmac.Equal(mac, sign(key, body))
}

func pieceSum(piece [][]byte) string {
	sum := sha256.Sum256(bytes.Join(piece, []byte("\n")))
	return hex.EncodeToString(sum[:])
}

// outOfOrder tells why an entry that is genuine stands at the wrong place.
func (v *verifier) outOfOrder(e Entry) error {
	if e.Seq <= v.seq {
		return v.bad(v.line, e.Seq, "it occurs twice or was moved")
	}
	at := v.line
	for {
		line, err := v.in.ReadBytes('\n')
		if len(line) == 0 || err != nil && !errors.Is(err, io.EOF) {
			break
		}
		if later, ok := parseEntry(line); ok && later.Seq == v.seq+1 {
			return v.bad(at, e.Seq, "it was moved: entry %d is below it", v.seq+1)
		}
	}
	if e.Seq == v.seq+2 {
		return v.bad(at, v.seq+1, "it was removed; entry %d is in its place", e.Seq)
	}
	return v.bad(at, v.seq+1, "entries %d to %d were removed", v.seq+1, e.Seq-1)
}

// end judges what stands after the last good entry.
func (v *verifier) end() error {
	if v.seq < v.known.Seq {
		if len(v.piece) > 0 && v.seq+1 < v.known.Seq {
			return v.bad(v.first, v.seq+1, "it was changed or cut; entries up to %d are missing", v.known.Seq)
		}
		line := v.line + 1
		if len(v.piece) > 0 {
			line = v.first
		}
		return v.bad(line, v.seq+1, "the end was cut off: entries %d to %d are missing", v.seq+1, v.known.Seq)
	}
	if len(v.piece) > 0 {
		v.found.Torn++
	}
	if v.found.Anchored > 0 && v.unanchored != nil {
		return v.bad(v.line+1, v.seq+1, "%v: the end of the log may have been cut off", v.unanchored)
	}
	if v.found.RolledBack != nil {
		return v.found.RolledBack
	}
	return nil
}
