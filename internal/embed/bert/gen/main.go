// Command gen writes the assembly of package bert. The kernels repeat the same
// few instructions for every register of a tile, and twice for two widths of
// register; a program keeps them in step better than a hand does.
//
//	go run ./gen -dir .
//
// A test compares what it writes with what is there, so that the committed files are
// always what it writes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", ".", "folder of package bert")
	flag.Parse()
	for name, text := range files() {
		if err := os.WriteFile(filepath.Join(*dir, name), []byte(text), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// files are the names and texts of what is written.
func files() map[string]string {
	return map[string]string{
		"gemm_amd64.s": gemmAMD64(),
		"rows_amd64.s": rowsAMD64(),
		"gemm_arm64.s": gemmARM64(),
		"rows_arm64.s": rowsARM64(),
	}
}
