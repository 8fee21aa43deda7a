package index_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"lore/internal/index"
)

func TestKey(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"Tea", "tea"},
		{"Tea.md", "tea"},
		{"Tea.MD", "tea"},
		{"Tea.markdown", "tea"},
		{"photo.PNG", "photo.png"},
		{"  two\t words \n", "two words"},
		{"cafe\u0301", "café"},
		{"ÜBUNG", "übung"},
		{"v1.2", "v1.2"},
		{"日本", "日本"},
		{".md", ""},
		{"", ""},
	} {
		if got := index.Key(c.name); got != c.want {
			t.Errorf("Key(%q) = %q, want %q", c.name, got, c.want)
		}
	}
	for _, c := range []struct{ target, want string }{
		{"a/b/Tea.md", "tea"}, {"folder/", "folder"}, {"../Tea", "tea"}, {"Tea", "tea"},
	} {
		if got := index.TargetKey(c.target); got != c.want {
			t.Errorf("TargetKey(%q) = %q, want %q", c.target, got, c.want)
		}
	}
}

func TestNamesOf(t *testing.T) {
	for _, c := range []struct {
		path    string
		kind    index.Kind
		title   string
		node    string
		aliases []string
		want    string
	}{
		{"a/Tea.md", index.KindNote, "Tea", "", nil, "tea:0"},
		{"a/Tea.md", index.KindNote, "Green Tea", "", []string{"Cha", "cha", "", "Sencha.md"}, "tea:0 cha:1 sencha:1 green tea:3"},
		{"docs/Guide/index.md", index.KindNote, "Guide", "", nil, "index:0 guide:2 guide:3"},
		{"docs/README.md", index.KindNote, "README", "", nil, "readme:0 docs:2"},
		{"index.md", index.KindNote, "index", "", nil, "index:0"},
		{"a/photo.png", index.KindAttachment, "photo.png", "", nil, "photo.png:0"},
		{"a/x.sync-conflict-1.md", index.KindConflict, "x", "", []string{"y"}, ""},
		{"b.canvas", index.KindCanvas, "b", "", nil, "b.canvas:0 b:3"},
		{"a/Tea.md", index.KindNote, "Tea", "OBS-1", nil, "tea:0 obs-1:4"},
	} {
		var got []string
		for _, n := range index.NamesOf(c.path, c.kind, c.title, c.node, c.aliases) {
			got = append(got, fmt.Sprintf("%s:%d", n.Key, n.Kind))
			if n.Path != c.path {
				t.Errorf("%s: a name of %s", c.path, n.Path)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("NamesOf(%s) = %s, want %s", c.path, s, c.want)
		}
	}
}

// resolveVault are the files that TestResolve's links may point to, with their
// aliases and titles.
var resolveVault = []struct {
	path    string
	aliases []string
	title   string
}{
	{"Tea.md", nil, "Tea"},
	{"drinks/Tea.md", nil, "Tea"},
	{"drinks/hot/Coffee.md", []string{"Java", "Tea time"}, "All about coffee"},
	{"work/Coffee.md", nil, "Coffee"},
	{"work/deep/er/Unique.md", nil, "Unique"},
	{"docs/index.md", nil, "Documentation"},
	{"docs/guide/README.md", nil, "Guide"},
	{"other/guide/index.md", nil, "Other"},
	{"img/photo.png", nil, ""},
	{"drinks/photo.png", nil, ""},
	{"Café.md", nil, "Café"},
	{"Java.md", nil, "Java the island"},
	{"Version 1.2.md", nil, "Version 1.2"},
	{"Übung/Größe.md", nil, "Größe"},
	{"Übung/index.md", nil, "Übungen"},
}

func TestResolve(t *testing.T) {
	var names []index.Name
	for _, f := range resolveVault {
		kind := index.KindNote
		if strings.HasSuffix(f.path, ".png") {
			kind = index.KindAttachment
		}
		names = append(names, index.NamesOf(f.path, kind, f.title, "", f.aliases)...)
	}
	const wiki, md, embed = "wikilink", "markdown", "embed"
	for _, c := range []struct{ what, from, kind, target, want string }{
		{"heading of the note itself", "a/b.md", wiki, "", "a/b.md"},
		{"unique name anywhere", "Tea.md", wiki, "Unique", "work/deep/er/Unique.md"},
		{"case does not matter", "Tea.md", wiki, "uNIQUE", "work/deep/er/Unique.md"},
		{"extension does not matter", "Tea.md", wiki, "Unique.md", "work/deep/er/Unique.md"},
		{"same folder first", "drinks/x.md", wiki, "Tea", "drinks/Tea.md"},
		{"root when nothing is nearer", "work/x.md", wiki, "Tea", "Tea.md"},
		{"nearest folder", "drinks/x.md", wiki, "Coffee", "drinks/hot/Coffee.md"},
		{"nearest folder, other side", "work/deep/x.md", wiki, "Coffee", "work/Coffee.md"},
		{"exact path", "x.md", wiki, "drinks/Tea", "drinks/Tea.md"},
		{"exact path with extension", "x.md", wiki, "drinks/Tea.md", "drinks/Tea.md"},
		{"rooted path", "drinks/x.md", wiki, "/Tea", "Tea.md"},
		{"end of a path", "x.md", wiki, "hot/Coffee", "drinks/hot/Coffee.md"},
		{"end of a path must fit", "x.md", wiki, "cold/Coffee", ""},
		{"relative up", "drinks/hot/x.md", wiki, "../Tea", "drinks/Tea.md"},
		{"relative here", "drinks/x.md", wiki, "./Tea", "drinks/Tea.md"},
		{"alias", "x.md", wiki, "Tea time", "drinks/hot/Coffee.md"},
		{"name before alias", "drinks/hot/x.md", wiki, "Java", "Java.md"},
		{"a title is no name for links", "x.md", wiki, "All about coffee", ""},
		{"NFD finds NFC", "x.md", wiki, "Cafe\u0301", "Café.md"},
		{"dots are not extensions", "x.md", wiki, "Version 1.2", "Version 1.2.md"},
		{"attachment with extension", "drinks/x.md", embed, "photo.png", "drinks/photo.png"},
		{"attachment by path", "drinks/x.md", embed, "img/photo.png", "img/photo.png"},
		{"attachment without extension", "x.md", wiki, "photo", ""},
		{"markdown relative", "drinks/x.md", md, "Tea.md", "drinks/Tea.md"},
		{"markdown relative below", "drinks/x.md", md, "hot/Coffee.md", "drinks/hot/Coffee.md"},
		{"markdown up", "drinks/hot/x.md", md, "../../work/Coffee.md", "work/Coffee.md"},
		{"markdown rooted", "drinks/x.md", md, "/Tea.md", "Tea.md"},
		{"markdown from the root after relative", "drinks/x.md", md, "work/Coffee.md", "work/Coffee.md"},
		{"index of a folder", "x.md", md, "docs", "docs/index.md"},
		{"index of a folder with a slash", "x.md", md, "docs/", "docs/index.md"},
		{"readme of a nearer folder", "docs/x.md", md, "guide", "docs/guide/README.md"},
		{"index by wikilink", "x.md", wiki, "other/guide", "other/guide/index.md"},
		{"index of a folder, not ASCII", "x.md", md, "übung/", "Übung/index.md"},
		{"path, not ASCII, other case", "x.md", wiki, "übung/größe", "Übung/Größe.md"},
		{"nothing", "x.md", wiki, "Nowhere", ""},
		{"outside", "x.md", md, "../Tea.md", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			key := index.TargetKey(c.target)
			var some []index.Name
			for _, n := range names {
				if n.Key == key {
					some = append(some, n)
				}
			}
			for range 2 {
				got, ok := index.Resolve(c.from, c.kind, c.target, some)
				if got != c.want || ok != (c.want != "") {
					t.Errorf("%s in %s leads to %q, want %q", c.target, c.from, got, c.want)
				}
				slices.Reverse(some) // the order of names must not matter
			}
		})
	}
}

