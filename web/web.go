// Package web is the page that people see in a browser, as it was built: index
// and files with hashed names. It owns those bytes alone; how they are served,
// and to whom, is the surface's.
//
// The sources lie beside it in src, and `make web` builds them. The result is
// committed, so that `go install` gives a program with its page.
package web

import "io/fs"

//go:generate go run lore/web/gen -o src/api.gen.ts

// Files are the built page; nil in a program that was built without it (tag
// no_ui).
func Files() fs.FS { return files() }
