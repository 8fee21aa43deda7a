package websearch

import (
	"lore/internal/note/invisible"
	"net/url"
	"slices"
	"strings"
)

// maxURL is how long an address may be: one cut short leads elsewhere.
const maxURL = 2000

// tidy makes results that can be shown of what a service said.
func tidy(found []Result, engine string, limit int) []Result {
	var out []Result
	seen := map[string]bool{}
	for _, r := range found {
		if len(out) == limit {
			break
		}
		address, key, ok := webAddress(r.URL)
		if !ok || seen[key] {
			continue
		}
		seen[key] = true
		clean := Result{
			URL: address, Title: plain(r.Title, maxTitle), Snippet: plain(r.Snippet, maxSnippet), Published: day(r.Published), Engine: plain(r.Engine, maxEngine),
		}
		if clean.Title == "" {
			clean.Title = short(address, maxTitle)
		}
		if clean.Engine == "" {
			clean.Engine = engine
		}
		out = append(out, clean)
	}
	return out
}

// webAddress is an address as it may be shown and opened, and what it is
// compared by. Everything beyond ASCII is escaped, so nothing in it is hidden.
func webAddress(s string) (address, key string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.ContainsFunc(u.Host, odd) {
		return "", "", false
	}
	u.RawQuery = escape(u.RawQuery)
	address = u.String()
	return address, same(*u), len(address) <= maxURL
}

// odd are characters that no name of a host has.
func odd(r rune) bool {
	return r <= ' ' || strings.ContainsRune(`"<>\^`+"`{|}", r) || invisible.Is(r) || joiner(r)
}

// escape does for a query what [url.URL.String] does for a path.
func escape(query string) string {
	var out strings.Builder
	for i := range len(query) {
		if b := query[i]; b <= ' ' || b >= 0x7f || strings.IndexByte("\"<>\\^`{|}", b) >= 0 {
			out.WriteString("%" + string("0123456789ABCDEF"[b>>4]) + string("0123456789ABCDEF"[b&15]))
		} else {
			out.WriteByte(b)
		}
	}
	return out.String()
}

// tracking are parameters that tell who clicked, not what is shown.
var tracking = []string{
	"gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid", "ttclid", "igshid", "igsh", "mc_cid", "mc_eid",
	"_ga", "_gl", "_hsenc", "_hsmi", "vero_id", "oly_enc_id", "oly_anon_id", "ref_src", "srsltid", "wickedid", "mkt_tok",
}

// same is what two addresses of one page have in common.
func same(u url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if p := u.Port(); p != "" && (u.Scheme != "http" || p != "80") && (u.Scheme != "https" || p != "443") {
		host += ":" + p
	}
	var kept []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(strings.ToLower(pair), "=")
		if pair != "" && !strings.HasPrefix(name, "utm_") && !slices.Contains(tracking, name) {
			kept = append(kept, pair)
		}
	}
	slices.Sort(kept)
	key := host + strings.TrimRight(u.EscapedPath(), "/") + "?" + strings.Join(kept, "&")
	if strings.HasPrefix(u.Fragment, "!") || strings.HasPrefix(u.Fragment, "/") { // pages drawn by a script have their path there
		key += "#" + u.Fragment
	}
	return key
}
