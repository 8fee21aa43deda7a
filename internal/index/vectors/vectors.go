// Package vectors keeps the vectors of passages in flat files, one for each
// model, and in memory. It knows hashes and numbers, no passage and no SQL.
package vectors

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"lore/internal/embed/vector"
	"lore/internal/index"
)

// Vectors are kept in one flat file for each model: a header, then records of
// one length, only ever appended. A search reads the file whole, which is ten
// times faster than rows of a table, and a record that a crash tore fails its
// checksum and is embedded again.
const (
	magic      = "LOREVEC1"
	headerSize = 256 // magic, dimension, length of the model's id, the id
	recordHead = 20  // hash, checksum
	maxModelID = headerSize - 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Files are the vectors of one store, by model, each read on first use.
type Files struct {
	dir string
	mu  sync.Mutex
	of  map[string]*File
}

// New is for the files in a folder. Nothing is read yet.
func New(dir string) *Files {
	return &Files{dir: dir, of: map[string]*File{}}
}

// A File is one model's vectors in memory. Row i of the matrix has
// hashes[i].
type File struct {
	path   string
	model  string
	mu     sync.RWMutex
	dim    int
	matrix *vector.Matrix
	hashes []index.Hash
	rows   map[index.Hash]int32 // made when someone needs to look up by hash
}

// Get returns the vectors of a model, reading them the first time. It returns
// an empty file for a model that has none.
func (v *Files) Get(model string) (*File, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f := v.of[model]; f != nil {
		return f, nil
	}
	if len(model) > maxModelID {
		return nil, fmt.Errorf("the id of the model is longer than %d bytes: %q", maxModelID, model)
	}
	sum := sha256.Sum256([]byte(model))
	f := &File{path: filepath.Join(v.dir, fmt.Sprintf("vectors-%x.bin", sum[:8])), model: model}
	if err := f.load(); err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	v.of[model] = f
	return f, nil
}

// Add keeps vectors of a model.
func (v *Files) Add(model string, vs []index.Vector) error {
	f, err := v.Get(model)
	if err != nil {
		return err
	}
	return f.add(vs)
}

// Loaded lists the files that were read, by model.
func (v *Files) Loaded() []*File {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []*File
	for _, model := range slices.Sorted(maps.Keys(v.of)) {
		out = append(out, v.of[model])
	}
	return out
}

// Close forgets what was read.
func (v *Files) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	clear(v.of)
	return nil
}

// Model is whose vectors these are.
func (f *File) Model() string { return f.model }

// Len is how many there are.
func (f *File) Len() int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.hashes)
}

// A View is the vectors at one moment. Row i of the matrix has Hashes[i]; there
// is no matrix when there are no vectors.
type View struct {
	Dim    int
	Matrix *vector.Matrix
	Hashes []index.Hash
}

// Read lets read look at the vectors, which do not change meanwhile.
func (f *File) Read(read func(View) error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return read(View{f.dim, f.matrix, f.hashes})
}

// Middle is the direction between the vectors of these hashes, of length 1, or
// nil when none of them has one.
func (f *File) Middle(hashes []index.Hash) []float32 {
	f.mu.Lock()
	f.lookup()
	f.mu.Unlock()
	f.mu.RLock()
	defer f.mu.RUnlock()
	var sum []float32
	for _, h := range hashes {
		row, ok := f.rows[h]
		if !ok {
			continue
		}
		if sum == nil {
			sum = make([]float32, f.dim)
		}
		q := f.matrix.Row(int(row))
		scale := unit(float64(vector.Dot(q, q)))
		for i, x := range q {
			sum[i] += float32(x) * scale
		}
	}
	total := 0.0
	for _, x := range sum {
		total += float64(x) * float64(x)
	}
	scale := unit(total)
	for i := range sum {
		sum[i] *= scale
	}
	return sum
}

// unit is what a vector of that squared length is multiplied with to have
// length 1.
func unit(squared float64) float32 {
	if squared == 0 {
		return 0
	}
	return float32(1 / math.Sqrt(squared))
}

