package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lore/internal/machine/db"
)

// replace makes a new database of what can still be read of the damaged one and
// of what the guard knows, and sets the damaged one aside. No other process has
// it open.
func (f *File) replace(ctx context.Context, now string, cause error) error {
	path := filepath.Join(f.dir, newName)
	if err := db.Remove(path); err != nil {
		return err
	}
	d, err := connect(ctx, path)
	if err != nil {
		return err
	}
	lost, err := salvage(ctx, f.Path(), d)
	var found []string
	if err == nil && f.guard != nil {
		found, err = f.guard.Reconcile(ctx, d, true)
	}
	if err = errors.Join(err, d.Close()); err != nil {
		return errors.Join(err, db.Remove(path))
	}
	aside := filepath.Join(f.dir, asidePrefix+now)
	if err := setAside(f.Path(), aside); err != nil {
		return err
	}
	if err := os.Rename(path, f.Path()); err != nil {
		return err
	}
	text := fmt.Sprintf("%s was damaged (%v) and is kept as %s", f.Path(), cause, filepath.Base(aside))
	if len(lost) == 0 {
		text += "; all rows could still be read"
	} else {
		text += "; partly or completely lost: " + strings.Join(lost, ", ")
	}
	f.tell(text)
	for _, t := range found {
		f.tell(t)
	}
	return nil
}

// newName is the database that is being made out of a damaged one. It takes the
// place of one that is missing: then it is complete.
const newName = "state.new"

// setAside renames a database with its log; what readers share is made anew.
func setAside(path, aside string) error {
	for _, suffix := range []string{"-wal", ""} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("set the damaged database aside: %w", err)
		}
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// contents are the tables, in words for people.
var contents = map[string]string{
	"question": "approvals", "rule": "rules", "token": "tokens", "login": "sign-in links", "session": "signed-in browsers", "pin": "the approval PIN", "chat": "conversations", "message": "conversations",
	"run": "conversations", "run_call": "conversations", "operation": "history", "edit": "history", "toggle": "history", "image": "history", "call": "activity",
}

// salvage copies every row that can be read, and names what cannot. The damaged
// file stays as it is.
func salvage(ctx context.Context, path string, to *db.DB) (lost []string, err error) {
	from, err := db.Open(path, db.Options{Readers: 1, CacheKB: cacheKB, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	tables, err := tablesOf(ctx, to.Read)
	if err != nil {
		return nil, err
	}
	err = to.Tx(ctx, func(tx *sql.Tx) error {
		for _, t := range tables {
			whole, err := t.copy(ctx, from.Read, tx)
			if err != nil {
				return err
			}
			if what := contents[t.name]; !whole && what != "" && !slices.Contains(lost, what) {
				lost = append(lost, what)
			}
		}
		return nil
	})
	slices.Sort(lost)
	return lost, err
}

// A source is a table with what is needed to read it from both ends.
type source struct {
	name    string
	columns []string
	order   string // backwards
}

func tablesOf(ctx context.Context, d *sql.DB) ([]source, error) {
	rows, err := d.QueryContext(ctx, `SELECT t.name, t.wr, group_concat(c.name, ','), coalesce(group_concat(CASE WHEN c.pk > 0 THEN c.name || ' DESC' END, ','), '')
	  FROM pragma_table_list AS t, pragma_table_info(t.name) AS c WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%' GROUP BY t.name ORDER BY t.name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []source
	for rows.Next() {
		var t source
		var withoutRowID bool
		var columns string
		if err := rows.Scan(&t.name, &withoutRowID, &columns, &t.order); err != nil {
			return nil, err
		}
		if !withoutRowID {
			t.order = "rowid DESC"
		}
		t.columns = strings.Split(columns, ",")
		out = append(out, t)
	}
	return out, rows.Err()
}

func columnsOf(ctx context.Context, d *sql.DB, table string) (list []string, err error) {
	var all sql.NullString
	err = d.QueryRowContext(ctx, `SELECT group_concat(name, ',') FROM pragma_table_info(?)`, table).Scan(&all)
	if all.String == "" {
		return nil, err
	}
	return strings.Split(all.String, ","), err
}

// copy reads the table forwards until it ends or breaks, and then backwards. Its
// error is about the new database; whole reports whether the old one was read to
// its end.
func (t *source) copy(ctx context.Context, from *sql.DB, tx *sql.Tx) (whole bool, err error) {
	if have, err := columnsOf(ctx, from, t.name); err == nil && len(have) > 0 { // an older version had fewer
		t.columns = slices.DeleteFunc(t.columns, func(c string) bool { return !slices.Contains(have, c) })
	}
	list := strings.Join(t.columns, ", ")
	insert := `INSERT OR IGNORE INTO ` + t.name + ` (` + list + `) VALUES (?` + strings.Repeat(", ?", len(t.columns)-1) + `)`
	for _, order := range []string{"", " ORDER BY " + t.order} {
		rows, err := from.QueryContext(ctx, `SELECT `+list+` FROM `+t.name+` NOT INDEXED`+order)
		if err != nil {
			if ctx.Err() != nil {
				return false, err
			}
			continue
		}
		whole, err = t.copyRows(ctx, rows, tx, insert)
		if err != nil || whole && order == "" {
			return whole, err
		}
	}
	return false, nil
}

func (t *source) copyRows(ctx context.Context, rows *sql.Rows, tx *sql.Tx, insert string) (whole bool, err error) {
	defer rows.Close()
	fits := true
	values, into := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if rows.Scan(into...) != nil {
			return false, ctx.Err()
		}
		if _, err := tx.ExecContext(ctx, insert, values...); err != nil {
			if db.IsFull(err) || ctx.Err() != nil {
				return false, err
			}
			fits = false // a damaged row does not belong to its table
		}
	}
	return fits && rows.Err() == nil, ctx.Err()
}
