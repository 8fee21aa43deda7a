package index

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// A manifest is a list of files in a form that is read in one go: a head, one
// record for each file with its path as what it does not share with the one
// before, and a checksum.
const manifestMagic = "LOREMAN2"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// EncodeFiles writes a list of files, sorted by path, that belongs to one
// generation of a store.
func EncodeFiles(generation int64, files []File) []byte {
	b := make([]byte, 0, 64*len(files)+64)
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
		b = binary.LittleEndian.AppendUint64(b, uint64(f.ChangeTime))
		b = binary.AppendUvarint(b, f.Inode)
		b = binary.LittleEndian.AppendUint64(b, uint64(f.Seen))
		b = append(b, f.Hash[:]...)
		last = f.Path
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// DecodeFiles reads what [EncodeFiles] wrote for that generation. ok is false
// for anything else.
func DecodeFiles(b []byte, generation int64) (files []File, ok bool) {
	if len(b) < len(manifestMagic)+4 || !bytes.HasPrefix(b, []byte(manifestMagic)) {
		return nil, false
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return nil, false
	}
	r := reader{b: body[len(manifestMagic):]}
	if r.varint() != generation {
		return nil, false
	}
	n := r.uvarint()
	if r.bad || n > uint64(len(r.b)) {
		return nil, false
	}
	files = make([]File, n)
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
		f.ChangeTime = int64(r.fixed())
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
