// Command gendoc writes docs_gen.go from the comments of the tools in the
// current folder.
package main

import (
	"log"
	"os"
	"path/filepath"

	"lore/internal/tool/tooldoc"
)

func main() {
	docs, err := tooldoc.Read(os.DirFS("."))
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	src, err := tooldoc.Generate(filepath.Base(dir), docs)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("docs_gen.go", src, 0o644); err != nil {
		log.Fatal(err)
	}
}