func TestParseDate(t *testing.T) {
	local := func(y int, m time.Month, d, h, min, s int) time.Time {
		return time.Date(y, m, d, h, min, s, 0, time.Local)
	}
	for _, c := range []struct {
		in   string
		want time.Time
	}{
		{"2026-01-31", local(2026, 1, 31, 0, 0, 0)},
		{" 2026-01-31 ", local(2026, 1, 31, 0, 0, 0)},
		{"[[2026-01-31]]", local(2026, 1, 31, 0, 0, 0)},
		{`"2026-01-31"`, local(2026, 1, 31, 0, 0, 0)},
		{"2026-01-31T10:20:30Z", time.Date(2026, 1, 31, 10, 20, 30, 0, time.UTC)},
		{"2026-01-31T10:20:30+02:00", time.Date(2026, 1, 31, 8, 20, 30, 0, time.UTC)},
		{"2026-01-31T10:20:30.123Z", time.Date(2026, 1, 31, 10, 20, 30, 123e6, time.UTC)},
		{"2026-01-31T10:20:30", local(2026, 1, 31, 10, 20, 30)},
		{"2026-01-31T10:20", local(2026, 1, 31, 10, 20, 0)},
		{"2026-01-31 10:20:30", local(2026, 1, 31, 10, 20, 30)},
		{"2026-01-31 10:20", local(2026, 1, 31, 10, 20, 0)},
		{"2026/01/31", local(2026, 1, 31, 0, 0, 0)},
		{"31.01.2026", local(2026, 1, 31, 0, 0, 0)},
		{"20260131", local(2026, 1, 31, 0, 0, 0)},
		{"2026-01", local(2026, 1, 1, 0, 0, 0)},
		{"1700000000000", time.UnixMilli(1700000000000)},
	} {
		if got, ok := index.ParseDate(c.in); !ok || !got.Equal(c.want) {
			t.Errorf("ParseDate(%q) = %v %v, want %v", c.in, got, ok, c.want)
		}
	}
	for _, in := range []string{"", "soon", "2026", "2026-13-01", "2026-02-30", "{{date}}", "12", "-2026-01-01", "2026-01-31 and more", strings.Repeat("9", 50)} {
		if got, ok := index.ParseDate(in); ok {
			t.Errorf("ParseDate(%q) = %v", in, got)
		}
	}
}

