package audit

import (
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// version is in every entry of a log that has an anchor.
const version = 2

// An Anchor is how far the log and the records beside it are known to reach. It
// lies in a file of its own, audit.head, signed with the key of the log, so that
// cutting off the end of the log, or going back to an older state.db, is noticed.
// It may lag behind both when a process is killed, and never leads: it is written
// after what it speaks of. It costs no wait for the disk. After a power cut it
// counts only as far as the log was on disk for sure.
type Anchor struct {
	Seq int64  `json:"seq"` // the last entry of the log
	MAC string `json:"mac"`
	// Synced is the last entry that is surely on disk.
	Synced    int64  `json:"synced"`
	SyncedMAC string `json:"synced_mac"`
	// Kept is the last entry of which the records in state.db are written.
	Kept int64 `json:"kept"`
	// Boot tells one run of the computer from the next.
	Boot string `json:"boot"`
}

// anchorSize is how large the file always is: it is written in place, by one
// call, so that a process that is killed leaves all of it or nothing new.
const anchorSize = 512

func (l *Log) anchorPath() string { return filepath.Join(filepath.Dir(l.path), "audit.head") }

// boot names this run of the computer; "" where the system does not tell.
func boot() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // elsewhere there is none
	return strings.TrimSpace(string(b))
}

var errNoAnchor = errors.New("audit.head is missing")

// readAnchor reads the anchor and proves it.
func (l *Log) readAnchor(key []byte) (a Anchor, err error) {
	b, err := os.ReadFile(l.anchorPath())
	if errors.Is(err, fs.ErrNotExist) {
		return a, errNoAnchor
	}
	if err != nil {
		return a, err
	}
	body, mac, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	want, bad := hex.DecodeString(mac)
	if bad != nil || !hmac.Equal(want, sign(key, []byte("anchor\n"+body))) || json.Unmarshal([]byte(body), &a) != nil {
		return Anchor{}, errors.New("audit.head was changed, or audit.key was")
	}
	return a, nil
}

// writeAnchor writes it in place. The log is locked.
func (l *Log) writeAnchor(key []byte, a Anchor) error {
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	text := string(body) + "\n" + hex.EncodeToString(sign(key, []byte("anchor\n"+string(body))))
	f, err := os.OpenFile(l.anchorPath(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%-*s\n", anchorSize-1, text), 0)
	return errors.Join(err, f.Close())
}

// must is the last entry that has to be there, by the anchor and what the caller
// knows: everything that was written, unless the computer was started anew since.
func (a Anchor) must(known End) End {
	if a.Boot != "" && a.Boot == boot() && a.Seq > known.Seq {
		return End{a.Seq, a.MAC}
	}
	if a.Synced > known.Seq {
		return End{a.Synced, a.SyncedMAC}
	}
	return known
}

// Kept notes that the records of all entries up to seq are written. It is called
// after they are, and failing is no harm: the anchor lags.
func (l *Log) Kept(seq int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.key == nil || seq == 0 {
		return
	}
	if a, err := l.readAnchor(l.key); err == nil && a.Kept < seq && a.Seq >= seq {
		a.Kept = seq
		_ = l.writeAnchor(l.key, a) // see above
	}
}
