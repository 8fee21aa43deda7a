package jail

import (
	"fmt"
	"strings"
)

// profile is the sandbox profile of macOS for a command that works in dir: it
// reads the system's programs and its own folder, writes there alone, and reaches
// no network, no other process and no service that could act for it.
func profile(dir string) string {
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(dir) + `"`
	return fmt.Sprintf(`(version 1)
(deny default)
(allow process-fork)
(allow process-exec (subpath "/bin") (subpath "/sbin") (subpath "/usr") (subpath "/System") (subpath "/Library/Developer") (subpath "/opt/homebrew") (subpath %[1]s))
(allow file-read-metadata)
(allow file-read* (literal "/") (subpath "/bin") (subpath "/sbin") (subpath "/usr") (subpath "/System") (subpath "/Library/Developer") (subpath "/opt/homebrew") (subpath "/private/var/db/dyld") (subpath "/private/var/select") (literal "/private/etc/localtime") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/dtracehelper") (subpath %[1]s))
(allow file-write* (subpath %[1]s) (literal "/dev/null") (literal "/dev/zero"))
(deny file-write-setugid)
(allow sysctl-read)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(deny network*)
(deny mach-lookup)
(deny mach-register)
(deny ipc*)
`, quoted)
}
