package websearch

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// google is the Custom Search JSON API.
var google = service{
	kind: "google", title: "Google", home: "https://www.googleapis.com", path: "customsearch/v1", needsKey: true, limit: 10,
	ask: func(r *http.Request, query url.Values, key string, q Query, engine string) error {
		query.Set("q", q.Text)
		query.Set("cx", engine)
		query.Set("num", strconv.Itoa(q.Limit))
		if l := googleLanguage(q.Language); l != "" {
			query.Set("lr", l)
		}
		// Its own examples write the key into the address, where logs keep it.
		r.Header.Set("X-Goog-Api-Key", key)
		return nil
	},
	read: func(body []byte) ([]Result, error) {
		var in struct {
			Kind string `json:"kind"`
			// Items are left out when nothing was found.
			Items []struct {
				Link    string `json:"link"`
				Title   string `json:"title"`
				Snippet string `json:"snippet"`
				// PageMap is what a page says of itself, in whatever shape.
				PageMap json.RawMessage `json:"pagemap"`
			} `json:"items"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		if in.Kind != "customsearch#search" {
			return nil, errors.New("it is not of the kind customsearch#search")
		}
		var out []Result
		for _, r := range in.Items {
			out = append(out, Result{URL: r.Link, Title: r.Title, Snippet: r.Snippet, Published: publishedTime(r.PageMap)})
		}
		return out, nil
	},
	said: func(_ int, body []byte) (string, reason) {
		var in struct {
			Error struct {
				Message string `json:"message"`
				Status  string `json:"status"`
				Errors  []struct {
					Reason string `json:"reason"`
				} `json:"errors"`
				Details []struct {
					Reason string `json:"reason"`
				} `json:"details"`
			} `json:"error"`
		}
		if json.Unmarshal(body, &in) != nil {
			return "", byStatus
		}
		var reasons []string
		for _, e := range in.Error.Errors {
			reasons = append(reasons, e.Reason)
		}
		for _, e := range in.Error.Details {
			reasons = append(reasons, e.Reason)
		}
		has := func(r string) bool { return slices.Contains(reasons, r) }
		switch {
		case has("API_KEY_INVALID"), has("keyInvalid"): // with 400
			return in.Error.Message, badKey
		case has("dailyLimitExceeded"), has("quotaExceeded"): // with 403
			return in.Error.Message, usedUp
		case has("rateLimitExceeded"), has("userRateLimitExceeded"), in.Error.Status == "RESOURCE_EXHAUSTED":
			return in.Error.Message, tooOften
		}
		return in.Error.Message, byStatus
	},
}

// publishedTime is when a page says that it was published, or "".
func publishedTime(pageMap []byte) string {
	var in struct {
		MetaTags []map[string]any `json:"metatags"`
	}
	if json.Unmarshal(pageMap, &in) != nil {
		return ""
	}
	for _, tags := range in.MetaTags {
		if s, ok := tags["article:published_time"].(string); ok {
			return s
		}
	}
	return ""
}

// googleLanguage is the name that Google has for a language.
func googleLanguage(code string) string {
	base, region, _ := strings.Cut(strings.ToLower(code), "-")
	switch {
	case base == "":
		return ""
	case base == "zh" && (region == "tw" || region == "hk" || region == "hant"):
		return "lang_zh-TW"
	case base == "zh":
		return "lang_zh-CN"
	case base == "he":
		return "lang_iw"
	}
	return "lang_" + base
}
