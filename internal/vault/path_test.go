package vault_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"lore/internal/fault"
	"lore/internal/vault"
)

func TestClean(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 256)
	for _, c := range []struct {
		in, want string
		kind     fault.Kind
	}{
		{"a.md", "a.md", ""},
		{"ideas/tea.md", "ideas/tea.md", ""},
		{"./ideas//tea.md", "ideas/tea.md", ""},
		{"-rf.md", "-rf.md", ""},
		{"Q: why.md", "Q: why.md", ""},
		{"...md", "...md", ""},
		{".hidden/x", ".hidden/x", ""},
		{"cafe\u0301.md", "caf\u00e9.md", ""},
		{"", "", fault.Invalid},
		{".", "", fault.Invalid},
		{"a/", "", fault.Invalid},
		{"a/.", "", fault.Invalid},
		{"..", "", fault.Unsafe},
		{"../a.md", "", fault.Unsafe},
		{"a/../b.md", "", fault.Unsafe},
		{"a/..", "", fault.Unsafe},
		{"/etc/passwd", "", fault.Unsafe},
		{"//host/share", "", fault.Unsafe},
		{`\\host\share`, "", fault.Unsafe},
		{`a\..\b.md`, "", fault.Unsafe},
		{"C:/x.md", "", fault.Unsafe},
		{"./c:/x.md", "", fault.Unsafe},
		{"x/c:", "", fault.Unsafe},
		{"a\x00.md", "", fault.Unsafe},
		{"a\n.md", "", fault.Unsafe},
		{"a\u0085.md", "", fault.Unsafe},
		{"a\xff.md", "", fault.Invalid},
		{long + ".md", "", fault.Invalid},
		{strings.Repeat("x/", 2100) + "x", "", fault.Invalid},
	} {
		got, err := vault.Clean(c.in)
		if got != c.want || fault.Of(err) != c.kind {
			t.Errorf("Clean(%q) = %q, %v; want %q, %s", c.in, got, err, c.want, c.kind)
		}
	}
}

func TestCleanNew(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"a.md", "ideas/Tea time.md", "console.md", "com10.md", "日記/茶.md"} {
		if _, err := vault.CleanNew(p); err != nil {
			t.Errorf("CleanNew(%q): %v", p, err)
		}
	}
	for _, p := range []string{
		"con.md", "NUL", "aux.tar.gz", "x/lpt1", "COM¹.md", "a.md.", "a ", "b./a.md", " a.md", "a:b.md", "a.md::$DATA",
		"what?.md", "a*.md", "a|b.md", ".hidden.md", ".git/config", "x/.y/z.md", "a\u202emd.exe", "../a.md",
	} {
		if got, err := vault.CleanNew(p); err == nil {
			t.Errorf("CleanNew(%q) = %q", p, got)
		}
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Tea.md", "tea.MD", true},
		{"Ärger.md", "ärger.md", true},
		{"Σίσυφος", "σίσυφοσ", true},
		{"\u212aelvin", "kelvin", true}, // the Kelvin sign
		{"tea.md", "teas.md", false},
	} {
		if got := vault.Fold(c.a) == vault.Fold(c.b); got != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

// FuzzClean holds that a key never leads out of a folder, whatever was given,
// and that a key's key is the key itself.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"a.md", "../x", "a/./b", `a\b`, "C:x", "e\u0301", ".lore/x", "//a", "a/../../b"} {
		f.Add(s)
	}
	dir := filepath.Join(string(filepath.Separator), "vault")
	f.Fuzz(func(t *testing.T, p string) {
		key, err := vault.Clean(p)
		if err != nil {
			if fault.Of(err) != fault.Invalid && fault.Of(err) != fault.Unsafe {
				t.Fatalf("Clean(%q): %v", p, err)
			}
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(key)) || !strings.HasPrefix(filepath.Join(dir, key), dir+string(os.PathSeparator)) {
			t.Fatalf("Clean(%q) = %q leads out", p, key)
		}
		if again, err := vault.Clean(key); again != key {
			t.Fatalf("Clean(%q) = %q, %v", key, again, err)
		}
		if !utf8.ValidString(key) || !norm.NFC.IsNormalString(key) || strings.ContainsAny(key, "\x00\\") {
			t.Fatalf("Clean(%q) = %q", p, key)
		}
	})
}
