package websearch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"lore/internal/fault"
	"lore/internal/outside/egress"
)

// secret is the key of the tests. Nothing that is shown may have it.
const secret = "sesame/open+42"

// An upstream is a service that answers with bytes of testdata.
type upstream struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	header http.Header
	body   string
	got    *http.Request
	sent   string
}

func serve(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		defer u.mu.Unlock()
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		u.got, u.sent = r, string(sent)
		for k, v := range u.header {
			w.Header()[k] = v
		}
		w.WriteHeader(u.status)
		fmt.Fprint(w, u.body)
	}))
	t.Cleanup(u.Close)
	return u
}

// say sets what comes next: a status and a file of testdata, or a text.
func (u *upstream) say(t *testing.T, status int, body string, header http.Header) {
	t.Helper()
	if name := filepath.Join("testdata", body); strings.HasSuffix(body, ".json") || strings.HasSuffix(body, ".html") {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		body = string(b)
	}
	if header == nil {
		header = http.Header{"Content-Type": {"application/json"}}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.status, u.body, u.header = status, body, header
}

// searcherAt is the searcher of a kind for a server of the test.
func searcherAt(t *testing.T, kind string, u *upstream) Searcher {
	t.Helper()
	at, err := url.Parse(u.URL)
	if err != nil {
		t.Fatal(err)
	}
	client, err := egress.New(egress.Options{Allow: []string{egress.Place(at)}, MaxBody: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Kind: kind, BaseURL: u.URL + "/", Key: func() string { return " " + secret + "\n" }, Engine: "0123456789abcdef0"}, client)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// found is what every service tells in its own shape.
func found(engine string) []Result {
	return []Result{
		{URL: "https://example.org/green-tea", Title: "Green tea", Snippet: "Steep at 80 °C for two minutes.", Published: "2024-05-31", Engine: engine},
		{URL: "https://journal.example.org/review?id=7&utm_source=feed", Title: "Tea & health", Snippet: "A review of 12 trials found little <effect>, 3 < 4.", Engine: engine},
		{URL: "https://hidden.example.org/a%20b?q=%E2%80%AEevil", Title: "Ignore all this", Snippet: "می\u200cخواهم ab end 👩\u200d💻", Engine: engine},
		{URL: "https://long.example.org/", Title: strings.Repeat("L", maxTitle) + "…", Snippet: strings.TrimRight(strings.Repeat("Steam. ", 100)[:maxSnippet], " ") + "…", Engine: engine},
		{URL: "https://bare.example.org/?b=2&a=1", Title: "https://bare.example.org/?b=2&a=1", Engine: engine},
	}
}

// TestExam is what holds for all services.
func TestExam(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			u := serve(t)
			s := searcherAt(t, kind, u)
			if s.Name() != kind {
				t.Errorf("its name is %q", s.Name())
			}
			t.Run("finds", func(t *testing.T) { examFinds(t, s, u, kind) })
			t.Run("queries", func(t *testing.T) { examQueries(t, s, u, kind) })
			t.Run("refusals", func(t *testing.T) { examRefusals(t, s, u, kind) })
			t.Run("nobody there", func(t *testing.T) {
				u.Close()
				_, err := s.Search(t.Context(), Query{Text: "tea"})
				mustFail(t, err, fault.Unavailable, "127.0.0.1")
			})
		})
	}
}

func examFinds(t *testing.T, s Searcher, u *upstream, kind string) {
	u.say(t, 200, kind+".json", nil)
	got, err := s.Search(t.Context(), Query{Text: "green tea"})
	if err != nil {
		t.Fatal(err)
	}
	want := found(kind)
	if kind == "searxng" {
		want = found("duckduckgo")
		want[len(want)-1].Engine = "searxng" // where it does not say who
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("result %d of %d:\n got %+q\nwant %+q", i, len(got), got[min(i, len(got)-1)], want[min(i, len(want)-1)])
		}
	}
	if got, err = s.Search(t.Context(), Query{Text: "green tea", Limit: 2}); err != nil || !reflect.DeepEqual(got, want[:2]) {
		t.Errorf("two: %+v, %v", got, err)
	}
	u.say(t, 200, kind+"_empty.json", nil)
	if got, err = s.Search(t.Context(), Query{Text: "green tea"}); err != nil || got != nil {
		t.Errorf("nothing: %+v, %v", got, err)
	}
}

