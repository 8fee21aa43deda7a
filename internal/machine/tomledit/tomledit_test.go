package tomledit

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

func TestSet(t *testing.T) {
	for _, c := range []struct{ name, text, key, val, want string }{
		{"empty", "", "vault", "/n", "vault = '/n'\n"},
		{"empty, nested", "", "embed.model", "none", "[embed]\nmodel = 'none'\n"},
		{"keeps the comment beside it", "vault = \"a\" # mine\n", "vault", "b", "vault = 'b' # mine\n"},
		{"keeps comments around it", "# top\n\nvault='a'\n\n# end\n", "vault", "b", "# top\n\nvault='b'\n\n# end\n"},
		{"after the last top-level line", "log_level = 'info'\n\n[embed]\nmodel = 'none'\n", "vault", "b", "log_level = 'info'\nvault = 'b'\n\n[embed]\nmodel = 'none'\n"},
		{"before the first table", "[embed]\nmodel = 'none'\n", "vault", "b", "vault = 'b'\n[embed]\nmodel = 'none'\n"},
		{"into its table", "[embed]\nmodel = 'none'\n\n[vaults.\"/a\"]\nexclude = []\n", "embed.key_env", "K", "[embed]\nmodel = 'none'\nkey_env = 'K'\n\n[vaults.\"/a\"]\nexclude = []\n"},
		{"into an empty table", "[embed]\n\n[vaults.x]\n", "embed.model", "none", "[embed]\nmodel = 'none'\n\n[vaults.x]\n"},
		{"a list over lines", "[vaults.x]\nexclude = [\n  'a', # [embed]\n  'vault = 1',\n]\n", "embed.model", "none", "[vaults.x]\nexclude = [\n  'a', # [embed]\n  'vault = 1',\n]\n\n[embed]\nmodel = 'none'\n"},
		{"a string over lines", "vault = '''\n[embed]\nmodel = \"x\"'''\n", "vault", "b", "vault = 'b'\n"},
		{"a dotted key", "embed.model = 'none'\n", "embed.model", "builtin", "embed.model = 'builtin'\n"},
		{"beside a dotted key", "embed.model = 'none'\nvault = 'x'\n", "embed.key_env", "K", "embed.model = 'none'\nembed.key_env = 'K'\nvault = 'x'\n"},
		{"a quoted key", "\"vault\" = 'a'\n", "vault", "b", "\"vault\" = 'b'\n"},
		{"an inline table", "embed = {model = 'none', key_env = 'K'}\n", "embed.model", "builtin", ""},
		{"spaces in the heading", "[ embed ] # here\nmodel='none'\n", "embed.model", "builtin", "[ embed ] # here\nmodel='builtin'\n"},
		{"no line end", "vault = 'a'", "log_level", "info", "vault = 'a'\nlog_level = 'info'\n"},
		{"no line end, new table", "vault = 'a'", "embed.model", "none", "vault = 'a'\n\n[embed]\nmodel = 'none'\n"},
		{"Windows lines", "vault = 'a'\r\n", "embed.model", "none", "vault = 'a'\r\n\r\n[embed]\r\nmodel = 'none'\r\n"},
		{"quotes and lines in the value", "", "vault", "a'b\"\nc", "vault = \"a'b\\\"\\nc\"\n"},
		{"a backslash", "", "vault", `C:\notes`, "vault = 'C:\\notes'\n"},
		{"broken", "vault = \n", "vault", "b", ""},
		{"another type", "vault = 3\n", "vault", "b", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Set([]byte(c.text), c.key, c.val)
			if c.want == "" {
				if err == nil {
					t.Fatalf("made %q", got)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Errorf("got  %q, %v\nwant %q", got, err, c.want)
			}
		})
	}
}

func TestSetList(t *testing.T) {
	path := []string{"vaults", "/my.notes", "exclude"}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "[vaults.'/my.notes']\nexclude = ['a', 'b\"c']\n"},
		{"in its place", "# mine\n[vaults.\"/my.notes\"] # here\nexclude = [ 'x' ] # why\nprotected = ['p']\n", "# mine\n[vaults.\"/my.notes\"] # here\nexclude = ['a', 'b\"c'] # why\nprotected = ['p']\n"},
		{"over lines", "[vaults.'/my.notes']\n\"exclude\" = [\n  'x', # ]\n  'y',\n] # end\nprotected = []\n", "[vaults.'/my.notes']\n\"exclude\" = ['a', 'b\"c'] # end\nprotected = []\n"},
		{"beside another vault", "[vaults.'/other']\nexclude = ['x']\n", "[vaults.'/other']\nexclude = ['x']\n\n[vaults.'/my.notes']\nexclude = ['a', 'b\"c']\n"},
		{"another type", "[vaults.'/my.notes']\nexclude = 'x'\n", ""},
		{"an inline table", "vaults = {'/my.notes' = {exclude = ['x']}}\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := SetList([]byte(c.text), path, []string{"a", `b"c`})
			if c.want == "" {
				if err == nil {
					t.Fatalf("made %q", got)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Errorf("got  %q, %v\nwant %q", got, err, c.want)
			}
		})
	}
	if got, err := SetList([]byte("[v]\nx = ['a']\n"), []string{"v", "x"}, nil); err != nil || string(got) != "[v]\nx = []\n" {
		t.Errorf("none: %q, %v", got, err)
	}
}

// FuzzSpliceTOML proves that a setting is set or refused, and that nothing else
// of the file changes.
func FuzzSpliceTOML(f *testing.F) {
	f.Add("vault = 'a'\n[embed]\nmodel = \"none\" # x\n", "b", true)
	f.Add("embed.model = '''x\n'''\n[[a]]\nb = [1,\n2]", "\x00\"", true)
	f.Add("embed = {}\n", "b", true)
	f.Fuzz(func(t *testing.T, text, val string, nested bool) {
		key := "vault"
		if nested {
			key = "embed.model"
		}
		out, err := Set([]byte(text), key, val)
		if err != nil {
			return
		}
		before, after := map[string]any{}, map[string]any{}
		if err := toml.Unmarshal([]byte(text), &before); err != nil {
			t.Fatalf("a broken file was changed: %v", err)
		}
		if err := toml.Unmarshal(out, &after); err != nil {
			t.Fatalf("%q became broken: %v", text, err)
		}
		if !setPath(before, strings.Split(key, "."), val) || !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q", text, out)
		}
	})
}
