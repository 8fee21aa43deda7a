package eval

import (
	"bytes"
	_ "embed"
	"fmt"
)

//go:embed starter.jsonl
var starter []byte

// Starter are the cases that come with the program, about the sample vault.
func Starter() ([]Case, error) {
	cases, err := Read(bytes.NewReader(starter))
	if err != nil {
		return nil, fmt.Errorf("the built-in cases: %w", err)
	}
	return cases, nil
}
