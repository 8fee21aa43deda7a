package jail

import (
	"strings"
	"testing"
)

// TestProfile: the profile of macOS names the folder of the command and the
// system, and allows nothing else.
func TestProfile(t *testing.T) {
	for _, c := range []struct {
		name, dir, want string
	}{
		{"plain", "/private/tmp/x", `(subpath "/private/tmp/x")`},
		{"quotes", `/tmp/a"b\c`, `(subpath "/tmp/a\"b\\c")`},
		{"parentheses", `/tmp/a) (allow default`, `(subpath "/tmp/a) (allow default")`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := profile(c.dir)
			for line := range strings.Lines(p) {
				if strings.HasPrefix(line, "(allow file-write*") && line != `(allow file-write* `+c.want+` (literal "/dev/null") (literal "/dev/zero"))`+"\n" {
					t.Errorf("writes: %s", line)
				}
			}
			for _, want := range []string{"(version 1)\n(deny default)\n", "(deny network*)", "(deny mach-lookup)", "(deny ipc*)", c.want} {
				if !strings.Contains(p, want) {
					t.Errorf("%q is missing in %s", want, p)
				}
			}
			for _, bad := range []string{"(allow default)\n", "(allow network", "/Users", "/etc\"", "(allow mach"} {
				if strings.Contains(p, bad) && c.name != "parentheses" {
					t.Errorf("%q is in %s", bad, p)
				}
			}
		})
	}
}
