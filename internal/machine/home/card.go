package home

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	tableName = "vaults.json"
	cardName  = "vault.json" // in each data folder
	sumKey    = "sum"        // of the table; older versions leave it out
)

// How far a table of vaults is believed.
type tableState int

const (
	tableWhole   tableState = iota
	tableOld                // written by an older version, which knew no cards
	tableMissing            // there is none
	tableDamaged            // it is not what any version wrote
)

type table struct {
	vaults map[string]known
	state  tableState
	text   []byte
}

// readTable reads the list of vaults. Every byte of it counts: a table that is
// not exactly what the program writes was damaged.
func readTable(data string) (table, error) {
	t := table{vaults: map[string]known{}, state: tableMissing}
	var err error
	t.text, err = os.ReadFile(filepath.Join(data, tableName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err != nil:
		return t, fmt.Errorf("read the list of vaults: %w", err)
	}
	all := map[string]known{}
	bad := json.Unmarshal(t.text, &all) != nil
	delete(all, sumKey)
	maps.DeleteFunc(all, func(id string, _ known) bool { return !isID(id) })
	switch {
	case bad:
		t.state = tableDamaged
	case bytes.Equal(t.text, render(all, true)):
		t.state = tableWhole
	case bytes.Equal(t.text, render(all, false)):
		t.state = tableOld
	default:
		t.state = tableDamaged
	}
	if t.state != tableDamaged {
		t.vaults = all
	}
	return t, nil
}

// isID reports whether a name is that of a data folder.
func isID(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == 8 && hex.EncodeToString(b) == name
}

// render is the table as it is written. An older version reads one with a sum,
// and leaves the sum out when it writes.
func render(vaults map[string]known, sum bool) []byte {
	all := maps.Clone(vaults)
	if sum {
		h := sha256.New()
		for _, id := range slices.Sorted(maps.Keys(vaults)) {
			_, _ = fmt.Fprintf(h, "%s %q %q\n", id, vaults[id].Path, vaults[id].File) // a hash never fails
		}
		all[sumKey] = known{Path: hex.EncodeToString(h.Sum(nil))}
	}
	out, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err) // strings can be written
	}
	return append(out, '\n')
}

// A card says in a data folder which vault the folder belongs to.
type card struct {
	known
	Sum string `json:"sum"`
}

func cardText(k known) []byte {
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q", k.Path, k.File))
	out, err := json.MarshalIndent(card{k, hex.EncodeToString(h[:])}, "", "  ")
	if err != nil {
		panic(err) // strings can be written
	}
	return append(out, '\n')
}

// readCard returns what the folder says; ok is false when it says nothing that
// can be believed, and there reports whether it says anything.
func readCard(data, id string) (k known, ok, there bool) {
	text, err := os.ReadFile(filepath.Join(data, id, cardName))
	if err != nil {
		return known{}, false, !errors.Is(err, fs.ErrNotExist)
	}
	var c card
	if json.Unmarshal(text, &c) != nil || !bytes.Equal(text, cardText(c.known)) {
		return known{}, false, true
	}
	return c.known, true, true
}

func cardSays(data, id string, want known) bool {
	k, ok, _ := readCard(data, id)
	return ok && k == want
}

// writeCard makes the data folder, and its card when it says something else.
func writeCard(data, id string, k known) error {
	if cardSays(data, id, k) {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(data, id), 0o700); err != nil {
		return err
	}
	return Replace(filepath.Join(data, id, cardName), cardText(k))
}

// errNotKept says that a damaged table could not be copied, so that it is not
// replaced.
var errNotKept = errors.New("the damaged list of vaults cannot be copied, so it is not replaced")

