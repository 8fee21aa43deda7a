package websearch

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"lore/internal/fault"
)

// searxng is a search engine of one's own, which asks others.
var searxng = service{
	kind: "searxng", title: "SearXNG", path: "search",
	ask: func(r *http.Request, query url.Values, key string, q Query, _ string) error {
		query.Set("q", q.Text)
		query.Set("format", "json")
		if q.Language != "" {
			query.Set("language", q.Language)
		}
		// SearXNG has no keys; a server before it may want one.
		if user, password, ok := strings.Cut(key, ":"); ok {
			r.SetBasicAuth(user, password)
		} else if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		return nil
	},
	read: func(body []byte) ([]Result, error) {
		var in struct {
			Results *[]struct {
				URL           string `json:"url"`
				Title         string `json:"title"`
				Content       string `json:"content"`
				PublishedDate string `json:"publishedDate"`
				Engine        string `json:"engine"`
			} `json:"results"`
			Unresponsive json.RawMessage `json:"unresponsive_engines"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		if in.Results == nil {
			return nil, errors.New("it has no results")
		}
		var out []Result
		for _, r := range *in.Results {
			out = append(out, Result{URL: r.URL, Title: r.Title, Snippet: r.Content, Published: r.PublishedDate, Engine: r.Engine})
		}
		// Nothing found and nobody asked look the same, and mean the opposite.
		if silent := engines(in.Unresponsive); len(out) == 0 && silent != "" {
			return nil, fault.Fix(fault.Unavailable, "try again later, or check the engines in your SearXNG instance", "SearXNG got no response from %s", silent)
		}
		return out, nil
	},
	said: func(status int, body []byte) (string, reason) {
		if status == http.StatusForbidden {
			return "", noJSON
		}
		return "", byStatus
	},
}

// engines names those that did not answer, "" when all did. They are told as
// pairs of a name and why.
func engines(raw []byte) string {
	var pairs [][]any
	if json.Unmarshal(raw, &pairs) != nil {
		return ""
	}
	var out []string
	for _, p := range pairs[:min(5, len(pairs))] {
		var words []string
		for _, w := range p {
			if s, ok := w.(string); ok {
				words = append(words, plain(s, 60))
			}
		}
		out = append(out, strings.Join(words, ": "))
	}
	return strings.Join(out, ", ")
}
