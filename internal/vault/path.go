package vault

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"lore/internal/fault"
	"lore/internal/note/invisible"
)

const (
	maxName = 255  // bytes in one name; every common file system's limit
	maxPath = 4096 // bytes in a whole path
)

// OwnFolder is where Lore keeps its journal and trash inside a vault. It is
// never listed, read or watched as notes are.
const OwnFolder = ".lore"

const (
	tempPrefix = ".lore-"
	tempSuffix = ".tmp"
)

// Clean returns the key of a path, or says why the path cannot be one: it
// leads out of the vault, is absolute, or holds what no vault path may. "./"
// and doubled slashes are dropped, ".." is refused even where it would stay
// inside. Clean looks at no file.
func Clean(p string) (string, error) {
	switch {
	case p == "":
		return "", fault.Fix(fault.Invalid, "give a path from the vault root, such as \"ideas/tea.md\"", "the path is empty")
	case !utf8.ValidString(p):
		return "", fault.New(fault.Invalid, "path %q is not valid UTF-8", p)
	}
	key := Key(p) // before the checks: what is checked is what is used
	switch {
	case len(key) > maxPath:
		return "", fault.New(fault.Invalid, "the path has %d bytes; the limit is %d", len(key), maxPath)
	case key[0] == '/':
		return "", fault.Fix(fault.Unsafe, "give the path from the vault root", "path %q is absolute", p)
	}
	last := ""
	for name := range strings.SplitSeq(key, "/") {
		if err := checkName(name); err != nil {
			return "", err
		}
		last = name
	}
	if last == "" || last == "." {
		return "", fault.Fix(fault.Invalid, "give the path of a file", "path %q names a folder", p)
	}
	return path.Clean(key), nil
}

// checkName is the part of [Clean] that looks at one name of a path.
func checkName(name string) error {
	switch {
	case name == "..":
		return fault.Fix(fault.Unsafe, "give the path from the vault root", `".." in a path could point outside the vault`)
	case drive(name):
		return fault.Fix(fault.Unsafe, "give the path from the vault root", "%q in a path could be a drive letter", name)
	case len(name) > maxName:
		return fault.New(fault.Invalid, "a name of %d bytes is too long; the limit is %d", len(name), maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fault.New(fault.Unsafe, "name %q contains a control character", name)
	case strings.Contains(name, `\`):
		return fault.Fix(fault.Unsafe, `separate folders with "/"`, "name %q contains a backslash", name)
	case oddNamesDiffer && name != "" && name != ".":
		if why := unportable(name); why != "" {
			return fault.New(fault.Unsafe, "name %q %s", name, why)
		}
	}
	return nil
}

// CleanNew is [Clean] for a file that is to be made: it also refuses names
// that another system could not hold or would read as something else, because
// vaults travel, and names that hold what nobody sees. Existing files may have
// such names; they can be read.
func CleanNew(p string) (string, error) {
	key, err := Clean(p)
	if err != nil {
		return "", err
	}
	for name := range strings.SplitSeq(key, "/") {
		if why := unportable(name); why != "" {
			return "", fault.Fix(fault.Invalid, "choose another name", "name %q %s", name, why)
		}
		if bad, ok := invisible.InName(name); ok {
			return "", fault.Fix(fault.Invalid, "leave it out", "name %q has the invisible character %s", invisible.Escape(name), bad)
		}
	}
	if Hidden(key) {
		return "", fault.Fix(fault.Invalid, "choose a name without a leading dot", "path %q is hidden", p)
	}
	return key, nil
}

// Key puts a path into Unicode NFC, the form in which paths are compared.
func Key(p string) string {
	if ascii(p) {
		return p
	}
	return norm.NFC.String(p)
}

// Fold returns what two keys have in common when they differ only in case.
// Such files cannot live side by side on macOS and Windows.
func Fold(key string) string {
	if ascii(key) {
		return strings.ToLower(key)
	}
	return norm.NFC.String(strings.Map(foldRune, key))
}

// foldRune picks one rune for all that differ only in case.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return unicode.ToLower(least)
}

// Hidden reports whether a name in the path begins with a dot.
func Hidden(key string) bool {
	return strings.HasPrefix(key, ".") || strings.Contains(key, "/.")
}

// own reports whether the path is Lore's: its folder, or a file it is writing.
func own(key string) bool {
	for name := range strings.SplitSeq(key, "/") {
		if strings.EqualFold(name, OwnFolder) || IsTemp(name) {
			return true
		}
	}
	return false
}

// Temp is the name of a file that is being written, until it is whole and takes
// its place. No walk lists it.
func Temp(random string) string { return tempPrefix + random + tempSuffix }

// IsTemp reports whether a name is one that [Temp] made.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// drive reports the name of a Windows drive: a letter and a colon. A note may
// be called "Q: why.md".
func drive(name string) bool {
	if len(name) != 2 || name[1] != ':' {
		return false
	}
	c := name[0] | 0x20
	return 'a' <= c && c <= 'z'
}

// unportable says what is wrong with a name on some system, or "".
func unportable(name string) string {
	switch {
	case strings.HasSuffix(name, "."), strings.HasSuffix(name, " "):
		return "ends with a dot or a space, which Windows removes"
	case strings.HasPrefix(name, " "):
		return "begins with a space"
	case strings.ContainsAny(name, `<>:"|?*\`):
		return `contains one of < > : " | ? * \, which Windows does not allow`
	case device(name):
		return "is a reserved name on Windows"
	}
	return ""
}

// device reports the names that Windows keeps for devices, with any extension.
func device(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	port, ok := strings.CutPrefix(base, "COM")
	if !ok {
		port, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && len([]rune(port)) == 1 && strings.ContainsAny(port, "123456789¹²³")
}
