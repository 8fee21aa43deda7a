package doctext

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

const (
	maxCodes    = 70_000    // codes of one font that have a meaning of their own
	maxAllCodes = 3_000_000 // of all fonts
)

// A font turns the codes of a text into characters and widths.
type font struct {
	unicode map[int]string  // what the font says itself
	simple  [256]string     // of a font with one byte for each character
	wide    bool            // two bytes for each
	utf16   bool            // the codes are UTF-16
	widths  map[int]float64 // in parts of the size
	missing float64         // width of all others
}

func (r *reader) fontOf(v any) *font {
	key, isRef := v.(ref)
	if isRef {
		if f, ok := r.fonts[key]; ok {
			return f
		}
	}
	d := r.dict(v)
	if f, ok := d[readFont].(*font); ok {
		return f
	}
	if d == nil || r.codes <= 0 {
		return nil
	}
	f := &font{widths: map[int]float64{}, missing: 0.5}
	if s, ok := r.get(d["ToUnicode"]).(stream); ok {
		f.unicode = readCMap(r.unpack(s))
	}
	if d["Subtype"] == name("Type0") {
		f.wide = true
		r.composite(f, d)
	} else {
		r.single(f, d)
	}
	r.codes -= 512 + len(f.unicode) + len(f.widths)
	if isRef {
		r.fonts[key] = f
	} else {
		d[readFont] = f
	}
	return f
}

// readFont is where a font that is no object of its own is kept once it was read.
// No name in a file is empty and has a value that is a font.
const readFont name = ""

// composite reads a font with many characters.
func (r *reader) composite(f *font, d dict) {
	if enc, ok := r.get(d["Encoding"]).(name); ok {
		f.utf16 = strings.Contains(string(enc), "UCS2") || strings.Contains(string(enc), "UTF16")
	}
	f.missing = 1
	below := r.array(d["DescendantFonts"])
	if len(below) == 0 {
		return
	}
	own := r.dict(below[0])
	if w, ok := r.get(own["DW"]).(float64); ok {
		f.missing = w / 1000
	}
	list := r.array(own["W"])
	for i := 0; i+1 < len(list) && len(f.widths) < maxCodes; {
		first := r.integer(list[i])
		if each, ok := r.get(list[i+1]).([]any); ok {
			for k, w := range each {
				f.widths[first+k] = r.number(w) / 1000
			}
			i += 2
			continue
		}
		if i+2 >= len(list) {
			return
		}
		last, w := r.integer(list[i+1]), r.number(list[i+2])/1000
		for c := first; c <= last && len(f.widths) < maxCodes; c++ {
			f.widths[c] = w
		}
		i += 3
	}
}

// single reads a font with at most 256 characters.
func (r *reader) single(f *font, d dict) {
	table := charmap.Windows1252
	enc := r.get(d["Encoding"])
	base, _ := enc.(name)
	if e, ok := enc.(dict); ok {
		base, _ = r.get(e["BaseEncoding"]).(name)
	}
	if base == "MacRomanEncoding" {
		table = charmap.Macintosh
	}
	for c := range f.simple {
		f.simple[c] = string(table.DecodeByte(byte(c)))
	}
	if e, ok := enc.(dict); ok {
		code := 0
		for _, v := range r.array(e["Differences"]) {
			switch v := r.get(v).(type) {
			case float64:
				code = int(v)
			case name:
				if code >= 0 && code < 256 {
					f.simple[code] = glyphText(string(v))
				}
				code++
			}
		}
	}
	scale := 0.001
	if m, ok := toMatrix(r.array(d["FontMatrix"])); ok && d["Subtype"] == name("Type3") {
		scale = m[0]
	}
	first := r.integer(d["FirstChar"])
	for i, w := range r.array(d["Widths"]) {
		if i >= 256 {
			break
		}
		f.widths[first+i] = r.number(w) * scale
	}
}

// decode hands every character of a text to yield: what it says, its width, and
// whether it is the space that word spacing applies to.
func (f *font) decode(t str, yield func(text string, width float64, space bool)) {
	step := 1
	if f.wide {
		step = 2
	}
	for i := 0; i+step <= len(t); i += step {
		code := int(t[i])
		if f.wide {
			code = code<<8 | int(t[i+1])
		}
		w, ok := f.widths[code]
		if !ok {
			w = f.missing
		}
		yield(f.textOf(code), w, !f.wide && code == ' ')
	}
}

func (f *font) textOf(code int) string {
	if s, ok := f.unicode[code]; ok {
		return s
	}
	switch {
	case !f.wide:
		return f.simple[code]
	case f.utf16:
		return string(utf16.Decode([]uint16{uint16(code)}))
	}
	return "" // a number of a glyph, which says nothing
}

// readCMap reads the table from codes to characters.
func readCMap(src []byte) map[int]string {
	out := map[int]string{}
	l := &lexer{src: src}
	var args []any
	for {
		switch v := l.value(0).(type) {
		case end:
			return out
		case op:
			switch v {
			case "endbfchar":
				for i := 0; i+1 < len(args); i += 2 {
					put(out, codeOf(args[i]), args[i+1], 0)
				}
			case "endbfrange":
				for i := 0; i+2 < len(args); i += 3 {
					putRange(out, args[i], args[i+1], args[i+2])
				}
			}
			args = args[:0]
		case closing:
		default:
			if len(args) < maxCodes {
				args = append(args, v)
			}
		}
	}
}

