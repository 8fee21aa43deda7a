package main

import (
	"os"
	"testing"
)

func TestFilesAreFresh(t *testing.T) {
	for name, want := range files() {
		got, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what gen writes: run go run ./gen -dir . in package bert", name)
		}
	}
}
