package app

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/pflag"

	"lore/internal/surface/cli/argv"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault/sample"
)

// TestEveryToolAnswersWithStructure calls every tool that a client can be offered,
// by its first example. Clients differ in which part of an answer they show to a
// model, so each part must be there and complete.
func TestEveryToolAnswersWithStructure(t *testing.T) {
	dir := t.TempDir()
	for name, sub := range map[string]string{"HOME": "home", "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache", "APPDATA": "config", "LOCALAPPDATA": "data"} {
		t.Setenv(name, filepath.Join(dir, sub))
	}
	t.Setenv("LORE_EMBED_MODEL", "none")
	t.Setenv("LORE_LIMITS_WAIT", "60")
	vault, err := sample.Place(filepath.Join(dir, "vault"))
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- Run(t.Context(), []string{"--vault", vault, "mcp", "--toolsets", "all", "--hold", "0s"}, inR, outW, t.Output())
	}()
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: outR, Writer: inW}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]*tool.Tool{}
	for _, c := range catalogue() {
		known[c.Name] = c
	}
	answered := map[bool]int{}
	for _, offered := range list.Tools {
		args := exampleOf(t, known[offered.Name])
		res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: offered.Name, Arguments: args})
		if err != nil {
			t.Errorf("%s %v: %v", offered.Name, args, err)
			continue
		}
		answered[res.IsError]++
		if res.IsError {
			t.Logf("%s %v: %v", offered.Name, args, res.StructuredContent)
		}
		checkStructure(t, offered, args, res)
	}
	t.Logf("%d tools, %d answered with an error", len(list.Tools), answered[true])
	if answered[false] < len(list.Tools)*3/4 {
		t.Errorf("%d of %d tools answered without an error", answered[false], len(list.Tools))
	}
	_ = cs.Close()
	_ = inW.Close()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// checkStructure compares the parts of an answer with what the tool declares.
func checkStructure(t *testing.T, offered *sdk.Tool, args map[string]any, res *sdk.CallToolResult) {
	t.Helper()
	got, ok := res.StructuredContent.(map[string]any)
	if !ok || got["success"] == nil {
		t.Errorf("%s %v: structure %v", offered.Name, args, res.StructuredContent)
	}
	text, ok := res.Content[0].(*sdk.TextContent)
	if !ok || strings.TrimSpace(text.Text) == "" {
		t.Errorf("%s %v: text %v", offered.Name, args, res.Content)
	}
	if offered.Name == "read_note" && (len(res.Content) != 2 || got["text"] != text.Text || got["path"] == nil || got["title"] == nil || got["hash"] == nil || got["line"] == nil) {
		t.Errorf("%s %v: %v and %v", offered.Name, args, res.Content, got)
	}
	if offered.OutputSchema == nil {
		return
	}
	b, err := json.Marshal(offered.OutputSchema)
	if err != nil {
		t.Fatal(err)
	}
	var declared jsonschema.Schema
	if err := json.Unmarshal(b, &declared); err != nil {
		t.Fatal(err)
	}
	resolved, err := declared.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(got); err != nil {
		t.Errorf("%s %v: %v", offered.Name, args, err)
	}
}

// exampleOf is the first example of a tool as arguments. Changes are only planned.
func exampleOf(t *testing.T, c *tool.Tool) map[string]any {
	t.Helper()
	var words []string
	if len(c.Help.Examples) > 0 {
		words = wordsOf(c.Help.Examples[0])
	}
	flags := pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
	in := argv.New(c, flags)
	if err := flags.Parse(words); err != nil {
		t.Errorf("%s %q: %v", c.Name, words, err)
	}
	raw, err := in.Arguments(flags, flags.Args())
	if err != nil {
		t.Errorf("%s %q: %v", c.Name, words, err)
	}
	args := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			t.Fatal(err)
		}
	}
	if c.Effect == access.Changes {
		args["dry_run"] = true
	}
	return args
}