// load finds out which data folder belongs to which vault, and what is damaged.
// With [errNotKept] the vaults are right and the table must not be written.
func load(data string) (vaults map[string]known, damage []string, err error) {
	t, err := readTable(data)
	if err != nil {
		return nil, nil, err
	}
	var notKept error
	told := func(format string, args ...any) { damage = append(damage, fmt.Sprintf(format, args...)) }
	if t.state == tableDamaged {
		t.vaults = salvage(t.text)
		name, err := keepAside(data, t.text)
		if err != nil {
			notKept = fmt.Errorf("%w: %w", errNotKept, err)
		}
		told("%s was damaged and is rebuilt from the data folders; the damaged file is kept as %s", filepath.Join(data, tableName), name)
	}
	vaults = maps.Clone(t.vaults)
	list, err := os.ReadDir(data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the data folder: %w", err)
	}
	for _, entry := range list {
		id := entry.Name()
		if !isID(id) || !entry.IsDir() {
			continue
		}
		k, ok, there := readCard(data, id)
		was, listed := t.vaults[id]
		switch {
		case ok && t.state != tableOld:
			if listed && was != k && t.state == tableWhole {
				told("%s and %s disagree; Lore uses the second", filepath.Join(data, tableName), filepath.Join(data, id, cardName))
			}
			vaults[id] = k
		case ok && !listed:
			vaults[id] = k
		case there && !ok && listed:
			told("%s was damaged and is rewritten", filepath.Join(data, id, cardName))
		case !ok && !listed && holdsData(filepath.Join(data, id)):
			told("%s contains data from an unknown vault", filepath.Join(data, id))
		}
	}
	if t.state == tableMissing && len(vaults) > 0 {
		told("%s was missing and is rebuilt from the data folders", filepath.Join(data, tableName))
	}
	return vaults, append(damage, dropTwins(data, vaults)...), notKept
}

// dropTwins keeps one data folder for each vault: one that exists before one
// that does not, and of several that exist the one that was used last.
func dropTwins(data string, vaults map[string]known) (damage []string) {
	byPath := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(vaults)) {
		path := vaults[id].Path
		other, twice := byPath[path]
		if path == "" || !twice {
			byPath[path] = id
			continue
		}
		winner, loser := id, other
		if lastUsed(filepath.Join(data, id)).Before(lastUsed(filepath.Join(data, other))) {
			winner, loser = other, id
		}
		byPath[path] = winner
		delete(vaults, loser)
		if _, err := os.Stat(filepath.Join(data, loser)); err == nil {
			damage = append(damage, fmt.Sprintf("two data folders belong to %s: %s was used last and is used; %s is not used",
				path, filepath.Join(data, winner), filepath.Join(data, loser)))
		}
	}
	return damage
}

// lastUsed is when something was last recorded in a data folder.
func lastUsed(dir string) (last time.Time) {
	for _, name := range []string{"state.db", "state.db-wal", "audit.jsonl", "index.db", "index.db-wal", cardName} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// holdsData reports whether a folder has something that cannot be made again.
func holdsData(dir string) bool {
	for _, name := range []string{"state.db", "audit.jsonl"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// keepAside stores the text of a damaged table beside it, once, and returns the
// name of the copy.
func keepAside(data string, text []byte) (string, error) {
	old, _ := filepath.Glob(filepath.Join(data, asidePattern)) // the pattern is valid
	for _, path := range old {
		if b, err := os.ReadFile(path); err == nil && bytes.Equal(b, text) {
			return filepath.Base(path), nil
		}
	}
	name := "vaults.corrupt-" + time.Now().UTC().Format("20060102T150405.000000000")
	return name, Replace(filepath.Join(data, name), text)
}

const asidePattern = "vaults.corrupt-*"

var entryText = regexp.MustCompile(`"([0-9a-f]{16})"\s*:\s*\{\s*"path"\s*:\s*("(?:[^"\\]|\\.)*")(?:\s*,\s*"file"\s*:\s*"([0-9:]*)")?\s*\}`)

// salvage reads the entries of a damaged table that can still be read. They are
// used only for folders that do not say themselves whose they are.
func salvage(text []byte) map[string]known {
	vaults := map[string]known{}
	for _, m := range entryText.FindAllSubmatch(text, -1) {
		var path string
		if json.Unmarshal(m[2], &path) == nil {
			vaults[string(m[1])] = known{Path: path, File: string(m[3])}
		}
	}
	return vaults
}

// Damage tells what doctor should know of the data folder: damaged tables that
// were kept, and folders that claim the same vault.
func (h Home) Damage() []string {
	data, err := h.Data()
	if err != nil {
		return nil
	}
	var out []string
	old, _ := filepath.Glob(filepath.Join(data, asidePattern)) // the pattern is valid
	if len(old) > 0 {
		names := make([]string, len(old))
		for i, path := range old {
			names[i] = filepath.Base(path)
		}
		out = append(out, fmt.Sprintf("vaults.json was damaged and was rebuilt; %s in %s can be deleted", strings.Join(names, ", "), data))
	}
	_, found, err := load(data)
	if err != nil && !errors.Is(err, errNotKept) {
		return append(out, err.Error())
	}
	return append(out, found...)
}
