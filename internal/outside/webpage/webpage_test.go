package webpage

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"lore/internal/fault"
	"lore/internal/outside/egress"
)

func TestRead(t *testing.T) {
	t.Parallel()
	at, err := url.Parse("https://example.org/dir/page?x=1")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("Words of the text. ", 20)
	for _, c := range []struct{ name, in, title, want string }{
		{"main", `<title> A  title </title><body><header>Logo</header><nav>Menu</nav><main><h1>Tea</h1><p>Hot.</p></main><footer>Imprint</footer>`, "A title", "# Tea\n\nHot.\n"},
		{"the longest article", `<article><p>Short.</p></article><article><p>` + long + `</p></article>`, "", strings.TrimSpace(long) + "\n"},
		{"nothing that is the main part", `<body><header>Logo</header><p>One</p><aside>Ads</aside><p>Two</p>`, "", "One\n\nTwo\n"},
		{"a table and a list", `<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table><ul><li>x</li><li>y</li></ul>`, "", "| A | B |\n|---|---|\n| 1 | 2 |\n\n- x\n- y\n"},
		{"links are whole", `<a href="../up">up</a> <a href="#here">here</a> <a href="javascript:alert(1)">run</a> <a href="data:text/html,x">data</a>`, "", "[up](https://example.org/up) here run data\n"},
		{"pictures are links", `<img src="a.png" alt="A leaf"><img src="https://track.example/p.gif"><img src="data:image/png;base64,AA" alt="inline">`, "", "[A leaf](https://example.org/dir/a.png)inline\n"},
		{"what runs", `<script>alert(1)</script><style>p{}</style><p onclick="x()">Text</p><iframe src="x"></iframe><noscript>no</noscript><template>t</template><svg><text>s</text></svg><form><input value="v"><button>b</button></form>`, "", "Text\n"},
		{"what nobody sees", `<p hidden>a</p><p style="display: none">b</p><p aria-hidden="true">c</p><p style="font-size:0">d</p><p style="opacity:0">e</p><p style="VISIBILITY:hidden;color:red">f</p><!-- g --><p>se` + "\u200b\u202e\U000e0041" + `en</p>`, "", "seen\n"},
		{"links to notes mean nothing", `<p>See [[Private/keys]] and ![[Secret]]. supports:: [[Tea]]</p>`, "", "See \\[\\[Private/keys]] and !\\[\\[Secret]]. supports:: \\[\\[Tea]]\n"},
		{"empty", ``, "", "\n"},
	} {
		var p Page
		if err := p.read(c.in, at); err != nil || p.Title != c.title || p.Text != c.want {
			t.Errorf("%s: %q, %q, %v", c.name, p.Title, p.Text, err)
		}
	}
}

// TestDeepPages: what is nested very deeply, or never closed, is read or refused, and
// ends nothing.
func TestDeepPages(t *testing.T) {
	t.Parallel()
	at := &url.URL{Scheme: "https", Host: "example.org"}
	for name, in := range map[string]string{
		"divs": strings.Repeat("<div>", 100_000) + "x", "articles": strings.Repeat("<article>y", 5_000), "lists": strings.Repeat("<ul><li>", 20_000) + "x",
		"tables": strings.Repeat("<table><tr><td>", 5_000) + "x", "open tags": strings.Repeat("<", 100_000), "attributes": "<p " + strings.Repeat(`a="b" `, 100_000) + ">x</p>",
	} {
		var p Page
		_ = p.read(in, at) // that it comes back is all that is asked
		t.Log(name, len(p.Text))
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	page := func(path, kind, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, text) // the reader may be gone
		})
	}
	page("/latin", "text/html; charset=iso-8859-1", "<p>gr\xfcn</p>")
	page("/meta", "text/html", "<meta charset=windows-1252><p>\x93tea\x94</p>")
	page("/plain", "text/plain", "a\tb\n\u200b")
	page("/binary", "text/plain", "a\x00b")
	page("/pdf", "application/pdf", "%PDF")
	page("/none", "", "words")
	page("/large", "text/html", "<p>"+strings.Repeat("x", maxPage)+"</p>")
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	mux.HandleFunc("/once", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/plain", http.StatusMovedPermanently)
	})
	mux.HandleFunc("/private", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half") // and then it ends
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.Copy(z, io.LimitReader(zeros{}, 100<<20)) // the reader leaves in the middle
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	client, err := egress.New(egress.Options{Allow: []string{strings.TrimPrefix(s.URL, "http://")}, MaxBody: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want string
		kind fault.Kind
	}{
		{"/latin", "grün\n", ""}, {"/meta", "“tea”\n", ""}, {"/plain", "a\tb\n", ""}, {"/once", "a\tb\n", ""}, {"/none", "words", ""},
		{"/binary", "", fault.Invalid}, {"/pdf", "", fault.Invalid}, {"/large", "", fault.TooLarge}, {"/missing", "", fault.NotFound}, {"/private", "", fault.Denied},
		{"/away", "", fault.Denied}, {"/file", "", fault.Denied}, {"/round", "", "any"}, {"/broken", "", "any"}, {"/bomb", "", fault.TooLarge},
	} {
		p, err := Fetch(t.Context(), client, s.URL+c.path, false)
		switch {
		case c.kind == "" && (err != nil || p.Text != c.want):
			t.Errorf("%s: %q, %v", c.path, p.Text, err)
		case c.kind != "" && (err == nil || c.kind != "any" && fault.Of(err) != c.kind):
			t.Errorf("%s: %q, %v (%s)", c.path, p.Text, err, fault.Of(err))
		}
	}
	raw, err := Fetch(t.Context(), client, s.URL+"/latin", true)
	if err != nil || raw.Text != "<p>grün</p>" {
		t.Errorf("raw: %q, %v", raw.Text, err)
	}
}

// zeros is as long as anybody likes.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func FuzzRead(f *testing.F) {
	for _, s := range []string{"<p>x</p>", "<table><td>", `<a href="//x">y`, "[[a]]", "<img alt=x src=y>"} {
		f.Add(s)
	}
	at := &url.URL{Scheme: "https", Host: "example.org"}
	f.Fuzz(func(t *testing.T, s string) {
		var p Page
		if err := p.read(s, at); err == nil && (strings.Contains(p.Text, "[[") || strings.Contains(p.Text, "\u202e")) {
			t.Errorf("%q gave %q", s, p.Text)
		}
	})
}
