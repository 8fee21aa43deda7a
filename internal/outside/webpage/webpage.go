// Package webpage fetches one address and makes readable text of what is there: of
// a web page its main part as Markdown. It goes out through egress alone. Everything
// it returns was written by strangers: nothing of it runs, fetches, hides or links
// into a vault.
package webpage

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"lore/internal/fault"
	"lore/internal/note/invisible"
	"lore/internal/outside/egress"
)

// A Page is what was found at an address.
type Page struct {
	// URL is where it was found, after redirects.
	URL string
	// Title and Published are what the page says of itself; "" when it does not.
	Title     string
	Published string
	// Type is the media type, without parameters.
	Type string
	// Text is Markdown of a web page, unless it was asked for as it is.
	Text string
	// Bytes is how long the answer was.
	Bytes int
}

// maxPage is how much of a web page is made readable, in bytes.
const maxPage = 5 << 20

// Fetch gets what is at an address. raw leaves a web page as it is.
func Fetch(ctx context.Context, client *egress.Client, address string, raw bool) (Page, error) {
	u, err := Address(address)
	if err != nil {
		return Page{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, fault.Field("url", "use an address such as https://example.org/page", "is not a web address")
	}
	r.Header.Set("Accept", "text/html, text/markdown, text/plain, application/json;q=0.9, application/xml;q=0.8, */*;q=0.1")
	answer, err := client.Do(r)
	if err != nil {
		return Page{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return Page{}, refused(u, answer.StatusCode)
	}
	p := Page{URL: answer.Request.URL.String(), Type: typeOf(answer)}
	if !isText(p.Type) {
		return Page{}, fault.Fix(fault.Invalid, "give the address of a text or a web page", "%s is %s, not text", u.Hostname(), p.Type)
	}
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return Page{}, err
	}
	p.Bytes = len(b)
	text, err := decode(b, answer.Header.Get("Content-Type"), p.Type)
	if err != nil {
		return Page{}, err
	}
	if t, err := http.ParseTime(answer.Header.Get("Last-Modified")); err == nil {
		p.Published = t.UTC().Format(time.DateOnly)
	}
	if raw || !isPage(p.Type) {
		p.Text, _ = invisible.Strip(text)
		return p, nil
	}
	if len(text) > maxPage {
		return Page{}, fault.Fix(fault.TooLarge, "ask for it as raw text", "the page has %d bytes; the limit for reading it as Markdown is %d", len(text), maxPage)
	}
	return p, p.read(text, answer.Request.URL)
}

// Address checks what somebody gave as the address of a page.
func Address(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fault.Field("url", "use an address that begins with https:// or http://", "is not a web address")
	}
	if u.User != nil {
		return nil, fault.Field("url", "remove the part before the @", "contains a user name or password")
	}
	u.Fragment = ""
	return u, nil
}

func refused(u *url.URL, status int) error {
	kind, fix := fault.Unavailable, "try again later"
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		kind, fix = fault.NotFound, "check the address"
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusPaymentRequired:
		kind, fix = fault.Denied, "open it in a browser: the site does not give it to programs"
	}
	return fault.Fix(kind, fix, "%s answered with status %d (%s)", u.Hostname(), status, strings.ToLower(http.StatusText(status)))
}

// typeOf is the media type of an answer. One that has none is looked at by its name.
func typeOf(answer *http.Response) string {
	if t, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err == nil {
		return t
	}
	return "text/plain"
}

func isPage(t string) bool { return t == "text/html" || t == "application/xhtml+xml" }

func isText(t string) bool {
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml") ||
		t == "application/json" || t == "application/xml" || t == "application/javascript" || t == "application/yaml" || t == "application/toml"
}

// decode is an answer as UTF-8.
func decode(b []byte, contentType, kind string) (string, error) {
	r, err := charset.NewReader(strings.NewReader(string(b)), contentType)
	if err != nil {
		return "", fault.New(fault.Invalid, "the text is in an unknown character set")
	}
	out, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	if !isPage(kind) && utf8.Valid(b) {
		out = b // what says nothing of its letters is taken as it is
	}
	text := strings.ToValidUTF8(string(out), "\uFFFD")
	if strings.ContainsRune(text, 0) {
		return "", fault.New(fault.Invalid, "the answer is not text")
	}
	return text, nil
}
