package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lore/internal/index"
)

// The manifest keeps the list of files beside the database in a form that is
// read in one go: every start compares it with the vault, and reading a hundred
// thousand rows of a table for that costs as much as visiting the files. It
// belongs to one generation of the index and is made again when that has
// passed.

// manifestFrom is the number of files from which it is worth its own.
const manifestFrom = 500

const filesSQL = `SELECT path, size, mtime, ctime, inode, hash, seen FROM notes ORDER BY path`

// Files hands over the stat of every row.
func (s *Store) Files(ctx context.Context, yield func(index.File) error) (err error) {
	defer s.notice(&err)
	c, err := readCounts(ctx, s.db.Read)
	if err != nil {
		return fmt.Errorf("list indexed files: %w", err)
	}
	files, ok := s.readManifest(c.Generation)
	if !ok {
		if files, err = s.readFiles(ctx); err != nil {
			return fmt.Errorf("list indexed files: %w", err)
		}
		// Without it the next start is slower, and that is all.
		_ = s.writeManifest(c.Generation, files)
	}
	for _, f := range files {
		if err := yield(f); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) readFiles(ctx context.Context) ([]index.File, error) {
	rows, err := s.db.Read.QueryContext(ctx, filesSQL)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []index.File
	var hash sql.RawBytes
	for rows.Next() {
		var f index.File
		var inode int64
		if err := rows.Scan(&f.Path, &f.Size, &f.ModTime, &f.ChangeTime, &inode, &hash, &f.Seen); err != nil {
			return nil, err
		}
		f.Inode = uint64(inode)
		copy(f.Hash[:], hash)
		out = append(out, f)
	}
	return out, rows.Err()
}

func (s *Store) manifestPath() string { return filepath.Join(s.dir, "manifest.bin") }

func (s *Store) readManifest(generation int64) ([]index.File, bool) {
	b, err := os.ReadFile(s.manifestPath())
	if err != nil {
		return nil, false
	}
	return index.DecodeFiles(b, generation)
}

func (s *Store) writeManifest(generation int64, files []index.File) error {
	if len(files) < manifestFrom {
		return nil
	}
	temp, err := os.CreateTemp(s.dir, "manifest-*.tmp")
	if err != nil {
		return err
	}
	_, err = temp.Write(index.EncodeFiles(generation, files))
	if err := errors.Join(err, temp.Close()); err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return os.Rename(temp.Name(), s.manifestPath())
}