func putRange(out map[int]string, from, to, value any) {
	first, last := codeOf(from), codeOf(to)
	list, isList := value.([]any)
	for c := first; c >= 0 && c <= last && len(out) < maxCodes; c++ {
		switch {
		case !isList:
			put(out, c, value, c-first)
		case c-first < len(list):
			put(out, c, list[c-first], 0)
		default:
			return
		}
	}
}

// put adds one entry; the last character of a range's value counts up.
func put(out map[int]string, code int, value any, plus int) {
	s, ok := value.(str)
	if !ok || code < 0 || len(s) == 0 || len(s) > 64 || len(out) >= maxCodes {
		return
	}
	if len(s) == 1 {
		s = "\x00" + s
	}
	units := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	units[len(units)-1] += uint16(plus)
	out[code] = spelled(string(utf16.Decode(units)))
}

// codeOf is a code as a number; -1 when it is none.
func codeOf(v any) int {
	s, ok := v.(str)
	if !ok || len(s) == 0 || len(s) > 2 {
		return -1
	}
	if len(s) == 1 {
		return int(s[0])
	}
	return int(s[0])<<8 | int(s[1])
}

// spelled writes ligatures as letters, so that the words can be found.
func spelled(s string) string {
	for _, r := range s {
		if r >= 0xFB00 && r <= 0xFB06 {
			return norm.NFKC.String(s)
		}
	}
	return s
}

var accents = map[string]rune{
	"acute": '\u0301', "grave": '\u0300', "circumflex": '\u0302', "dieresis": '\u0308', "tilde": '\u0303', "ring": '\u030A', "cedilla": '\u0327', "caron": '\u030C',
	"macron": '\u0304', "breve": '\u0306', "ogonek": '\u0328', "dotaccent": '\u0307', "hungarumlaut": '\u030B',
}

var glyphs = map[string]string{
	"space": " ", "exclam": "!", "quotedbl": `"`, "numbersign": "#", "dollar": "$", "percent": "%", "ampersand": "&", "quotesingle": "'", "quoteright": "’", "quoteleft": "‘",
	"parenleft": "(", "parenright": ")", "asterisk": "*", "plus": "+", "comma": ",", "hyphen": "-", "minus": "−", "period": ".", "slash": "/", "zero": "0", "one": "1", "two": "2",
	"three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "colon": ":", "semicolon": ";", "less": "<", "equal": "=", "greater": ">",
	"question": "?", "at": "@", "bracketleft": "[", "backslash": `\`, "bracketright": "]", "asciicircum": "^", "underscore": "_", "grave": "`", "braceleft": "{", "bar": "|",
	"braceright": "}", "asciitilde": "~", "exclamdown": "¡", "cent": "¢", "sterling": "£", "yen": "¥", "section": "§", "currency": "¤", "copyright": "©", "registered": "®",
	"trademark": "™", "degree": "°", "plusminus": "±", "mu": "µ", "paragraph": "¶", "periodcentered": "·", "questiondown": "¿", "guillemotleft": "«", "guillemotright": "»",
	"guilsinglleft": "‹", "guilsinglright": "›", "endash": "–", "emdash": "—", "bullet": "•", "ellipsis": "…", "quotedblleft": "“", "quotedblright": "”", "quotedblbase": "„",
	"quotesinglbase": "‚", "dagger": "†", "daggerdbl": "‡", "perthousand": "‰", "fi": "fi", "fl": "fl", "ff": "ff", "ffi": "ffi", "ffl": "ffl", "germandbls": "ß", "ae": "æ", "AE": "Æ",
	"oe": "œ", "OE": "Œ", "oslash": "ø", "Oslash": "Ø", "eth": "ð", "Eth": "Ð", "thorn": "þ", "Thorn": "Þ", "lslash": "ł", "Lslash": "Ł", "dotlessi": "ı", "Euro": "€",
	"multiply": "×", "divide": "÷", "onehalf": "½", "onequarter": "¼", "threequarters": "¾", "nbspace": " ", "sfthyphen": "-", "arrowright": "→", "arrowleft": "←",
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "lambda": "λ", "pi": "π", "sigma": "σ", "omega": "ω", "Delta": "Δ", "Omega": "Ω", "Sigma": "Σ",
	"lessequal": "≤", "greaterequal": "≥", "notequal": "≠", "infinity": "∞", "summation": "∑", "radical": "√", "approxequal": "≈", ".notdef": "",
}

// glyphText is the text of a glyph by its name, as fonts call them.
func glyphText(n string) string {
	n, _, _ = strings.Cut(n, "_") // a variant of the first
	if base, _, ok := strings.Cut(n, "."); ok && base != "" {
		n = base
	}
	if s, ok := glyphs[n]; ok {
		return s
	}
	if len(n) == 1 {
		return n
	}
	if hex, ok := strings.CutPrefix(n, "uni"); ok && len(hex) >= 4 {
		if c, err := strconv.ParseUint(hex[:4], 16, 32); err == nil {
			return string(rune(c))
		}
	}
	if hex, ok := strings.CutPrefix(n, "u"); ok && len(hex) >= 4 && len(hex) <= 6 {
		if c, err := strconv.ParseUint(hex, 16, 32); err == nil {
			return string(rune(c))
		}
	}
	if accent, ok := accents[n[min(1, len(n)):]]; ok {
		return norm.NFC.String(n[:1] + string(accent))
	}
	return ""
}
