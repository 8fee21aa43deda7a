//go:build conformance

package app_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lore/internal/app"
)

// TestFixtures: what conformance suites ask for is at an address of its own,
// and nowhere else.
func TestFixtures(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "XDG_DATA_HOME": t.TempDir(), "XDG_CONFIG_HOME": t.TempDir(), "LORE_EMBED_MODEL": "none", "LORE_VAULT": dir,
	} {
		t.Setenv(name, value)
	}
	if err := os.WriteFile(filepath.Join(dir, "Tea.md"), []byte("tea\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(context.WithoutCancel(t.Context()))
	defer interrupt()
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- app.Run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--json", "--conformance-fixtures"}, strings.NewReader(""), in, io.Discard)
		_ = in.Close()
	}()
	var where struct{ Address, Fixtures string }
	for d := json.NewDecoder(out); where.Address == "" || where.Fixtures == ""; {
		if err := d.Decode(&where); err != nil {
			t.Fatal(err)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	var made strings.Builder
	if c := app.Run(t.Context(), []string{"token", "create", "--yes", "--name", "x", "--scope", "read,write"}, strings.NewReader(""), &made, io.Discard); c != 0 {
		t.Fatalf("token: exit code %d", c)
	}
	fixtures := []string{"test_simple_text", "test_elicitation", "test_image_content", "json_schema_2020_12_tool"} // of the registry, and of the library
	names, err := mcpTools(t, where.Fixtures, "")
	for _, f := range fixtures {
		if err != nil || !slices.Contains(names, f) {
			t.Errorf("no %s among %q, %v", f, names, err)
		}
	}
	names, err = mcpTools(t, where.Address+"/mcp", strings.TrimSpace(made.String()))
	for _, f := range fixtures {
		if err != nil || slices.Contains(names, f) {
			t.Errorf("%s is among %q, %v", f, names, err)
		}
	}
	if _, err := mcpTools(t, where.Address+"/mcp", ""); err == nil {
		t.Error("the other address needs no token")
	}
	interrupt()
	if c := <-code; c != 0 {
		t.Errorf("exit code %d", c)
	}
}
