package invisible

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestRealNames: names that people write in their languages are spelled right.
func TestRealNames(t *testing.T) {
	for _, name := range []string{
		"Tea.md", "Übung.md", "naïve – café.md", "日本語.md", "한국어.md", "ไทย.md",
		"می\u200cخواهم.md", "نامه\u200cها.md", "کتاب\u200cخانه", // Persian
		"العربية.md", "مقدمة ابن خلدون.md", "עברית.md", "שָׁלוֹם.md", // Arabic, Hebrew
		"हिन्दी.md", "क्\u200dष.md", "क्\u200cष.md", // Hindi
		"বাংলা.md", "র\u200d্যাব.md", "উদ্\u200cঘাটন.md", // Bengali
		"ශ්\u200dරී ලංකා.md", "ක්\u200dෂ.md", // Sinhala
		"ವರ್ಷ.md", "ತಮಿಳು தமிழ்.md", "മലയാളം അവന്\u200d.md",
		"👨\u200d👩\u200d👧\u200d👦.md", "👩\u200d💻 work.md", "👩🏽\u200d🚀.md", "🏳\ufe0f\u200d🌈.md", "❤\ufe0f.md", "❤\ufe0f\u200d🔥.md", "☎\ufe0e.md", "1\ufe0f\u20e3 first.md", "🇺🇦.md",
		"\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F.md",
		"\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F.md",
		"\U0001F3F4\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073\U000E007F.md",
		"ᠮᠣᠩᠭᠣᠯ\u180e.md", "\u0600١٢٣.md",
	} {
		if f, bad := InName(name); bad {
			t.Errorf("%q: %v", name, f)
		}
		if got := Escape(name); got != name {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
}

func TestNamesThatHide(t *testing.T) {
	for name, want := range map[string]string{
		"Te\u202ea":                     "U+202E RIGHT-TO-LEFT OVERRIDE as character 3",
		"Te\u200da":                     "U+200D ZERO WIDTH JOINER as character 3",
		"Te\u200ca":                     "U+200C ZERO WIDTH NON-JOINER as character 3",
		"\u200cTea":                     "U+200C ZERO WIDTH NON-JOINER as character 1",
		"Tea\u200d":                     "U+200D ZERO WIDTH JOINER as character 4",
		"می\u200c.md":                   "U+200C ZERO WIDTH NON-JOINER as character 3",
		"د\u200cم":                      "U+200C ZERO WIDTH NON-JOINER as character 2", // a letter that joins nothing after it
		"می\u200c\u200cخواهم":           "U+200C ZERO WIDTH NON-JOINER as character 3",
		"👩\u200dx":                      "U+200D ZERO WIDTH JOINER as character 2",
		"x\u200d👩":                      "U+200D ZERO WIDTH JOINER as character 2",
		"a\u00adb":                      "U+00AD SOFT HYPHEN as character 2",
		"a\u2060b":                      "U+2060 WORD JOINER as character 2",
		"a\u200fb":                      "U+200F RIGHT-TO-LEFT MARK as character 2",
		"a\u061cb":                      "U+061C ARABIC LETTER MARK as character 2",
		"a\U000E0041":                   "U+E0041 TAG A as character 2",
		"🏴\U000E0078\U000E007F":         "U+E0078 TAG x as character 2",
		"a\ufe0f":                       "U+FE0F VARIATION SELECTOR-16 as character 2",
		"1\ufe0f":                       "U+FE0F VARIATION SELECTOR-16 as character 2",
		"葛\U000E0100":                   "U+E0100 VARIATION SELECTOR-17 as character 2",
		"a\u3164":                       "U+3164 HANGUL FILLER as character 2",
		"a\u180eb":                      "U+180E MONGOLIAN VOWEL SEPARATOR as character 2",
		"a\u0600b":                      "U+0600 as character 2",
		"\U0001F3F4\U000E0067\u202e.md": "U+E0067 TAG g as character 2",
	} {
		if f, bad := InName(name); !bad || f.String() != want {
			t.Errorf("%+q: %v, want %s", name, f, want)
		}
		if Escape(name) == name {
			t.Errorf("%+q is shown as it is", name)
		}
	}
	// Each of them between two letters.
	for _, table := range []*unicode.RangeTable{unicode.Cf, ignorable, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Bidi_Control} {
		eachRune(table, func(r rune) {
			if _, bad := InName("Te" + string(r) + "a"); !bad {
				t.Errorf("U+%04X is taken", r)
			}
		})
	}
}

func eachRune(table *unicode.RangeTable, f func(rune)) {
	for _, x := range table.R16 {
		for r := rune(x.Lo); r <= rune(x.Hi); r += rune(x.Stride) {
			f(r)
		}
	}
	for _, x := range table.R32 {
		for r := rune(x.Lo); r <= rune(x.Hi); r += rune(x.Stride) {
			f(r)
		}
	}
}

func TestIsolate(t *testing.T) {
	for in, want := range map[string]string{
		"Tea.md":              "Tea.md",
		"Invoice\u202egpj":    "Invoice<U+202E>gpj",
		"עברית.md":            "\u2068עברית.md\u2069",
		"ע\u202eb":            "\u2068ע<U+202E>b\u2069",
		"\u2068Tea\u2069":     "<U+2068>Tea<U+2069>",
		"\u2069עב\u2068":      "\u2068<U+2069>עב<U+2068>\u2069",
		"a\x1b[2J\n":          "a<U+001B>[2J<U+000A>",
		"می\u200cخواهم":       "\u2068می\u200cخواهم\u2069",
		"\u2068ע\u2069x":      "\u2068<U+2068>ע<U+2069>x\u2069",
		"\u2068ע\u202e\u2069": "\u2068<U+2068>ע<U+202E><U+2069>\u2069",
	} {
		if got := Isolate(in); got != want {
			t.Errorf("Isolate(%+q) = %+q, want %+q", in, got, want)
		}
		if got := Isolate(want); !strings.Contains(want, "<") && got != want {
			t.Errorf("%+q is set apart twice: %+q", want, got)
		}
	}
}

func TestTwins(t *testing.T) {
	n := NewNames([]string{"Tea.md", "sub/Tea.md", "Milk.md", "Part 1.md", "Part I.md", "Γάμμα.md", "Model.md", "a-b.md", "Notes/Daily log/x.md"})
	for name, want := range map[string]string{
		"Теа.md": "Tea.md", "x/Tеa.md": "Tea.md", "Ｔea.md": "Tea.md", "Te\u200ba.md": "Tea.md", "Mi1k.md": "Milk.md", "MiIk.md": "Milk.md",
		"Mоdel.md": "Model.md", "M0del.md": "", "a–b.md": "a-b.md", "Tea.md": "", "TEA.md": "", "Coffee.md": "", "Part 1.md": "", "Part II.md": "", "Мода.md": "",
		"Nоtes/new.md": "Notes/", "x/Nоtes/deep/new.md": "Notes/", "Notes/Daily\u00a0log/new.md": "Daily log/", "Notes/Daily  log/new.md": "Daily log/", "Notes/new.md": "", "Tea/Notes/Daily log/new.md": "",
	} {
		if _, got, _ := n.Twin(name, ""); got != want {
			t.Errorf("%q looks like %q, want %q", name, got, want)
		}
	}
	for _, c := range []struct{ path, from, want string }{
		{"Nоtes/a.md", "Notes/a.md", ""}, // the folder that it leaves
		{"Nоtes/a.md", "a.md", "Notes/"},
		{"Nоtes/b.md", "Nоtes/a.md", ""}, // it is in there already
		{"Nоtes/Tеa.md", "x/Tеa.md", "Notes/"},
		{"Теа.md", "Tea.md", ""},
	} {
		if _, got, _ := n.Twin(c.path, c.from); got != c.want {
			t.Errorf("%q from %q looks like %q, want %q", c.path, c.from, got, c.want)
		}
	}
	if got := n.Twins(); len(got) != 0 {
		t.Errorf("%q look alike", got)
	}
	if got := Differs("Теа.md", "Tea.md"); got != "Cyrillic Т" {
		t.Error(got)
	}
	if got := Differs("Two  words.md", "Two words.md"); got != "another number of spaces" {
		t.Error(got)
	}
	if got := Differs("Te\u200ba.md", "Tea.md"); !strings.Contains(got, "ZERO WIDTH SPACE") {
		t.Error(got)
	}
}

func TestFold(t *testing.T) {
	for _, name := range []string{"agents.md", "AGENTS.MD", "ＡＧＥＮＴＳ.md", "agentſ.md", "a\u200dgents.md", "AGENTS.md. ", "\ufeffAgents.md"} {
		if got := Fold(name); got != "agents.md" {
			t.Errorf("%+q folds to %q", name, got)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"Te\u202ea", "👨\u200d👩\u200d👧", "می\u200cخواهم", "\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", "র\u200d্যাব", "ａ１"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip()
		}
		fault, bad := InName(s)
		shown := Escape(s)
		if bad == (shown == s) && !strings.ContainsFunc(s, unicode.IsControl) {
			t.Errorf("%+q: %v, shown as %+q", s, fault, shown)
		}
		if bad && []rune(s)[fault.Place-1] != fault.Rune {
			t.Errorf("%+q: %v is not there", s, fault)
		}
		for _, r := range shown {
			if unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%+q shows %U", s, r)
			}
		}
		once := Isolate(s)
		if twice := Isolate(once); strings.HasPrefix(once, firstStrong) && twice != once {
			t.Errorf("%+q: %+q, then %+q", s, once, twice)
		}
		if Skeleton(Escape(s)) == "" && shown != "" && !strings.ContainsFunc(s, isUnseen) {
			t.Errorf("%+q has no skeleton", s)
		}
		if k := Fold(s); Fold(k) != k {
			t.Errorf("%+q folds to %+q, then %+q", s, k, Fold(k))
		}
	})
}