// load reads the file. What cannot be read is left out: it is embedded again. A
// file without one good record goes, because its header, which nothing else
// proves, may be what is wrong.
func (f *File) load() error {
	file, err := os.Open(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = errors.Join(f.readFrom(file), file.Close())
	if err == nil && len(f.hashes) == 0 {
		f.dim, f.matrix = 0, nil
		err = os.Remove(f.path)
	}
	return err
}

func (f *File) readFrom(file *os.File) error {
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(file, head); err != nil || !f.acceptHeader(head) {
		return nil // torn at birth, or of another form
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	f.matrix = vector.NewMatrix(f.dim)
	n := int((info.Size() - headerSize) / int64(recordHead+f.dim))
	f.matrix.Grow(n)
	f.hashes = make([]index.Hash, 0, n)
	r := bufio.NewReaderSize(file, 1<<20)
	rec := make([]byte, recordHead+f.dim)
	for {
		if _, err := io.ReadFull(r, rec); err != nil {
			return nil // the end, or a torn last record
		}
		if binary.LittleEndian.Uint32(rec[16:]) != checksum(rec) {
			continue
		}
		// A byte and an int8 are the same in memory, and there are millions.
		f.matrix.AppendQuantised(unsafe.Slice((*int8)(unsafe.Pointer(&rec[recordHead])), f.dim))
		f.hashes = append(f.hashes, index.Hash(rec[:16]))
	}
}

func (f *File) acceptHeader(head []byte) bool {
	dim := binary.LittleEndian.Uint32(head[8:])
	n := binary.LittleEndian.Uint32(head[12:])
	if string(head[:8]) != magic || dim == 0 || dim > 1<<16 || n > maxModelID || string(head[16:16+n]) != f.model {
		return false
	}
	f.dim = int(dim)
	return true
}

func (f *File) header() []byte {
	head := make([]byte, headerSize)
	copy(head, magic)
	binary.LittleEndian.PutUint32(head[8:], uint32(f.dim))
	binary.LittleEndian.PutUint32(head[12:], uint32(len(f.model)))
	copy(head[16:], f.model)
	return head
}

// add appends the vectors that are not there yet, to the file first.
func (f *File) add(vs []index.Vector) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.matrix == nil {
		f.dim = len(vs[0].Vector)
		f.matrix = vector.NewMatrix(f.dim)
	}
	f.lookup()
	var out []byte
	var fresh []index.Hash
	var rows [][]int8
	twice := make(map[index.Hash]bool, len(vs))
	for _, v := range vs {
		if len(v.Vector) != f.dim {
			return fmt.Errorf("a vector of %d numbers for a model of %d", len(v.Vector), f.dim)
		}
		if _, ok := f.rows[v.Hash]; ok || twice[v.Hash] {
			continue
		}
		twice[v.Hash] = true
		q, _ := vector.Quantise(v.Vector)
		out = appendRecord(out, v.Hash, q)
		fresh, rows = append(fresh, v.Hash), append(rows, q)
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := f.append(out); err != nil {
		return err
	}
	for i, h := range fresh {
		f.rows[h] = int32(f.matrix.AppendQuantised(rows[i]))
		f.hashes = append(f.hashes, h)
	}
	return nil
}

func appendRecord(out []byte, h index.Hash, q []int8) []byte {
	at := len(out)
	out = append(out, h[:]...)
	out = append(out, make([]byte, recordHead-len(h))...)
	for _, x := range q {
		out = append(out, byte(x))
	}
	binary.LittleEndian.PutUint32(out[at+len(h):], checksum(out[at:]))
	return out
}

// checksum covers the hash and the numbers of one record.
func checksum(rec []byte) uint32 {
	return crc32.Update(crc32.Checksum(rec[:16], castagnoli), castagnoli, rec[recordHead:])
}

// append writes whole records after the last whole one.
func (f *File) append(records []byte) (err error) {
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size < headerSize {
		if _, err := file.WriteAt(f.header(), 0); err != nil {
			return err
		}
		size = headerSize
	}
	length := int64(recordHead + f.dim)
	_, err = file.WriteAt(records, headerSize+(size-headerSize)/length*length)
	return err
}

// lookup makes the table of rows by hash. The caller holds the lock.
func (f *File) lookup() {
	if f.rows != nil {
		return
	}
	f.rows = make(map[index.Hash]int32, len(f.hashes))
	for i, h := range f.hashes {
		f.rows[h] = int32(i)
	}
}

// Has reports which hashes have a vector.
func (f *File) Has() func(index.Hash) bool {
	f.mu.Lock()
	f.lookup()
	f.mu.Unlock()
	return func(h index.Hash) bool {
		f.mu.RLock()
		defer f.mu.RUnlock()
		_, ok := f.rows[h]
		return ok
	}
}

// Rewrite keeps only the vectors that live says are needed.
func (f *File) Rewrite(live func(index.Hash) bool) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	old, err := os.Open(f.path)
	if err != nil {
		return err
	}
	temp := strings.TrimSuffix(f.path, ".bin") + ".new"
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return errors.Join(err, old.Close())
	}
	// Both are closed before the one takes the other's place: Windows insists.
	if err := errors.Join(f.copyLive(file, old, live), file.Sync(), file.Close(), old.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, f.path); err != nil {
		return err
	}
	f.matrix, f.hashes, f.rows = nil, nil, nil
	return f.load()
}

func (f *File) copyLive(to io.Writer, from io.Reader, live func(index.Hash) bool) error {
	w := bufio.NewWriterSize(to, 1<<20)
	if _, err := w.Write(f.header()); err != nil {
		return err
	}
	r := bufio.NewReaderSize(from, 1<<20)
	if _, err := r.Discard(headerSize); err != nil {
		return err
	}
	rec := make([]byte, recordHead+f.dim)
	for {
		if _, err := io.ReadFull(r, rec); err != nil {
			return w.Flush() // the end, or a torn last record
		}
		if !live(index.Hash(rec[:16])) {
			continue
		}
		if _, err := w.Write(rec); err != nil {
			return err
		}
	}
}