func examQueries(t *testing.T, s Searcher, u *upstream, kind string) {
	u.say(t, 200, kind+"_empty.json", nil)
	for _, q := range []Query{{}, {Text: " \t\u200b"}, {Text: strings.Repeat("ä", MaxText+1)}, {Text: "tea", Language: "de&x=1"}, {Text: "tea", Language: "deutsch"}} {
		_, err := s.Search(t.Context(), q)
		mustFail(t, err, fault.Invalid, "")
	}
	for _, q := range []Query{{Text: strings.Repeat("ä", MaxText)}, {Text: "tea", Limit: 1000}, {Text: "tea", Limit: -1, Language: "pt-BR"}, {Text: `"<b>" & 100 % = ? #`}} {
		if _, err := s.Search(t.Context(), q); err != nil {
			t.Errorf("%+v: %v", q, err)
		}
		u.mu.Lock()
		if sent := u.sent + u.got.URL.Query().Get("q"); q.Limit == 0 && !strings.Contains(sent, `\u003cb\u003e`) && !strings.Contains(sent, q.Text) {
			t.Errorf("%q became %q", q.Text, sent)
		}
		for name := range u.got.URL.Query() {
			if strings.Contains(strings.ToLower(name), "key") {
				t.Errorf("a key in the address: %s", name)
			}
		}
		if strings.Contains(u.got.URL.String()+u.sent, "sesame") {
			t.Errorf("the key went beyond a header: %s %s", u.got.URL, u.sent)
		}
		u.mu.Unlock()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Search(ctx, Query{Text: "tea"})
	mustFail(t, err, fault.Cancelled, "")
}

func examRefusals(t *testing.T, s Searcher, u *upstream, kind string) {
	page := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	echo := `{"error":{"code":"X","message":"bad ` + secret + `","detail":"bad ` + secret + `"},"detail":{"error":"bad ` + url.QueryEscape(secret) + `"}}`
	for _, c := range []struct {
		name   string
		status int
		body   string
		header http.Header
		want   fault.Kind
		words  string
	}{
		{"no right", 401, "", nil, fault.Denied, "web.key_env"},
		{"forbidden", 403, "", nil, fault.Denied, ""},
		{"paid", 402, "", nil, fault.Busy, "used up"},
		{"too often", 429, "", nil, fault.Busy, "try again later"},
		{"too often, seconds", 429, "", http.Header{"Retry-After": {"30"}}, fault.Busy, "try again in 30 seconds"},
		{"too often, a day", 429, "", http.Header{"Retry-After": {time.Now().Add(24 * time.Hour).UTC().Format(http.TimeFormat)}}, fault.Busy, "try again in 24 hours"},
		{"not there", 404, "searxng_403.html", page, fault.Unavailable, "check web.base_url"},
		{"not understood", 400, "{}", nil, fault.Invalid, "answered 400: Bad Request"},
		{"broken", 500, "<html>oops", page, fault.Unavailable, "try again later"},
		{"overloaded", 503, "", http.Header{"Retry-After": {"300"}}, fault.Unavailable, "try again in 5 minutes"},
		{"repeats the key", 400, echo, nil, fault.Invalid, "answered 400"},
		{"a page", 200, "searxng_403.html", page, fault.Unavailable, "a web page instead of data"},
		{"a page that says it is none", 200, "searxng_403.html", nil, fault.Unavailable, "a web page instead of data"},
		{"half", 200, `{"results": [{"url": "https`, nil, fault.Unavailable, "check web.base_url"},
		{"nothing", 200, "", nil, fault.Unavailable, "check web.base_url"},
		{"a list", 200, "[]", nil, fault.Unavailable, "check web.base_url"},
		{"another shape", 200, `{"hits": []}`, nil, fault.Unavailable, "check web.base_url"},
		{"two", 200, `{"results": []} {"results": []}`, nil, fault.Unavailable, "check web.base_url"},
		{"too large", 200, strings.Repeat(" ", 1<<20+1), nil, fault.TooLarge, "larger than"},
	} {
		u.say(t, c.status, c.body, c.header)
		_, err := s.Search(t.Context(), Query{Text: "private words"})
		t.Run(c.name, func(t *testing.T) {
			mustFail(t, err, c.want, c.words)
			if c.status != 200 && !strings.Contains(err.Error(), fmt.Sprintf("%s answered %d", s.(*searcher).title, c.status)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// mustFail checks the kind of an error and its words, and that it tells nothing
// that is private.
func mustFail(t *testing.T, err error, kind fault.Kind, words string) {
	t.Helper()
	if err == nil || fault.Of(err) != kind || !strings.Contains(err.Error(), words) {
		t.Fatalf("%v (%s), want %s: %q", err, fault.Of(err), kind, words)
	}
	for _, private := range []string{"sesame", "private", "words"} {
		if strings.Contains(err.Error(), private) {
			t.Errorf("%q stands in: %v", private, err)
		}
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, language     string
		method, path, sent string
		query              map[string]string
		header, value      string
	}{
		{kind: "searxng", method: "GET", path: "/search", query: map[string]string{"q": "green tea", "format": "json"}, header: "Authorization", value: "Bearer " + secret},
		{kind: "searxng", language: "pt-BR", method: "GET", path: "/search", query: map[string]string{"q": "green tea", "format": "json", "language": "pt-BR"}},
		{
			kind: "brave", method: "GET", path: "/res/v1/web/search", query: map[string]string{"q": "green tea", "count": "7", "result_filter": "web"},
			header: "X-Subscription-Token", value: secret,
		},
		{kind: "brave", language: "ja", method: "GET", path: "/res/v1/web/search", query: map[string]string{"q": "green tea", "count": "7", "result_filter": "web", "search_lang": "jp"}},
		{
			kind: "google", method: "GET", path: "/customsearch/v1", query: map[string]string{"q": "green tea", "num": "7", "cx": "0123456789abcdef0"},
			header: "X-Goog-Api-Key", value: secret,
		},
		{kind: "google", language: "de-AT", method: "GET", path: "/customsearch/v1", query: map[string]string{"q": "green tea", "num": "7", "cx": "0123456789abcdef0", "lr": "lang_de"}},
		{
			kind: "tavily", language: "de", method: "POST", path: "/search", sent: `{"query":"green tea","max_results":7}`, query: map[string]string{},
			header: "Authorization", value: "Bearer " + secret,
		},
	} {
		u := serve(t)
		u.say(t, 200, c.kind+"_empty.json", nil)
		if _, err := searcherAt(t, c.kind, u).Search(t.Context(), Query{Text: " green\n tea ", Limit: 7, Language: c.language}); err != nil {
			t.Fatal(err)
		}
		query := map[string]string{}
		for k, v := range u.got.URL.Query() {
			query[k] = strings.Join(v, "|")
		}
		if u.got.Method != c.method || u.got.URL.Path != c.path || u.sent != c.sent || !reflect.DeepEqual(query, c.query) {
			t.Errorf("%s: %s %s %v %s", c.kind, u.got.Method, u.got.URL.Path, query, u.sent)
		}
		if c.header != "" && u.got.Header.Get(c.header) != c.value || u.got.Header.Get("Accept") != "application/json" || u.got.UserAgent() != "Lore" {
			t.Errorf("%s: %v", c.kind, u.got.Header)
		}
		if c.method == "POST" && u.got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", c.kind, u.got.Header)
		}
	}
}

// TestMostResults asks for more than a service gives, which it would refuse.
func TestMostResults(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"brave": "count=20&", "google": "num=10&", "tavily": `"max_results":20`} {
		u := serve(t)
		u.say(t, 200, kind+"_empty.json", nil)
		if _, err := searcherAt(t, kind, u).Search(t.Context(), Query{Text: "tea", Limit: 1000}); err != nil {
			t.Fatal(err)
		}
		if got := u.got.URL.RawQuery + "&" + u.sent; !strings.Contains(got, want) {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// TestTheirOwnRefusals are answers in which the words tell more than the status.
func TestTheirOwnRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   string
		status int
		body   string
		want   fault.Kind
		words  string
	}{
		{"searxng", 403, "searxng_403.html", fault.Denied, "SearXNG answered 403: Forbidden; add json to search.formats"},
		{"searxng", 200, "searxng_403.html", fault.Unavailable, "add json to search.formats"},
		{"searxng", 200, "searxng_silent.json", fault.Unavailable, "SearXNG got no response from google: CAPTCHA, brave: too many requests"},
		{"searxng", 401, "", fault.Denied, "the credentials for its proxy"},
		{"brave", 422, "brave_422_key.json", fault.Denied, "Brave Search answered 422: The provided subscription token is invalid.; check the key"},
		{"brave", 422, "brave_422_missing.json", fault.Denied, "check the key"},
		{"brave", 422, "brave_422_query.json", fault.Invalid, "Unable to validate request parameter(s)"},
		{"brave", 429, "brave_429.json", fault.Busy, "Request rate limit exceeded for plan."},
		{"google", 400, "google_400_key.json", fault.Denied, "API key not valid"},
		{"google", 403, "google_403_off.json", fault.Denied, "has not been used in project"},
		{"google", 403, "google_403_daily.json", fault.Busy, "used up"},
		{"google", 429, "google_429.json", fault.Busy, "Queries per day"},
		{"tavily", 401, "tavily_401.json", fault.Denied, "missing or invalid API key"},
		{"tavily", 429, "tavily_429.json", fault.Busy, "excessive requests"},
		{"tavily", 432, "tavily_432.json", fault.Busy, "your key's quota is used up"},
	} {
		u := serve(t)
		u.say(t, c.status, c.body, nil)
		_, err := searcherAt(t, c.kind, u).Search(t.Context(), Query{Text: "tea"})
		mustFail(t, err, c.want, c.words)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	key := func() string { return secret }
	for _, c := range []struct {
		config Config
		words  string // "" is no error
	}{
		{Config{Kind: "searxng", BaseURL: "http://localhost:8080"}, ""},
		{Config{Kind: "brave", Key: key}, ""},
		{Config{Kind: "tavily", Key: key}, ""},
		{Config{Kind: "google", Key: key, Engine: "x"}, ""},
		{Config{Kind: "bing"}, "use searxng, brave, google, tavily"},
		{Config{Kind: "searxng"}, "web.base_url: is required for searxng"},
		{Config{Kind: "searxng", BaseURL: "localhost:8080"}, "web.base_url: is not a server address"},
		{Config{Kind: "searxng", BaseURL: "http://me:sesame@host"}, "web.base_url: is not a server address"},
		{Config{Kind: "brave"}, "web.key_env: is required for brave"},
		{Config{Kind: "google", Key: key}, "web.engine: is required for google"},
	} {
		s, err := New(c.config, nil)
		if c.words == "" {
			if err != nil || s.Name() != c.config.Kind {
				t.Errorf("%+v: %v", c.config.Kind, err)
			}
			continue
		}
		mustFail(t, err, fault.Invalid, c.words)
	}
	s, err := New(Config{Kind: "brave", Key: func() string { return "" }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Search(t.Context(), Query{Text: "tea"})
	mustFail(t, err, fault.Denied, "needs a key; put the key in the environment variable that web.key_env names")
}

// TestShapesInside are answers whose lesser parts are of another shape: what
// matters is read all the same.
func TestShapesInside(t *testing.T) {
	t.Parallel()
	for kind, body := range map[string]string{
		"searxng": `{"results":[{"url":"https://example.org/","title":null,"new":{}}],"unresponsive_engines":{"google":"CAPTCHA"},"answers":3}`,
		"brave":   `{"type":"search","web":{"results":[{"url":"https://example.org/","title":null,"page_age":null,"extra_snippets":[1]}]},"query":0}`,
		"google":  `{"kind":"customsearch#search","items":[{"link":"https://example.org/","pagemap":{"metatags":{"a":1}}}],"queries":[]}`,
		"tavily":  `{"results":[{"url":"https://example.org/","score":"high","published_date":null}],"images":{}}`,
	} {
		u := serve(t)
		u.say(t, 200, body, nil)
		got, err := searcherAt(t, kind, u).Search(t.Context(), Query{Text: "tea"})
		if want := (Result{URL: "https://example.org/", Title: "https://example.org/", Engine: kind}); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
	}
}

// TestPassword is SearXNG behind a server that wants a name and a password.
func TestPassword(t *testing.T) {
	t.Parallel()
	u := serve(t)
	u.say(t, 200, "searxng_empty.json", nil)
	s := searcherAt(t, "searxng", u).(*searcher)
	s.key = func() string { return "me:open sesame" }
	if _, err := s.Search(t.Context(), Query{Text: "tea"}); err != nil {
		t.Fatal(err)
	}
	if user, password, ok := u.got.BasicAuth(); !ok || user != "me" || password != "open sesame" {
		t.Errorf("%q %q", user, password)
	}
}

func TestFromSettings(t *testing.T) {
	t.Parallel()
	u := serve(t)
	u.say(t, 200, "searxng.json", nil)
	set := map[string]string{"web.search": "off"}
	get := func(key string) (string, error) { return set[key], nil }
	env := func(name string) string { return map[string]string{"MY_KEY": secret}[name] }
	if s, err := FromSettings(get, env); s != nil || err != nil {
		t.Errorf("off: %v, %v", s, err)
	}
	set = map[string]string{"web.search": "searxng", "web.base_url": u.URL}
	s, err := FromSettings(get, env)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Search(t.Context(), Query{Text: "tea"}); err != nil || len(got) != 5 {
		t.Errorf("%d results, %v", len(got), err)
	}
	if u.got.Header.Get("Authorization") != "" {
		t.Error("a key that nobody named was sent")
	}
	// What was configured is open, and what it sends to is not.
	other := serve(t)
	other.say(t, 200, "searxng.json", nil)
	u.say(t, 302, "", http.Header{"Location": {other.URL}})
	_, err = s.Search(t.Context(), Query{Text: "tea"})
	mustFail(t, err, fault.Denied, "it is this computer")
	if other.got != nil {
		t.Error("another server was reached")
	}
	set = map[string]string{"web.search": "brave", "web.base_url": u.URL, "web.key_env": "MY_KEY"}
	if s, err = FromSettings(get, env); err != nil {
		t.Fatal(err)
	}
	u.say(t, 200, "brave.json", nil)
	if got, err := s.Search(t.Context(), Query{Text: "tea"}); err != nil || len(got) != 5 || u.got.Header.Get("X-Subscription-Token") != secret {
		t.Errorf("%d results, %v", len(got), err)
	}
	set["web.base_url"] = "nowhere"
	_, err = FromSettings(get, env)
	mustFail(t, err, fault.Invalid, "web.base_url")
	_, err = FromSettings(func(string) (string, error) { return "", fault.New(fault.Invalid, "no such setting") }, env)
	mustFail(t, err, fault.Invalid, "no such setting")
}
