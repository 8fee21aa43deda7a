package files

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault"
	"lore/internal/vault/visibility"
)

// at is the path in the vault of a path that a caller gave. With a folder of
// their own, the tools reach nothing outside it; a path that names the folder
// means the same file, so that paths from answers can be given back.
func (env Env) at(p string) string {
	switch {
	case env.Folder == "" || strings.HasPrefix(p, "/"): // an absolute path is refused, never moved
		return p
	case p == env.Folder || strings.HasPrefix(p, env.Folder+"/"):
		return p
	}
	return env.Folder + "/" + p
}

// folderAt is [Env.at] for a folder: the key of it, "" for the whole vault.
func (env Env) folderAt(p string) (string, error) {
	p = strings.TrimSuffix(p, "/")
	if p == "" || p == "." || p == "./" {
		return env.Folder, nil
	}
	key, err := env.Vault.Visible(env.at(p), false)
	return key, fault.Rename(err, "", "path")
}

// open reads a file that a caller names. Without a folder of their own, the
// tools take a name for a path as the other tools do.
func (env Env) open(ctx context.Context, p string) (vault.File, error) {
	if env.Folder == "" {
		return env.readFile(ctx, p)
	}
	return env.Vault.Head(ctx, env.at(p))
}

// A textFile is a file that is to be changed.
type textFile struct {
	vault.File
	text string
}

// existing reads a whole text file that is to be changed.
func (env Env) existing(ctx context.Context, p, ifHash string) (textFile, error) {
	f, err := env.Vault.Read(ctx, env.at(p))
	if err != nil {
		return textFile{}, err
	}
	if !textual(f.Data) {
		return textFile{}, fault.Fix(fault.Invalid, "choose another file", "%s is not text", f.Path)
	}
	if have := f.Hash.String(); ifHash != "" && !strings.EqualFold(ifHash, have) {
		return textFile{}, &fault.Report{Kind: fault.Conflict, Field: "if_hash", Message: fmt.Sprintf("%s changed since you read it: its hash is now %s", f.Path, have), Fix: "read it again"}
	}
	return textFile{File: f, text: string(f.Data)}, nil
}

// runnable are the endings of files that a system runs, or opens as a program
// or a page, when somebody clicks on them.
var runnable = []string{
	".app", ".bat", ".cmd", ".com", ".command", ".cpl", ".desktop", ".dll", ".exe", ".hta", ".htm", ".html", ".jar", ".js", ".jse", ".lnk", ".mjs", ".msi", ".pif", ".plist",
	".ps1", ".reg", ".scf", ".scr", ".service", ".sh", ".svg", ".url", ".vbe", ".vbs", ".webloc", ".wsf", ".xhtml",
}

// isRunnable reports whether a click on a file may run it.
func isRunnable(p string) bool { return slices.Contains(runnable, strings.ToLower(path.Ext(p))) }

// refuseRunnable lets only a person write such a file.
func refuseRunnable(ctx context.Context, p string) error {
	if isRunnable(p) && tool.Caller(ctx).Kind != access.Person {
		return fault.Fix(fault.Denied, "ask the person to write it, or use another file extension", "%s could run when somebody opens it, so only a person may write it", p)
	}
	return nil
}

// warnRunnable is what a person should know about such a file.
func warnRunnable(p string) []string {
	if !isRunnable(p) {
		return nil
	}
	return []string{p + " could run when somebody opens it"}
}

// isVisible reports whether the caller may see a file.
func isVisible(ctx context.Context, key string) bool { return visibility.From(ctx).Allows(key) }
