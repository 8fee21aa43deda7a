package external

import (
	"strings"
	"testing"

	"lore/internal/mcpclient/configfile"
)

func TestSecretsAreNotRepeated(t *testing.T) {
	s := configfile.Server{
		URL: "https://far.example/s/PATHSECRET/mcp?api_key=QUERYSECRET&x=a%2Fb%2Fc%2Fd", Env: map[string]string{"K": "ENVSECRET", "SHORT": "on"},
		Headers: map[string]string{"Authorization": "Bearer HEADSECRET"},
		Args:    []string{"serve", "--api-key", "ARGSECRET", "--token=WORDSECRET", "--port", "8080808"},
	}
	text := `Post "` + s.URL + `": refused; key QUERYSECRET, a/b/c/d, ENVSECRET, HEADSECRET, ARGSECRET, WORDSECRET is on port 8080808 of serve`
	got := secrets(s).Replace(text)
	if strings.Contains(got, "SECRET") || strings.Contains(got, "a/b/c/d") {
		t.Errorf("%s", got)
	}
	for _, word := range []string{"far.example", " is on port 8080808 of serve"} {
		if !strings.Contains(got, word) {
			t.Errorf("%s is missing in %s", word, got)
		}
	}
}
