package websearch

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
)

// tavily is the Tavily Search API.
var tavily = service{
	kind: "tavily", title: "Tavily", home: "https://api.tavily.com", path: "search", needsKey: true, limit: 20,
	ask: func(r *http.Request, _ url.Values, key string, q Query, _ string) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return send(r, struct {
			Query string `json:"query"`
			Max   int    `json:"max_results"`
		}{q.Text, q.Limit})
	},
	read: func(body []byte) ([]Result, error) {
		var in struct {
			Results *[]struct {
				URL           string `json:"url"`
				Title         string `json:"title"`
				Content       string `json:"content"`
				PublishedDate string `json:"published_date"`
			} `json:"results"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		if in.Results == nil {
			return nil, errors.New("it has no results")
		}
		var out []Result
		for _, r := range *in.Results {
			out = append(out, Result{URL: r.URL, Title: r.Title, Snippet: r.Content, Published: r.PublishedDate})
		}
		return out, nil
	},
	said: func(status int, body []byte) (string, reason) {
		why := byStatus
		if status == 432 || status == 433 { // its own: the plan, and what is paid as one goes
			why = usedUp
		}
		var in struct {
			Detail struct {
				Error string `json:"error"`
			} `json:"detail"`
		}
		if json.Unmarshal(body, &in) != nil {
			return "", why
		}
		return in.Detail.Error, why
	},
}
