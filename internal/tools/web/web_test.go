package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lore/internal/outside/egress"
	"lore/internal/outside/websearch"
	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/web"
)

// engine is a search engine that knows one page.
type engine struct{}

func (engine) Name() string { return "engine" }
func (engine) Search(_ context.Context, q websearch.Query) ([]websearch.Result, error) {
	if !strings.Contains(q.Text, "tea") {
		return nil, nil
	}
	return []websearch.Result{{URL: "https://example.org/tea", Title: "Tea", Snippet: "All about tea.", Published: "2026-01-02", Engine: "engine"}}, nil
}

func TestTools(t *testing.T) {
	tooltest.Run(t, func(p tooltest.Place) []*tool.Tool {
		return web.Tools(web.Env{
			Vault: p.Vault, Search: func() (websearch.Searcher, error) { return engine{}, nil },
			Client: func() (*egress.Client, error) { return egress.New(egress.Options{}) },
		})
	})
}

// site serves pages, and a client that may reach it.
func site(t *testing.T, pages map[string]http.HandlerFunc) (web.Env, string) {
	t.Helper()
	mux := http.NewServeMux()
	for path, h := range pages {
		mux.HandleFunc(path, h)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	host := strings.TrimPrefix(s.URL, "http://")
	return web.Env{YouTube: s.URL, Client: func() (*egress.Client, error) { return egress.New(egress.Options{Allow: []string{host}}) }}, s.URL
}

func says(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(text)) // the reader may be gone
	}
}

func TestDownload(t *testing.T) {
	t.Parallel()
	env, at := site(t, map[string]http.HandlerFunc{
		"/page": says("text/html; charset=utf-8", `<html><head><title>A "page": two</title><meta property="article:published_time" content="2026-03-04T05:06:07Z"></head><body><nav>Menu</nav><main><h2>Tea</h2><p>Hot &amp; [[Private]] <a href="/x">here</a>.</p></main></body></html>`),
		"/json": says("application/json", "{\"a\": \"```\"}\n"),
		"/file": says("application/pdf", "%PDF"),
	})
	out, set, err := web.DownloadUrl{URL: at + "/page#part"}.Run(t.Context(), env)
	if err != nil || out.Title != `A "page": two` || out.Published != "2026-03-04" || out.Text != "## Tea\n\nHot & \\[\\[Private]] [here]("+at+"/x).\n" || len(set) != 0 {
		t.Errorf("%+v, %v, %v", out, set, err)
	}
	out, set, err = web.DownloadUrl{URL: at + "/page", SaveAs: "Inbox/A page"}.Run(t.Context(), env)
	want := "---\ntitle: 'A \"page\": two'\nsource: " + at + "/page\npublished: \"2026-03-04\"\nretrieved: "
	if err != nil || out.Path != "Inbox/A page.md" || out.Text != "" || len(set) != 1 || !strings.HasPrefix(*set[0].After, want) || !strings.Contains(*set[0].After, "\nuntrusted: true\n---\n\n# A \"page\": two\n\n## Tea\n") {
		t.Errorf("%+v, %v\n%s", out, err, *set[0].After)
	}
	if _, set, err = (web.DownloadUrl{URL: at + "/json", SaveAs: "Data.md"}).Run(t.Context(), env); err != nil || !strings.HasSuffix(*set[0].After, "\n````\n{\"a\": \"```\"}\n````\n") {
		t.Errorf("%v %s", err, *set[0].After)
	}
	for _, in := range []web.DownloadUrl{{URL: at + "/file"}, {URL: at + "/none"}, {URL: at + "/page", SaveAs: "run.sh"}, {URL: at + "/page", SaveAs: "../out.md"}, {URL: "file:///etc/passwd"}, {URL: "http://a:b@example.org/"}, {URL: "http://127.0.0.1:9/"}, {URL: "http://169.254.169.254/"}} {
		if _, _, err := in.Run(t.Context(), env); err == nil {
			t.Errorf("%+v was fetched", in)
		} else if strings.Contains(err.Error(), "a:b") {
			t.Errorf("the password stands in %v", err)
		}
	}
}

func TestTranscript(t *testing.T) {
	t.Parallel()
	page := func(tracks string) http.HandlerFunc {
		return says("text/html", `<html><title>How to brew - YouTube</title><script>var x = {"captions":{"captionTracks":`+tracks+`,"more":1}};</script></html>`)
	}
	env, _ := site(t, map[string]http.HandlerFunc{
		"/watch": func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Query().Get("v") {
			case "aaaaaaaaaaa":
				page(`[{"baseUrl":"\/api\/timedtext?v=a&lang=en","languageCode":"en","kind":"asr"},{"baseUrl":"\/api\/timedtext?v=a&lang=de-DE","languageCode":"de-DE"}]`)(w, r)
			case "bbbbbbbbbbb":
				page(`[{"baseUrl":"https:\/\/evil.example\/x","languageCode":"en"}]`)(w, r)
			default:
				says("text/html", "<html><title>Nothing</title></html>")(w, r)
			}
		},
		"/api/timedtext": func(w http.ResponseWriter, r *http.Request) {
			says("application/json", `{"events":[{"tStartMs":0,"segs":[{"utf8":"`+r.URL.Query().Get("lang")+`: first "},{"utf8":"you\n"}]},{"tStartMs":61500,"segs":[{"utf8":"boil\u200b water"}]},{"tStartMs":99}]}`)(w, r)
		},
	})
	for _, c := range []struct{ url, language, want string }{
		{"https://www.youtube.com/watch?v=aaaaaaaaaaa&t=3", "", "[0:00] de-DE: first you\n[1:01] boil water\n"},
		{"https://youtu.be/aaaaaaaaaaa", "en", "[0:00] en: first you\n[1:01] boil water\n"},
		{"https://m.youtube.com/shorts/aaaaaaaaaaa", "de", "[0:00] de-DE: first you\n[1:01] boil water\n"},
		{"aaaaaaaaaaa", "fr", `error(invalid): language: the video has no subtitles in "fr"`},
		{"bbbbbbbbbbb", "", "not on the site of the video"},
		{"ccccccccccc", "", "has no subtitles"},
	} {
		out, _, err := web.YoutubeTranscription{URL: c.url, Language: c.language}.Run(t.Context(), env)
		if err != nil {
			if words := strings.TrimPrefix(c.want, "error(invalid): "); !strings.Contains(err.Error(), strings.TrimPrefix(words, "language: ")) {
				t.Errorf("%s: %v", c.url, err)
			}
			continue
		}
		if got := out.View().Text; got != c.want || out.Title != "How to brew" {
			t.Errorf("%s: %q, %q", c.url, out.Title, got)
		}
	}
}
