package vault

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"time"

	"lore/internal/vault/filetime"
)

// A Mode says what can be done with a vault.
type Mode string

// The modes of a vault.
const (
	Online   Mode = "online"
	ReadOnly Mode = "read_only"
	Offline  Mode = "offline" // nothing that is derived from it may be thrown away
	// Settling says that many notes disappeared a moment ago. Like Offline, but
	// it ends by itself when the folder has been quiet for [Quiet].
	Settling Mode = "settling"
)

// Quiet is how long nothing may have changed before many missing notes are
// believed to be removed: a checkout of another branch takes moments.
const Quiet = 5 * time.Second

// A State is what a vault thinks of itself, with the reason when something is
// wrong.
type State struct {
	Mode   Mode
	Reason string
	Since  time.Time
	Known  int // notes that were known before the last walk
	Gone   int // those of them that it did not find
	// NoFolder says that the folder of the vault cannot be opened: which notes
	// are gone cannot be told.
	NoFolder bool
}

// Trouble says what is wrong, for people; "" when nothing is.
func (s State) Trouble() string {
	switch s.Mode {
	case Offline:
		return "the vault is offline: " + s.Reason
	case Settling:
		return s.Reason + "; Lore waits until no more files change"
	}
	return s.Reason
}

// Believed reports whether what the last walk did not find is really gone.
func (s State) Believed() bool { return s.Mode != Offline && s.Mode != Settling }

// wayOut says what to do about missing notes.
func (s State) wayOut() string {
	if s.Mode == Settling {
		return "try again in a few seconds"
	}
	return "restore the folder; if you deleted the notes, run lore index --accept"
}

// When more than this many of the known notes are missing at once, and more than this
// share of them, they are not believed to be deleted.
const (
	ManyGone  = 20 // notes
	shareGone = 10 // one in ten
)

// Judge decides from the keys of the notes that were known before whether a
// listing can be believed, which was made at a moment. It returns Offline or
// Settling with the reason, or Online, and how many of the known notes are gone.
// A note whose name turns up in another folder has moved and is not gone.
//
// Notes that are gone from folders that live on were removed, by a person, a
// sync tool or a checkout, as soon as that is over. Where a folder is empty that
// was full, its disk may be missing, and only a person knows.
func Judge(known []string, now *Listing, moment time.Time) (mode Mode, reason string, gone int) {
	missing := now.missing(known)
	gone = len(notMoved(known, missing, now))
	many := func(n int) bool { return n > ManyGone && n*shareGone > len(known) }
	empty, left, where := now.emptied(missing)
	switch {
	case len(known) == 0:
		return Online, "", 0
	case !now.any:
		return Offline, fmt.Sprintf("the folder is empty; %d notes were in it", len(known)), gone
	case now.Replaced && gone > 0:
		return Offline, fmt.Sprintf("the folder was replaced by another one, which lacks %d of %d notes", gone, len(known)), gone
	case many(gone) && gone == len(known):
		return Offline, fmt.Sprintf("all %d notes are missing", len(known)), gone
	case many(min(empty, gone)):
		return Offline, fmt.Sprintf("%d notes are missing, and folder %q is empty", gone, where), gone
	case many(gone) && !quiet(left, moment):
		return Settling, fmt.Sprintf("%d of %d notes disappeared a moment ago", gone, len(known)), gone
	}
	return Online, "", gone
}

// emptied counts the missing notes whose folders are there and empty, with the
// first of those, and finds when something was last removed from the others.
func (l *Listing) emptied(missing []string) (notes int, left time.Time, where string) {
	folders := make(map[string]*FolderSnapshot, len(l.folders))
	for i := range l.folders {
		folders[Key(l.folders[i].Path)] = &l.folders[i]
	}
	for _, k := range missing {
		dir := path.Dir(k)
		if dir == "." {
			dir = ""
		}
		f := folders[dir]
		if f != nil && f.empty {
			notes++
			where = cmp.Or(where, dir)
			continue
		}
		for f == nil && dir != "" { // what is left of the way to it
			if dir = path.Dir(dir); dir == "." {
				dir = ""
			}
			f = folders[dir]
		}
		if f != nil {
			if t := time.Unix(0, max(f.ModTime, f.ChangeTime)); t.After(left) {
				left = t
			}
		}
	}
	return notes, left, where
}

