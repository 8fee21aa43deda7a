package invisible

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// looks gives letters of other scripts the Latin letter, or the digit, that
// they look like in most fonts. It is a small table of our own, written after
// what Unicode's list of confusable characters (UTS 39) calls the same: Greek,
// Cyrillic and Armenian letters, Cherokee capitals that pass for Latin ones, and
// what NFKC leaves alone.
var looks = pairs(
	// Cyrillic
	"АA ВB СC ЕE НH ІI ЈJ КK МM ОO РP ЅS ТT ХX УY Ӏl ԌG Ԛ" + "Q ԜW Ҫ" + "C " +
		"аa сc еe һh іi јj оo рp ԛq ѕs ѵv ԝw хx уy ԁd ҽe ӏl ɡg ь" + "b кk " +
		// Greek
		"ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX αa ιi κk νv οo ρp υu γy ϲc Ϲ" + "C ϳj χx ωw " +
		// Armenian, Cherokee, Latin
		"օo ոn սu հh ցg Տ" + "S Օ" + "O Լ" + "L ᎪA ᏴB ᏟC ᎬE ᎻH ᎫJ ᏦK ᏞL ᎷM ᏢP ᏚS ᎢT ᏙV ᎳW ᏃZ " +
		"ɑa ıi ǃl ǀl ƽs ʟL ꓐB ꓑP ꓓD ꓔT ꓖG ꓗK ꓙJ ꓚC ꓜZ ꓝF ꓟM ꓠN ꓡL ꓢS ꓣR ꓦV ꓧH ꓪW ꓫX ꓬY ꓮA ꓰE ꓲI ꓳO ꓴU " +
		// what stands for a dash, a quote, a slash or a dot
		"‐- ‑- ‒- –- —- −- ⁃- ’' ‘' ʼ' ′' ‛' ⁄/ ∕/ ․. ∶: ꞉:")

func pairs(list string) map[rune]rune {
	out := map[rune]rune{}
	for pair := range strings.FieldsSeq(list) {
		r := []rune(pair)
		out[r[0]] = r[1]
	}
	return out
}

// Skeleton is what two names have in common that look alike: characters without
// a shape are left out, and each other one becomes the plain one that it looks
// like. Digits count as letters only inside of a word.
func Skeleton(name string) string {
	if !isPlain(name) {
		name = norm.NFKC.String(name)
	}
	text := []rune(name)
	out := make([]rune, 0, len(text))
	for i, r := range text {
		if isUnseen(r) {
			continue
		}
		if to, ok := looks[r]; ok {
			r = to
		}
		switch {
		case r == 'I', r == '|', r == '1' && besideLetter(text, i):
			r = 'l'
		case r == '0' && besideLetter(text, i):
			r = 'O'
		case unicode.IsSpace(r):
			if r = ' '; len(out) > 0 && out[len(out)-1] == ' ' {
				continue // a page shows several blanks as one
			}
		}
		out = append(out, r)
	}
	return string(out)
}

func besideLetter(text []rune, i int) bool {
	return unicode.IsLetter(at(text, i-1)) || unicode.IsLetter(at(text, i+1))
}

func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// Fold is a name as a file system can take it that ignores case, invisible
// characters and compatibility forms.
func Fold(name string) string {
	if !isPlain(name) {
		name = norm.NFKC.String(strings.Map(func(r rune) rune {
			if isUnseen(r) {
				return -1
			}
			return r
		}, name))
	}
	return strings.TrimRight(strings.Map(foldRune, name), ". ")
}

// foldRune picks one rune for all that differ only in case.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return unicode.ToLower(least)
}

// A Names finds names that look like others. It is made in one pass over all
// names of a vault.
type Names map[string][]string // by skeleton

// NewNames takes in the names of files, and of the folders that they are in. The
// name of a folder has a slash at its end.
func NewNames(paths []string) Names {
	out, folders := Names{}, map[string]bool{}
	for _, p := range paths {
		out.add(path.Base(p))
		for dir := path.Dir(p); dir != "." && dir != "/" && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
			out.add(path.Base(dir) + "/")
		}
	}
	return out
}

func (n Names) add(name string) {
	key := Skeleton(name)
	if !slices.Contains(n[key], name) {
		n[key] = append(n[key], name)
	}
}

// Twin finds a name in a path, of the file or of a folder, that looks like another
// one, and that other. For a file that moves, from is the path that it leaves: names
// that it has there are not new, and are no others.
func (n Names) Twin(p, from string) (name, twin string, ok bool) {
	name = path.Base(p)
	for {
		for _, other := range n[Skeleton(name)] {
			if other != name && !hasName(from, name) && !hasName(from, other) {
				return name, other, true
			}
		}
		p = path.Dir(p)
		if p == "." || p == "/" {
			return "", "", false
		}
		name = path.Base(p) + "/"
	}
}

// hasName reports whether a path has a name, with a slash at its end that of a
// folder.
func hasName(p, name string) bool {
	if folder, ok := strings.CutSuffix(name, "/"); ok {
		return slices.Contains(strings.Split(path.Dir(p), "/"), folder)
	}
	return path.Base(p) == name
}

// Twins lists the groups of names that look alike, sorted.
func (n Names) Twins() [][]string {
	var out [][]string
	for _, group := range n {
		if len(group) > 1 {
			slices.Sort(group)
			out = append(out, group)
		}
	}
	slices.SortFunc(out, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return out
}

// Differs says by which character a name is another one than its twin.
func Differs(name, twin string) string {
	of := map[rune]bool{}
	for _, r := range twin {
		of[r] = true
	}
	for _, r := range name {
		if !of[r] {
			return describe(r)
		}
	}
	if strings.Count(name, " ") != strings.Count(twin, " ") {
		return "another number of spaces"
	}
	return "the same characters in another order"
}

func describe(r rune) string {
	if isUnseen(r) {
		return "an invisible character, " + RuneName(r)
	}
	for _, script := range []string{"Cyrillic", "Greek", "Armenian", "Cherokee", "Lisu", "Han", "Latin"} {
		if unicode.Is(unicode.Scripts[script], r) && r >= 0x80 {
			return fmt.Sprintf("%s %s", script, string(r))
		}
	}
	return fmt.Sprintf("%q (U+%04X)", string(r), r)
}
