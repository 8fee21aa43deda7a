package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/audit"
	"lore/internal/tool/history"
	"lore/internal/tool/policy"
	"lore/internal/vault"
	"lore/internal/vault/journal"
)

// changes looks at what is needed to change the vault: the file system, what
// waits, the trash, and the record. It writes nothing into a vault that was
// never written.
func (p *Patient) changes(ctx context.Context, works bool) ([]Finding, error) {
	out, err := p.writing(ctx, works)
	if err != nil {
		return nil, err
	}
	out = append(out, p.records(ctx)...)
	waiting, err := p.Asked.List(ctx, tool.Pending)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		out = append(out, failure("approve", "approvals cannot be read", err))
	}
	if n := len(waiting); n > 0 {
		out = append(out, Finding{Level: "note", Topic: "approve", Text: fmt.Sprintf("pending approvals: %d", n), Fix: "lore approvals"})
	}
	out = append(out, p.sharing(ctx)...)
	if p.Apps != nil {
		out = append(out, p.Apps()...)
	}
	v, err := p.History.Verify(ctx)
	var bad *fault.Report
	var entry *audit.BadEntry
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, history.ErrLost):
		return append(out, Finding{Level: "error", Topic: "audit", Text: err.Error(), Fix: "if you know why state.db was lost or replaced, run lore audit accept; the audit log still lists all changes"}), nil
	case fault.Of(err) == fault.Conflict && !errors.As(err, &entry):
		return append(out, Finding{Level: "error", Topic: "audit", Text: err.Error(), Fix: "state.db was changed, replaced or deleted; the audit log still lists all changes"}), nil
	case fault.Of(err) == fault.Conflict:
		return append(out, Finding{Level: "error", Topic: "audit", Text: err.Error(), Fix: "the log was changed; entries after that one cannot be trusted"}), nil
	case errors.As(err, &bad):
		return append(out, Finding{Level: "error", Topic: "audit", Text: "the log cannot be read: " + bad.Message, Fix: bad.Fix}), nil
	default:
		return append(out, Finding{Level: "error", Topic: "audit", Text: "the log cannot be read: " + err.Error(), Fix: "try again"}), nil
	}
	if !v.Restarted.IsZero() {
		out = append(out, Finding{Level: "warning", Topic: "audit", Text: fmt.Sprintf("the log was restarted on %s, because its key was damaged or missing", v.Restarted.Format("2006-01-02 15:04"))})
	}
	if !v.Accepted.IsZero() {
		out = append(out, Finding{Level: "note", Topic: "audit", Text: fmt.Sprintf("a loss of records was accepted on %s", v.Accepted.Local().Format("2006-01-02 15:04"))})
	}
	return append(out, Finding{Level: "ok", Topic: "audit", Text: fmt.Sprintf("%d log entries verified", v.Entries)}), nil
}

// sharing tells which recipients may read what.
func (p *Patient) sharing(ctx context.Context) []Finding {
	rules, err := p.Asked.Rules(ctx)
	if err != nil {
		return nil // told with the approvals
	}
	with := map[string][]string{}
	for _, r := range rules {
		if r.To != "" && r.Run == "" && r.Verdict == policy.Allow {
			with[r.To] = append(with[r.To], r.Paths)
		}
	}
	var out []Finding
	for _, to := range slices.Sorted(maps.Keys(with)) {
		out = append(out, Finding{Level: "note", Topic: "share", Text: fmt.Sprintf("%s may read %s", to, strings.Join(with[to], ", ")), Fix: "lore share revoke " + to})
	}
	return out
}

// writingLevel tells a vault that somebody else has from one that something is
// wrong with.
func writingLevel(err error) string {
	if fault.Of(err) == fault.Busy {
		return "note"
	}
	return "warning"
}

// records looks at what Lore itself stores: whether state.db is sound and agrees
// with the audit log, and what was found damaged earlier.
func (p *Patient) records(ctx context.Context) []Finding {
	var out []Finding
	if err := p.History.CheckState(ctx); err != nil {
		out = append(out, failure("state", "state.db was changed outside Lore or is damaged", err))
	} else {
		out = append(out, Finding{Level: "ok", Topic: "state", Text: "the history of changes, approvals and chats is intact"})
	}
	if p.Damage == nil {
		return out
	}
	for _, text := range p.Damage() {
		out = append(out, Finding{Level: "warning", Topic: "data", Text: text})
	}
	return out
}

// failure is the finding that something failed.
func failure(topic, what string, err error) Finding {
	f := Finding{Level: "error", Topic: topic, Text: what + ": " + err.Error(), Fix: "try again"}
	var r *fault.Report
	if errors.As(err, &r) {
		f.Text, f.Fix = what+": "+r.Message, r.Fix
	}
	return f
}

func (p *Patient) writing(ctx context.Context, works bool) ([]Finding, error) {
	if works {
		return []Finding{{Level: "note", Topic: "process", Text: "another Lore process has this vault open; commands work through it"}}, nil
	}
	if err := p.Writable(ctx); err != nil {
		return []Finding{{Level: writingLevel(err), Topic: "writing", Text: err.Error()}}, nil
	}
	if _, err := os.Stat(filepath.Join(p.Vault.Dir(), vault.OwnFolder)); errors.Is(err, fs.ErrNotExist) {
		return []Finding{{Level: "ok", Topic: "writing", Text: "Lore has never changed anything in this vault"}}, nil
	}
	can, err := p.Writer.Capabilities(ctx)
	if err != nil {
		return []Finding{{Level: "warning", Topic: "writing", Text: err.Error()}}, nil
	}
	out := []Finding{{Level: "ok", Topic: "writing", Text: "the file system supports safe saving"}}
	if missing := can.Missing(); len(missing) > 0 {
		out = out[:0]
		for _, m := range missing {
			out = append(out, Finding{Level: "warning", Topic: "writing", Text: "this vault's disk " + m, Fix: "keep the vault on a local disk if another program edits it at the same time"})
		}
	}
	recovered, err := os.ReadDir(filepath.Join(p.Vault.Dir(), filepath.FromSlash(journal.RecoveredFolder)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if n := len(recovered); n > 0 {
		out = append(out, Finding{
			Level: "warning", Topic: "recovered", Text: fmt.Sprintf("files recovered from interrupted changes, in %s: %d", filepath.FromSlash(journal.RecoveredFolder), n),
			Fix: "compare them with your notes, then delete them",
		})
	}
	trash, err := p.Writer.Trash(ctx)
	if err != nil {
		return nil, err
	}
	if len(trash) > 0 {
		out = append(out, Finding{Level: "note", Topic: "trash", Text: fmt.Sprintf("deleted files, kept for 30 days in %s: %d", filepath.Join(vault.OwnFolder, "trash"), len(trash))})
	}
	return out, nil
}