// quiet reports whether a time lies long enough before the moment. One that is
// far ahead stems from a clock that was wrong.
func quiet(t, moment time.Time) bool {
	d := moment.Sub(t)
	return d >= Quiet || d < -time.Duration(filetime.FarAhead)
}

// notMoved returns the missing notes whose base names do not appear at new places.
func notMoved(known, missing []string, now *Listing) []string {
	if len(missing) == 0 {
		return nil
	}
	old := make(map[string]bool, len(known))
	for _, k := range known {
		old[k] = true
	}
	fresh := map[string]int{}
	for _, e := range now.Entries {
		if !old[e.Path] {
			fresh[path.Base(e.Path)]++
		}
	}
	var out []string
	for _, k := range missing {
		if name := path.Base(k); fresh[name] > 0 {
			fresh[name]--
			continue
		}
		out = append(out, k)
	}
	return out
}

// emptied is the size from which a note that becomes empty is doubted.
const emptied = 1024

// Suspicious reports whether a note that had the size before is now an empty
// file where text was: a sync tool's placeholder, or a save that broke off.
// What is known of such a note should be kept for a while.
func Suspicious(before, now int64) bool { return now == 0 && before > emptied }

// State tells what the last walk left: online, read-only or offline, and why.
func (v *Vault) State() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state
}

// Missing tells the state, and which notes are known and were not found, while
// it is not believed that they are gone. A note that moved is not among them.
func (v *Vault) Missing() (State, []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.state.Believed() || v.last == nil {
		return v.state, nil
	}
	return v.state, notMoved(v.known, v.last.missing(v.known), v.last)
}

// Remember tells a fresh vault which notes were known when it was last open,
// so that the first walk can miss them. What the settings exclude by now is not
// missed: its owner wanted it gone.
func (v *Vault) Remember(keys []string) {
	kept := slices.DeleteFunc(slices.Clone(keys), v.exclude.Covers)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known = kept
}

// Accept is a person's word that the missing notes are really gone: what the
// last walk found is believed. When the folder itself is missing there is
// nothing to believe, and the vault stays offline.
func (v *Vault) Accept() State {
	v.walking.Lock()
	defer v.walking.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.state.Believed() && v.last != nil {
		v.believe(v.last)
	}
	return v.state
}

// judge takes in what a walk found. The caller holds v.walking.
func (v *Vault) judge(l *Listing) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = l
	mode, why, gone := Judge(v.known, l, v.now())
	if mode == Online {
		known := len(v.known)
		v.believe(l)
		v.state.Known, v.state.Gone = known, gone
	} else {
		v.enter(State{Mode: mode, Reason: why, Known: len(v.known), Gone: gone})
	}
	l.State = v.state
}

// believe makes a listing the new truth. The caller holds v.mu.
func (v *Vault) believe(l *Listing) {
	if l.Replaced {
		v.id = l.root
	}
	v.known = v.known[:0:0]
	for e := range l.Notes() {
		v.known = append(v.known, e.Path)
	}
	v.enter(v.healthy())
}

// enter changes the state, keeps the time since when it has been so, and reports
// a state that differs. The caller holds v.mu.
func (v *Vault) enter(s State) {
	s.Since = v.state.Since
	if s.Mode != v.state.Mode || s.Since.IsZero() {
		s.Since = v.now()
	}
	changed := !v.entered || s.Mode != v.state.Mode || s.Reason != v.state.Reason || !s.Believed() && s.Gone != v.state.Gone
	v.state, v.entered = s, true
	if changed && v.changed != nil {
		v.changed(s)
	}
}

// healthy is the state of a vault whose notes are there.
func (v *Vault) healthy() State {
	if writable(v.dir) {
		return State{Mode: Online, Since: v.now()}
	}
	return State{Mode: ReadOnly, Reason: "the folder is not writable", Since: v.now()}
}

// missingRoot is called when a walk does not find the folder.
func (v *Vault) missingRoot(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = nil
	v.enter(State{Mode: Offline, Reason: err.Error(), Known: len(v.known), Gone: len(v.known), NoFolder: true})
}

// SameFolder reports whether the folder at the vault's path is the one that
// the vault was opened on.
func (v *Vault) SameFolder() (same, there bool) {
	info, err := os.Stat(v.dir)
	if err != nil {
		return false, false
	}
	return v.isOpenOn(info), true
}
