// Command gguf writes the scripted model to a file, for servers that are started
// by hand: go run ./e2e/minds/scripted/gguf scripted.gguf
package main

import (
	"fmt"
	"os"

	"lore/e2e/minds/scripted"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gguf FILE")
		os.Exit(2)
	}
	b, err := scripted.Model()
	if err == nil {
		err = os.WriteFile(os.Args[1], b, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