func TestSpaced(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain text, ümlaut", "plain text, ümlaut"},
		{"茶", " 茶 "},
		{"お茶go", " お茶 茶 go"},
		{"a한b", "a 한 b"},
		{"ไทย", " ไทย ทย ย "},
		{"x\xffy茶", "x\xffy 茶 "},
		{"emoji 🍵 stays", "emoji 🍵 stays"},
	} {
		if got := index.Spaced(c.in); got != c.want {
			t.Errorf("Spaced(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	for r, want := range map[rune]bool{'a': false, 'é': false, 'я': false, 'א': false, 'ا': false, '茶': true, 'か': true, 'カ': true, '한': true, 'ก': true, 'က': true,
		'ក': true, '𠀀': true, '・': false, '。': false, '🍵': false, '々': true, utf8.RuneError: false} {
		if index.Unspaced(r) != want {
			t.Errorf("Unspaced(%q) = %v", r, !want)
		}
	}
}

// FuzzSpaced: other text stays as it is, and every character of an unspaced
// script begins a word, in its order.
func FuzzSpaced(f *testing.F) {
	for _, s := range []string{"", "abc", "お茶を飲む tea", "x\xff\xfe茶", "ไทย한국", "ดื่ม", "茶\n道\n\n茶"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := index.Spaced(s)
		if len(got) > 5*len(s) {
			t.Errorf("%d bytes became %d", len(s), len(got))
		}
		if !utf8.ValidString(s) {
			return // bytes that a mark kept apart may make a character together
		}
		var want, firsts, rest, kept []rune
		before := ' '
		for _, r := range got {
			if !index.Unspaced(r) {
				kept = append(kept, r)
			} else if !index.Unspaced(before) {
				firsts = append(firsts, r)
			}
			before = r
		}
		for _, r := range s {
			if !index.Unspaced(r) {
				rest = append(rest, r)
			} else if !unicode.IsMark(r) {
				want = append(want, r)
			}
		}
		if string(firsts) != string(want) {
			t.Errorf("%q: %q begin words, want %q", s, string(firsts), string(want))
		}
		bare := func(r []rune) string { return strings.NewReplacer(" ", "", "\n", "").Replace(string(r)) }
		if bare(kept) != bare(rest) {
			t.Errorf("%q became %q", s, got)
		}
		_ = index.Key(s)
		_, _ = index.ParseDate(s)
	})
}
