package automation

import (
	"embed"
	"path"
	"strings"
)

//go:embed builtin/*.yaml
var builtinFiles embed.FS

// builtinFolder is where the workflows of the program seem to be. No path of a vault
// has a colon there.
const builtinFolder = "built-in:"

// builtins are the paths of the workflows that come with the program. They are off
// until a person adds them.
func builtins() []string {
	entries, err := builtinFiles.ReadDir("builtin")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, builtinFolder+e.Name())
	}
	return out
}

// builtin is the text of one of them.
func builtin(p string) (string, bool) {
	name, ok := strings.CutPrefix(p, builtinFolder)
	if !ok {
		return "", false
	}
	text, err := builtinFiles.ReadFile(path.Join("builtin", name))
	return string(text), err == nil
}
