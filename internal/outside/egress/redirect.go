package egress

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"lore/internal/fault"
)

// kept are the headers that another host may see. All others stay behind:
// nobody can list the names under which keys are sent.
var kept = []string{"Accept", "Accept-Language", "User-Agent"}

// redirect decides whether a request may go where an answer sends it. The
// address itself is judged like any other when it is connected to.
func (c *Client) redirect(next *http.Request, via []*http.Request) error {
	if len(via) > max(0, c.o.MaxRedirects) {
		return fault.New(fault.Denied, "%s redirects more than %d times", plain(via[0].URL.Host), max(0, c.o.MaxRedirects))
	}
	if next.URL.Scheme != "https" && slices.ContainsFunc(via, func(r *http.Request) bool { return r.URL.Scheme == "https" }) {
		return fault.Fix(fault.Denied, "use another address", "%s redirects from https to %s, which is not encrypted", plain(via[0].URL.Host), cut(next.URL.Scheme))
	}
	// It would tell the next host the address, and what stands in it.
	next.Header.Del("Referer")
	home := origin(via[0].URL)
	if origin(next.URL) == home && !slices.ContainsFunc(via, func(r *http.Request) bool { return origin(r.URL) != home }) {
		return nil
	}
	if next.Body != nil && next.Body != http.NoBody {
		return fault.New(fault.Denied, "refused: %s redirects the request and its content to %s", plain(via[0].URL.Host), plain(next.URL.Host))
	}
	if carries(next.URL, via[0]) {
		return fault.New(fault.Denied, "refused: %s redirects a request that contains a key to %s", plain(via[0].URL.Host), plain(next.URL.Host))
	}
	for name := range next.Header {
		if !slices.Contains(kept, name) {
			next.Header.Del(name)
		}
	}
	return nil
}

func origin(u *url.URL) string { return u.Scheme + "://" + hostPort(u) }

// secrets are parts of the names under which keys are sent in an address.
var secrets = []string{"key", "token", "secret", "password", "auth", "signature"}

// carries tells whether an address repeats a key of the first request.
func carries(u *url.URL, first *http.Request) bool {
	var keys []string
	for name, values := range first.URL.Query() {
		if slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(strings.ToLower(name), s) }) {
			keys = append(keys, values...)
		}
	}
	for name, values := range first.Header {
		if slices.Contains(kept, name) || name == "Content-Type" {
			continue
		}
		for _, v := range values {
			keys = append(keys, strings.TrimPrefix(strings.TrimPrefix(v, "Bearer "), "Basic "))
		}
	}
	written := u.String()
	if plain, err := url.QueryUnescape(written); err == nil {
		written += "\n" + plain
	}
	return slices.ContainsFunc(keys, func(k string) bool { return len(k) >= 8 && strings.Contains(written, k) })
}
