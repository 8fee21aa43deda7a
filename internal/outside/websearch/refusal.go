package websearch

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
)

// A reason is why a service said no, when its words tell more than the status.
type reason int

const (
	byStatus reason = iota
	badKey
	tooOften
	usedUp
	noJSON
)

// fixJSON is what to do about the default of SearXNG.
const fixJSON = "add json to search.formats in its settings.yml, and restart it; most public instances do not allow it"

// refusal makes a fault of an answer that is not 200.
func (s *searcher) refusal(answer *http.Response, body []byte) error {
	status := answer.StatusCode
	said, why := s.said(status, body)
	said = plain(said, 200)
	if said == "" {
		said = http.StatusText(status)
	}
	message := fmt.Sprintf("%s answered %d: %s", s.title, status, said)
	if why == byStatus {
		switch status {
		case http.StatusUnauthorized, http.StatusForbidden:
			why = badKey
		case http.StatusPaymentRequired:
			why = usedUp
		case http.StatusTooManyRequests:
			why = tooOften
		}
	}
	switch {
	case why == noJSON:
		return fault.Fix(fault.Denied, fixJSON, "%s", message)
	case why == badKey && !s.needsKey:
		return fault.Fix(fault.Denied, "put the credentials for its proxy in the environment variable that web.key_env names", "%s", message)
	case why == badKey:
		return fault.Fix(fault.Denied, "check the key in the environment variable that web.key_env names, and its permissions", "%s", message)
	case why == usedUp:
		return fault.Fix(fault.Busy, "your key's quota is used up: wait until it resets, or raise its limit", "%s", message)
	case why == tooOften:
		return fault.Fix(fault.Busy, "try again "+when(answer.Header.Get("Retry-After")), "%s", message)
	case status == http.StatusNotFound, status < http.StatusBadRequest:
		return fault.Fix(fault.Unavailable, "check web.base_url", "%s", message)
	case status < http.StatusInternalServerError:
		return fault.Fix(fault.Invalid, "rephrase the query", "%s", message)
	}
	return fault.Fix(fault.Unavailable, "try again "+when(answer.Header.Get("Retry-After")), "%s", message)
}

// strange is an answer that says 200 and is not what the service answers.
func (s *searcher) strange(answer *http.Response, body []byte, cause error) error {
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	page := err == nil && kind == "text/html" || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
	if page && s.kind == searxng.kind {
		return fault.Fix(fault.Unavailable, fixJSON, "%s responded with a web page instead of data", s.title)
	}
	if page {
		return fault.Fix(fault.Unavailable, "check web.base_url", "%s responded with a web page instead of data", s.title)
	}
	return fault.Fix(fault.Unavailable, "check web.base_url", "the response does not look like it came from %s: %s", s.title, plain(cause.Error(), 120))
}

// when reads a Retry-After: seconds, or a time.
func when(header string) string {
	n, err := strconv.Atoi(strings.TrimSpace(header))
	if at, e := http.ParseTime(header); err != nil && e == nil {
		n, err = int(time.Until(at).Round(time.Second).Seconds()), nil
	}
	switch {
	case err != nil || n <= 0:
		return "later"
	case n == 1:
		return "in a second"
	case n < 120:
		return fmt.Sprintf("in %d seconds", n)
	case n < 2*60*60:
		return fmt.Sprintf("in %d minutes", (n+59)/60)
	case n < 48*60*60:
		return fmt.Sprintf("in %d hours", (n+3599)/3600)
	}
	return "in some days"
}

// redact takes a key out of an error, in every form in which it was sent:
// servers repeat what they are told.
func redact(err error, key string) error {
	var r *fault.Report
	if len(key) < 4 || !errors.As(err, &r) {
		return err
	}
	forms := []string{key, url.QueryEscape(key), url.PathEscape(key), base64.StdEncoding.EncodeToString([]byte(key))}
	if _, password, ok := strings.Cut(key, ":"); ok && len(password) >= 4 {
		forms = append(forms, password)
	}
	own := *r
	for _, f := range forms {
		own.Message = strings.ReplaceAll(own.Message, f, "(the key)")
	}
	return &own
}
