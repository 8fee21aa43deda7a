package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lore/internal/surface/cli"
	"lore/internal/tool"
	"lore/internal/vault"
)

// doctorHands looks at what is needed to change the vault: the file system, what
// waits, the trash, and the record. It writes nothing into a vault that was
// never written.
func (s *session) doctorHands(ctx context.Context) ([]cli.Finding, error) {
	out, err := s.doctorWriting(ctx)
	if err != nil {
		return nil, err
	}
	waiting, err := s.asked.List(ctx, tool.Pending)
	if err != nil {
		return nil, err
	}
	if n := len(waiting); n > 0 {
		out = append(out, cli.Finding{Level: "note", Topic: "approve", Text: fmt.Sprintf("%d questions wait for an answer", n), Fix: "lore approvals"})
	}
	v, err := s.history.Verify(ctx)
	if err != nil {
		return append(out, cli.Finding{Level: "error", Topic: "audit", Text: err.Error(), Fix: "someone or something changed the log; what it says after that entry cannot be trusted"}), nil
	}
	return append(out, cli.Finding{Level: "ok", Topic: "audit", Text: fmt.Sprintf("%d entries in the log, all of them sound", v.Entries)}), nil
}

func (s *session) doctorWriting(ctx context.Context) ([]cli.Finding, error) {
	if err := s.writable(ctx); err != nil {
		return []cli.Finding{{Level: "note", Topic: "writing", Text: err.Error()}}, nil
	}
	if _, err := os.Stat(filepath.Join(s.vault.Dir(), vault.OwnFolder)); errors.Is(err, fs.ErrNotExist) {
		return []cli.Finding{{Level: "ok", Topic: "writing", Text: "Lore has never changed anything in this vault"}}, nil
	}
	can, err := s.writer.Capabilities(ctx)
	if err != nil {
		return []cli.Finding{{Level: "warning", Topic: "writing", Text: err.Error()}}, nil
	}
	var missing []string
	for _, c := range []struct {
		ok   bool
		what string
	}{
		{can.Exchange, "exchanging two files"}, {can.NoReplace, "moves that never overwrite"}, {can.Lock, "locks"},
	} {
		if !c.ok {
			missing = append(missing, c.what)
		}
	}
	f := cli.Finding{Level: "ok", Topic: "writing", Text: "the file system can do all that safe saving needs"}
	if len(missing) > 0 {
		f = cli.Finding{
			Level: "warning", Topic: "writing", Text: "the file system lacks " + strings.Join(missing, ", ") + "; saves are checked before and not after",
			Fix: "keep the vault on a local disk if another program edits it at the same time",
		}
	}
	out := []cli.Finding{f}
	trash, err := s.writer.Trash(ctx)
	if err != nil {
		return nil, err
	}
	if len(trash) > 0 {
		out = append(out, cli.Finding{Level: "note", Topic: "trash", Text: fmt.Sprintf("%d deleted files, kept for 30 days in %s", len(trash), filepath.Join(vault.OwnFolder, "trash"))})
	}
	return out, nil
}
