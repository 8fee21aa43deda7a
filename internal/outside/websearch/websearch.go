// Package websearch asks search engines on the web: SearXNG, Brave, Google and
// Tavily, all by the same contract. Every request goes out through egress, and
// nothing of an answer is believed: texts lose their markup and what cannot be
// seen, addresses must be those of web pages, everything has a length.
package websearch

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"lore/internal/fault"
	"lore/internal/outside/egress"
)

// A Query is what is looked for.
type Query struct {
	// Text is what a person would type, at the most [MaxText] characters.
	Text string
	// Limit is how many results are wanted; 0 is 10, more than [MaxLimit] is
	// MaxLimit. A service may give less: Google gives 10 at the most.
	Limit int
	// Language is a code like "de" or "pt-BR"; "" is any. It is a wish: Tavily
	// knows no languages, and others not all of them.
	Language string
}

// Limits of a [Query]: the services refuse longer texts.
const (
	MaxText  = 400
	MaxLimit = 20
)

// A Result is one page that was found. All of it was written by strangers.
type Result struct {
	URL     string `json:"url"`
	Title   string `json:"title"`
	Snippet string `json:"snippet"`
	// Published is a date like 2024-05-31, or "" when nobody told.
	Published string `json:"published,omitempty"`
	// Engine is who found it; behind SearXNG there are many.
	Engine string `json:"engine"`
}

// A Searcher finds pages. Results come in the order of the service, without
// pages that came before, and none is nil and no error. Errors are faults that
// say what to do; no key stands in them.
type Searcher interface {
	Name() string
	Search(ctx context.Context, q Query) ([]Result, error)
}

// A Config describes a service.
type Config struct {
	// Kind is one of [Kinds].
	Kind string
	// BaseURL is where it answers. SearXNG needs one; the others have their own.
	BaseURL string
	// Key is asked before each request; nil or "" is none. SearXNG needs none:
	// what is given goes to the server before it, as a token or as user:password.
	Key func() string
	// Engine is the cx of Google: which of your search engines is asked.
	Engine string
}

// A service is what differs between the searchers.
type service struct {
	kind, title, home string // home is "" when only a person knows it
	path              string
	needsKey          bool
	limit             int // of one answer; 0 is none
	// ask puts a query into a request whose URL has its path already.
	ask func(r *http.Request, query url.Values, key string, q Query, engine string) error
	// read finds the results, or says that this is no answer of the service.
	read func(body []byte) ([]Result, error)
	// said finds the words of a refusal, and what kind of refusal they tell of.
	said func(status int, body []byte) (string, reason)
}

var services = []service{searxng, brave, google, tavily}

// Kinds are the services there are.
func Kinds() []string {
	var out []string
	for _, s := range services {
		out = append(out, s.kind)
	}
	return out
}

// New makes the searcher of a configuration.
func New(c Config, client *egress.Client) (Searcher, error) {
	i := slices.IndexFunc(services, func(s service) bool { return s.kind == c.Kind })
	if i < 0 {
		return nil, fault.Field("web.search", "use "+strings.Join(Kinds(), ", "), "%q is not a supported search engine", c.Kind)
	}
	s := services[i]
	if c.BaseURL == "" {
		c.BaseURL = s.home
	}
	if c.BaseURL == "" {
		return nil, fault.Field("web.base_url", "set it to the address of your "+s.title+", like http://localhost:8080", "is required for %s", s.kind)
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fault.Field("web.base_url", "write it like http://localhost:8080 or https://search.example.org", "is not a server address")
	}
	if s.needsKey && c.Key == nil {
		return nil, fault.Field("web.key_env", "set it to the name of the environment variable that holds the key", "is required for %s", s.kind)
	}
	if s.kind == google.kind && c.Engine == "" {
		return nil, fault.Field("web.engine", "set it to the ID (\"cx\") of your search engine; see https://programmablesearchengine.google.com", "is required for google")
	}
	base.RawQuery, base.Fragment = "", ""
	return &searcher{service: s, base: base.JoinPath(s.path), engine: c.Engine, key: c.Key, client: client}, nil
}

type searcher struct {
	service
	base   *url.URL
	engine string
	key    func() string
	client *egress.Client
}

// Name is the kind of the service.
func (s *searcher) Name() string { return s.kind }

// Search implements [Searcher].
func (s *searcher) Search(ctx context.Context, q Query) ([]Result, error) {
	q, err := q.clean(s.limit)
	if err != nil {
		return nil, err
	}
	key := ""
	if s.key != nil {
		key = strings.TrimSpace(s.key())
	}
	if key == "" && s.needsKey {
		return nil, fault.Fix(fault.Denied, "put the key in the environment variable that web.key_env names", "%s needs a key", s.title)
	}
	found, err := s.fetch(ctx, q, key)
	if err != nil {
		return nil, redact(err, key)
	}
	return tidy(found, s.kind, q.Limit), nil
}

func (q Query) clean(most int) (Query, error) {
	q.Text = strings.Join(strings.Fields(visible(strings.ToValidUTF8(q.Text, "\uFFFD"))), " ")
	switch {
	case q.Text == "":
		return q, fault.Field("query", "give a query", "is empty")
	case utf8.RuneCountInString(q.Text) > MaxText:
		return q, fault.Field("query", "shorten it", "is longer than %d characters", MaxText)
	case q.Language != "" && !language.MatchString(q.Language):
		return q, fault.Field("language", "use a code like de or pt-BR", "%q is not a language code", short(q.Language, 20))
	}
	if q.Limit <= 0 {
		q.Limit = 10
	}
	q.Limit = min(q.Limit, MaxLimit)
	if most > 0 {
		q.Limit = min(q.Limit, most)
	}
	return q, nil
}

func (s *searcher) fetch(ctx context.Context, q Query, key string) ([]Result, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base.String(), nil)
	if err != nil {
		return nil, fault.Field("web.base_url", "write it like http://localhost:8080", "is not a server address")
	}
	r.Header.Set("Accept", "application/json")
	query := url.Values{}
	if err := s.ask(r, query, key, q, s.engine); err != nil {
		return nil, err
	}
	r.URL.RawQuery = query.Encode()
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, s.refusal(answer, body)
	}
	found, err := s.read(body)
	if err != nil && fault.Of(err) == fault.Internal { // not JSON, or of another shape
		return nil, s.strange(answer, body, err)
	}
	return found, err
}

// send makes a request carry a body.
func send(r *http.Request, in any) error {
	b, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r.Method = http.MethodPost
	r.Header.Set("Content-Type", "application/json")
	r.ContentLength = int64(len(b))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	r.Body, err = r.GetBody()
	return err
}
