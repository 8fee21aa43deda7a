package index

import (
	"reflect"
	"testing"
)

func manifestFiles() []File {
	return []File{
		{Path: "a.md", Size: 1, ModTime: -5, ChangeTime: 11, Inode: 1 << 60, Hash: Hash{1}, Seen: 7},
		{Path: "a/b.md", Size: 1 << 40, ModTime: 1e18, Inode: 2, Hash: Hash{2}, Seen: 1e18},
		{Path: "a/bc.md"},
		{Path: "é/茶.md", Size: 3},
	}
}

func TestManifest(t *testing.T) {
	want := manifestFiles()
	b := EncodeFiles(9, want)
	got, ok := DecodeFiles(b, 9)
	if !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, ok)
	}
	if _, ok := DecodeFiles(b, 8); ok {
		t.Error("the list of another generation was taken")
	}
	for i := range b {
		broken := append([]byte(nil), b...)
		broken[i] ^= 1
		if _, ok := DecodeFiles(broken, 9); ok {
			t.Errorf("a list with a changed byte %d was taken", i)
		}
		if _, ok := DecodeFiles(b[:i], 9); ok {
			t.Errorf("a list of %d bytes was taken", i)
		}
	}
	if got, ok := DecodeFiles(EncodeFiles(0, nil), 0); !ok || len(got) != 0 {
		t.Errorf("an empty list came back as %v, %v", got, ok)
	}
}

func FuzzDecodeFiles(f *testing.F) {
	f.Add(EncodeFiles(1, manifestFiles()))
	f.Fuzz(func(t *testing.T, b []byte) {
		if files, ok := DecodeFiles(b, 1); ok && len(files) > len(b) {
			t.Errorf("%d files from %d bytes", len(files), len(b))
		}
	})
}
