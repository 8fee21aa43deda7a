package history_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/history"
)

// TestALossIsAccepted: state.db was lost and recovered from the log. A person can
// say so, once; what is lost later is told again.
func TestALossIsAccepted(t *testing.T) {
	dir, _ := logged(t, 20)
	for _, name := range []string{"state.db", "state.db-wal", "state.db-shm", "state.seal"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	p := openIn(t, dir, history.Options{})
	if _, err := p.Verify(t.Context()); !errors.Is(err, history.ErrLost) {
		t.Fatalf("a lost database: %v", err)
	}
	if _, err := p.AcceptLoss(t.Context(), access.Principal{Kind: access.REST, ID: "token-1", Scopes: access.Scopes()}); err == nil {
		t.Fatal("a program accepted a loss")
	}
	n, err := p.AcceptLoss(t.Context(), access.Terminal())
	if err != nil || n != 20 {
		t.Fatalf("%d records, %v", n, err)
	}
	v, err := p.Verify(t.Context())
	if err != nil || v.Accepted.IsZero() {
		t.Fatalf("after accepting: %+v, %v", v, err)
	}
	if _, err := p.AcceptLoss(t.Context(), access.Terminal()); err == nil {
		t.Error("a record without a loss was accepted")
	}
	must(t, p.Record(t.Context(), call("call-later", tool.CallDenied)))
	if _, err := p.Verify(t.Context()); err != nil {
		t.Errorf("going on: %v", err)
	}
	for name, change := range map[string]string{
		"a later record":              `DELETE FROM call WHERE id = 'call-later'`,
		"what was left of a call":     `UPDATE call SET tool = 'other' WHERE id = 'call-1'`,
		"what was left, again":        `DELETE FROM call WHERE id = 'call-1'`,
		"what was left of operations": `UPDATE operation SET tool = 'other' WHERE id = 'op-1'`,
	} {
		run := func(list ...string) {
			d, err := p.file.DB(t.Context())
			must(t, err)
			for _, statement := range list {
				_, err := d.Write.ExecContext(t.Context(), statement)
				must(t, err)
			}
		}
		run(`CREATE TABLE calls AS SELECT * FROM call`, `CREATE TABLE operations AS SELECT * FROM operation`, change)
		if _, err := p.Verify(t.Context()); err == nil {
			t.Errorf("%s: it is not noticed", name)
		}
		run(`DELETE FROM call`, `INSERT INTO call SELECT * FROM calls`, `DELETE FROM operation`, `INSERT INTO operation SELECT * FROM operations`, `DROP TABLE calls`, `DROP TABLE operations`)
	}
	must(t, p.Close())
	must(t, p.file.Close())
}
