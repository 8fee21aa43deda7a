package configfile_test

import (
	"strings"
	"testing"

	"lore/internal/mcpclient/configfile"
)

// TestShownValues: a person sees what a server gets, but for secrets.
func TestShownValues(t *testing.T) {
	in := map[string]string{
		"API_KEY": "sesame", "DB_PASS": "sesame", "MYSQL_PWD": "sesame", "GITHUB_PAT": "sesame", "Authorization": "Bearer sesame",
		"DATABASE_URL": "postgres://me:sesame@host/notes", "ENDPOINT": "https://host/mcp?api_key=sesame&n=1",
		"PATH": "/usr/bin", "HOST": "https://host/a?n=1", "TOKEN": "${MY_TOKEN}", "odd": "%zz",
	}
	got := configfile.ShownValues(in)
	for name, value := range got {
		if strings.Contains(value, "sesame") {
			t.Errorf("%s is shown as %s", name, value)
		}
	}
	for name, want := range map[string]string{
		"PATH": "/usr/bin", "HOST": "https://host/a?n=1", "TOKEN": "${MY_TOKEN}", "odd": "%zz", "API_KEY": "(secret)",
		"DATABASE_URL": "postgres://me:xxxxx@host/notes", "ENDPOINT": "https://host/mcp?api_key=(secret)&n=1",
	} {
		if got[name] != want {
			t.Errorf("%s is shown as %s, want %s", name, got[name], want)
		}
	}
	if in["API_KEY"] != "sesame" {
		t.Error("what is shown is not what is used")
	}
}

func TestShownAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://host/mcp":                                 "https://host/mcp",
		"https://me:sesame@host/mcp?b=2&a=1":               "https://me:xxxxx@host/mcp?b=2&a=1",
		"https://host/mcp?exaApiKey=sesame":                "https://host/mcp?exaApiKey=(secret)",
		"https://host/mcp?b=2&token=sesame&c=%20&SECRET=s": "https://host/mcp?b=2&token=(secret)&c=%20&SECRET=(secret)",
		"https://host/mcp?token=${MY_TOKEN}":               "https://host/mcp?token=${MY_TOKEN}",
		"https://host/%zz":                                 "(no address)",
	} {
		if got := configfile.Shown(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// TestShownText: the text of a client's file can be shown with the entries of
// others in it, line by line.
func TestShownText(t *testing.T) {
	for _, text := range []string{
		`{"mcpServers": {"a": {"command": "npx", "env": {"API_KEY": "sesame", "N": "1"}}}}`,
		`{"a": {"env": {"API_KEY" : "ses\"ame"}}}`,
		`"args": ["--api-key", "sesame", "--token=sesame", "--header", "Authorization: Bearer sesame"]`,
		`"url": "https://me:sesame@host/mcp?key=sesame"`,
		"[mcp_servers.a.env]\nAPI_KEY = \"sesame\"\nDB_PASS='sesame'\n",
		"env = { API_KEY = \"sesame\" }\n",
	} {
		got := configfile.ShownText(text)
		if strings.Contains(got, "same") || strings.Contains(got, `ame"`) || strings.Count(got, "\n") != strings.Count(text, "\n") {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
	const plain = "{\n  // mine\n  \"mcpServers\": {\"lore\": {\"command\": \"/bin/lore\", \"args\": [\"mcp\", \"--vault\", \"/notes\"], \"url\": \"https://host/a?n=1\", \"TOKEN\": \"${T}\"}}\n}\n"
	if got := configfile.ShownText(plain); got != plain {
		t.Errorf("%s", got)
	}
}
