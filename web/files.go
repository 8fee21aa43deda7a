//go:build !no_ui

package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

func files() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is right there
	}
	return sub
}
