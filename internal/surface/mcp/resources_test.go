package mcp_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp"
	"lore/internal/tool/tooltest"
)

func TestNotesAreResources(t *testing.T) {
	big := "# Big\n" + strings.Repeat("one more line of a note that is long\n", 12000)
	w := open(t, func(dir string) {
		for i := range 120 {
			write(t, dir, "Many/"+strings.Repeat("x", i+1)+".md", "x\n")
		}
		write(t, dir, "Big.md", big)
	})
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now}), era, nil)
			var uris []string
			cursor, pages := "", 0
			for {
				list, err := cs.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor})
				if err != nil {
					t.Fatal(err)
				}
				pages++
				for _, r := range list.Resources {
					uris = append(uris, r.URI)
				}
				if cursor = list.NextCursor; cursor == "" {
					break
				}
			}
			unique := slices.Compact(slices.Sorted(slices.Values(uris)))
			if pages < 2 || len(uris) < 120 || len(unique) != len(uris) {
				t.Errorf("%d notes on %d pages, %d of them different", len(uris), pages, len(unique))
			}
			const odd = "note:///%C3%9Cn%C3%AF%20code/50%25%20&%20%5Bx%5D%20%231.md"
			if !slices.Contains(uris, odd) {
				t.Errorf("no %s", odd)
			}
			for uri, want := range map[string]string{odd: "# Odd name\n\nIt has a body.\n", "note:///Big.md": big} {
				res, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
				if err != nil || len(res.Contents) != 1 || res.Contents[0].Text != want {
					t.Errorf("%s: %v", uri, err)
				}
			}
			for _, uri := range []string{
				"note:///no.md", "note:///Matcha", "note:///../x.md", "note:///.obsidian/app.md", "note:///%2e%2e/x.md", "note://host/Big.md", "note:///",
			} {
				_, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
				var rpc *jsonrpc.Error
				if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
					t.Errorf("%s: %v", uri, err)
				}
			}
			if _, err := cs.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: "-5"}); err == nil {
				t.Error("a cursor that is not ours was taken")
			}
		})
	}
}

func TestPromptsAndCompletion(t *testing.T) {
	w := open(t)
	cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now}), eras[0], nil)
	list, err := cs.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 5 {
		t.Fatalf("%v %v", list, err)
	}
	for _, p := range list.Prompts {
		if p.Description == "" {
			t.Errorf("%s has no description", p.Name)
		}
		got, err := cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: p.Name, Arguments: map[string]string{"path": "Notes/Matcha.md", "topic": "water"}})
		if err != nil || len(got.Messages) == 0 {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if _, err := cs.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "summarize_note", Arguments: map[string]string{"path": "no.md"}}); err == nil {
		t.Error("a prompt about no note")
	}
	for typed, want := range map[string]string{"Notes/Mat": "Notes/Matcha.md", "matcha": "Notes/Matcha.md"} {
		res, err := cs.Complete(t.Context(), &sdk.CompleteParams{
			Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "summarize_note"}, Argument: sdk.CompleteParamsArgument{Name: "path", Value: typed},
		})
		if err != nil || !slices.Contains(res.Completion.Values, want) {
			t.Errorf("%q: %+v %v", typed, res, err)
		}
	}
}
