package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"lore/internal/index"
)

// The manifest is the list of files in a form that is read in one go: every
// start compares it with the vault, and reading a hundred thousand rows of a
// table for that costs as much as visiting the files. It belongs to one
// generation of the index and is made again when that has passed.
const manifestMagic = "LOREMAN1"

// manifestFrom is the number of files from which it is worth its own.
const manifestFrom = 500

const filesSQL = `SELECT path, size, mtime, inode, hash, seen FROM notes ORDER BY path`

// Files hands over the stat of every row.
func (s *Store) Files(ctx context.Context, yield func(index.File) error) error {
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
		if err := rows.Scan(&f.Path, &f.Size, &f.ModTime, &inode, &hash, &f.Seen); err != nil {
			return nil, err
		}
		f.Inode = uint64(inode)
		copy(f.Hash[:], hash)
		out = append(out, f)
	}
	return out, rows.Err()
}

func (s *Store) manifestPath() string { return filepath.Join(s.dir, "manifest.bin") }

// writeManifest writes the list: a head, one record for each file with its path
// as what it does not share with the one before, and a checksum.
func (s *Store) writeManifest(generation int64, files []index.File) error {
	if len(files) < manifestFrom {
		return nil
	}
	b := make([]byte, 0, 64*len(files))
	b = append(b, manifestMagic...)
	b = binary.AppendVarint(b, generation)
	b = binary.AppendUvarint(b, uint64(len(files)))
	last := ""
	for i := range files {
		f := &files[i]
		n := shared(last, f.Path)
		b = binary.AppendUvarint(b, uint64(n))
		b = binary.AppendUvarint(b, uint64(len(f.Path)-n))
		b = append(b, f.Path[n:]...)
		b = binary.AppendVarint(b, f.Size)
		b = binary.LittleEndian.AppendUint64(b, uint64(f.ModTime))
		b = binary.AppendUvarint(b, f.Inode)
		b = binary.LittleEndian.AppendUint64(b, uint64(f.Seen))
		b = append(b, f.Hash[:]...)
		last = f.Path
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	temp, err := os.CreateTemp(s.dir, "manifest-*.tmp")
	if err != nil {
		return err
	}
	_, err = temp.Write(b)
	if err := errors.Join(err, temp.Close()); err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return os.Rename(temp.Name(), s.manifestPath())
}

func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// readManifest reads the list of a generation, or reports that there is none
// that can be trusted.
func (s *Store) readManifest(generation int64) ([]index.File, bool) {
	b, err := os.ReadFile(s.manifestPath())
	if err != nil || len(b) < len(manifestMagic)+4 {
		return nil, false
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if !bytes.HasPrefix(body, []byte(manifestMagic)) || crc32.Checksum(body, castagnoli) != sum {
		return nil, false
	}
	r := reader{b: body[len(manifestMagic):]}
	if r.varint() != generation {
		return nil, false
	}
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		return nil, false
	}
	files := make([]index.File, n)
	last := ""
	for i := range files {
		f := &files[i]
		keep, more := r.uvarint(), r.uvarint()
		if r.bad || keep > uint64(len(last)) {
			return nil, false
		}
		f.Path = last[:keep] + string(r.take(more))
		f.Size = r.varint()
		f.ModTime = int64(r.fixed())
		f.Inode = r.uvarint()
		f.Seen = int64(r.fixed())
		copy(f.Hash[:], r.take(uint64(len(f.Hash))))
		last = f.Path
	}
	return files, !r.bad && len(r.b) == 0
}

// A reader takes values from the front of b; bad is set when b ends too soon.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) fixed() uint64 {
	b := r.take(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}
