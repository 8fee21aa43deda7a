//go:build no_ui

package web

import "io/fs"

func files() fs.FS { return nil }
