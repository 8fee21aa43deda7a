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

// brave is the Brave Search API.
var brave = service{
	kind: "brave", title: "Brave Search", home: "https://api.search.brave.com", path: "res/v1/web/search", needsKey: true, limit: 20,
	ask: func(r *http.Request, query url.Values, key string, q Query, _ string) error {
		query.Set("q", q.Text)
		query.Set("count", strconv.Itoa(q.Limit))
		query.Set("result_filter", "web")
		if l := braveLanguage(q.Language); l != "" {
			query.Set("search_lang", l)
		}
		r.Header.Set("X-Subscription-Token", key)
		return nil
	},
	read: func(body []byte) ([]Result, error) {
		var in struct {
			Type string `json:"type"`
			// Web is left out when nothing was found.
			Web struct {
				Results []struct {
					URL         string `json:"url"`
					Title       string `json:"title"`
					Description string `json:"description"`
					PageAge     string `json:"page_age"`
				} `json:"results"`
			} `json:"web"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		if in.Type != "search" {
			return nil, errors.New("it is not of the type search")
		}
		var out []Result
		for _, r := range in.Web.Results {
			out = append(out, Result{URL: r.URL, Title: r.Title, Snippet: r.Description, Published: r.PageAge})
		}
		return out, nil
	},
	said: func(_ int, body []byte) (string, reason) {
		var in struct {
			Error struct {
				Code   string `json:"code"`
				Detail string `json:"detail"`
				Meta   struct {
					Errors []struct {
						Loc []any `json:"loc"`
					} `json:"errors"`
				} `json:"meta"`
			} `json:"error"`
		}
		if json.Unmarshal(body, &in) != nil {
			return "", byStatus
		}
		// A wrong key is answered like a wrong query, with 422.
		switch code := in.Error.Code; {
		case strings.HasPrefix(code, "SUBSCRIPTION_TOKEN"):
			return in.Error.Detail, badKey
		case code == "RATE_LIMITED":
			return in.Error.Detail, tooOften
		case code == "QUOTA_LIMITED", code == "USAGE_LIMIT_EXCEEDED":
			return in.Error.Detail, usedUp
		}
		for _, e := range in.Error.Meta.Errors {
			if slices.ContainsFunc(e.Loc, func(w any) bool { return w == "x-subscription-token" }) {
				return in.Error.Detail, badKey
			}
		}
		return in.Error.Detail, byStatus
	},
}

// braveLanguages are those that it knows; for others it refuses the query.
const braveLanguages = " ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de el gu he hi hu is it jp kn ko lv lt ms ml mr nb pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi "

// braveLanguage is the name that Brave has for a language, or "".
func braveLanguage(code string) string {
	code = strings.ToLower(code)
	switch code {
	case "zh", "zh-cn", "zh-sg":
		return "zh-hans"
	case "zh-tw", "zh-hk":
		return "zh-hant"
	case "pt":
		return "pt-pt"
	case "ja", "ja-jp":
		return "jp"
	case "no", "no-no", "nn", "nn-no":
		return "nb"
	}
	base, _, _ := strings.Cut(code, "-")
	for _, l := range []string{code, base} {
		if l != "" && strings.Contains(braveLanguages, " "+l+" ") {
			return l
		}
	}
	return ""
}
