package writer

import (
	"os"

	"lore/internal/vault"
	"lore/internal/vault/disk"
	"lore/internal/vault/journal"
)

const (
	own      = vault.OwnFolder
	lockName = "lock"
)

// A task is one piece of work in a vault: the applying of a set, a recovery, a
// sweep.
type task struct {
	restores     bool    // names that were there before are brought back
	stagesBeside bool    // new contents wait beside their places, not in the journal
	carried      []found // files that move because their folder gets another name

	*journal.Op
	w *Writer
}

func (w *Writer) newTask(root *os.Root) *task {
	return &task{w: w, Op: &journal.Op{
		Tree: disk.NewTree(w.sys, root, w.can), Staged: map[int]journal.Staging{}, Now: w.now, Log: w.log,
	}}
}
