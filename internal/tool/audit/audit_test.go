package audit

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzAppend puts anything where the log should be. Appending always works, the
// new entry is proved unless something above it is wrong, and nothing panics.
func FuzzAppend(f *testing.F) {
	key := make([]byte, keySize)
	good, end, err := chain(key, tail{}, End{}, []Entry{{Event: "call", Tool: "a"}, {Event: "call", Tool: "b"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(nil), int64(0))
	f.Add(good, end.Seq)
	f.Add(good[:len(good)-5], end.Seq)
	f.Add(append(good, "{\"seq\":3"...), end.Seq)
	f.Add([]byte("\n\n{}\n[]\n\x00"), int64(9))
	f.Fuzz(func(t *testing.T, text []byte, known int64) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "audit.jsonl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		l := In(dir, rand.Reader)
		l.key = key
		was := End{Seq: min(max(known, 0), 10)}
		if was.Seq > 0 {
			was.MAC = end.MAC // right for the second entry, wrong for all others
		}
		before, wasBad := l.Verify(t.Context(), was, nil)
		end, err := l.Append(was, 0, []Entry{{Event: "call", Time: time.Unix(0, 0).UTC()}}, true)
		if err != nil {
			t.Fatal(err)
		}
		after, err := l.Verify(t.Context(), end, nil)
		var bad *BadEntry
		switch {
		case err != nil && !errors.As(err, &bad):
			t.Fatal(err)
		case wasBad == nil && err != nil:
			t.Fatalf("a good log became bad: %v", err)
		case wasBad == nil && after.Entries <= before.Entries:
			t.Fatalf("%+v became %+v", before, after)
		case wasBad != nil && err == nil && before.Entries <= int(was.Seq):
			t.Fatalf("%v was forgotten", wasBad)
		}
	})
}
