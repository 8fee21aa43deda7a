package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/surface/mcp"
	"lore/internal/surface/mcp/apps"
	"lore/internal/tool/access"
	"lore/internal/tool/tooltest"
)

// shows is a client that shows views and no forms.
func shows() *sdk.ClientOptions {
	c := &sdk.ClientCapabilities{}
	c.AddExtension(apps.Extension, map[string]any{"mimeTypes": []any{apps.MIMEType}})
	return &sdk.ClientOptions{Capabilities: c}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestViewsAreOnlyForWhoShowsThem: without the extension a client sees nothing of
// the views; with it, the same lists and the views.
func TestViewsAreOnlyForWhoShowsThem(t *testing.T) {
	w := open(t)
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			o := mcp.Options{Who: confirming(), Now: tooltest.Now}
			list := func(c *sdk.ClientOptions) (tools *sdk.ListToolsResult, resources *sdk.ListResourcesResult, read map[string]error) {
				cs := connect(t, mcp.New(w.door, o), era, c)
				tools, err := cs.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				resources, err = cs.ListResources(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				read = map[string]error{}
				for _, v := range apps.Views() {
					got, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: v.URI})
					if read[v.URI] = err; err == nil && (got.Contents[0].MIMEType != apps.MIMEType || got.Contents[0].Meta["ui"] == nil) {
						t.Errorf("%s: %+v", v.URI, got.Contents[0])
					}
				}
				return tools, resources, read
			}
			plainTools, plainResources, refused := list(nil)
			tools, resources, read := list(shows())
			if s := encoded(t, plainTools) + encoded(t, plainResources); strings.Contains(s, "ui://") || strings.Contains(s, "answer_approval") || strings.Contains(s, `"_meta":{"ui`) {
				t.Errorf("a client without views is told of them: %s", s)
			}
			if encoded(t, plainTools) != encoded(t, second(list(&sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}))) {
				t.Error("two clients without views see different lists")
			}
			views := map[string]string{}
			kept := tools.Tools[:0:0]
			for _, d := range tools.Tools {
				if ui, ok := d.Meta["ui"].(map[string]any); ok {
					views[d.Name], _ = ui["resourceUri"].(string)
					delete(d.Meta, "ui")
					d.Meta = nil
				}
				if d.Name != "answer_approval" {
					kept = append(kept, d)
				}
			}
			tools.Tools = kept
			if encoded(t, tools) != encoded(t, plainTools) {
				t.Errorf("the lists differ in more than the views:\n%s\n%s", encoded(t, tools), encoded(t, plainTools))
			}
			for name, want := range map[string]string{"search_notes": apps.Search, "write_note": apps.Approval, "delete_note": apps.Approval, "answer_approval": apps.Approval, "read_note": ""} {
				if views[name] != want {
					t.Errorf("the view of %s is %q", name, views[name])
				}
			}
			if len(resources.Resources) != len(plainResources.Resources)+2 || encoded(t, resources.Resources[2:]) != encoded(t, plainResources.Resources) {
				t.Errorf("resources: %s", encoded(t, resources.Resources))
			}
			for uri, err := range read {
				if err != nil || refused[uri] == nil {
					t.Errorf("%s: %v with views, %v without", uri, err, refused[uri])
				}
			}
		})
	}
}

func second(tools *sdk.ListToolsResult, _ *sdk.ListResourcesResult, _ map[string]error) *sdk.ListToolsResult {
	return tools
}

// planned is a call that waits, and the token for the view beside it.
func planned(t *testing.T, res *sdk.CallToolResult) (token string) {
	t.Helper()
	if res.IsError || !strings.Contains(textOf(res), "pending_confirmation") {
		t.Fatalf("not asked: %s", textOf(res))
	}
	if strings.Contains(textOf(res), "token") {
		t.Errorf("the model sees the token: %s", textOf(res))
	}
	card, _ := res.Meta[apps.CardKey].(map[string]any)
	if changes, _ := card["changes"].([]any); len(changes) != 1 || !strings.Contains(encoded(t, changes), "@@") {
		t.Errorf("the view is not sent the diff: %v", card)
	}
	token, _ = card["token"].(string)
	return token
}

func TestAnsweredInAView(t *testing.T) {
	for _, era := range eras {
		for _, approve := range []bool{true, false} {
			w := open(t)
			cs := connect(t, mcp.New(w.door, mcp.Options{Who: confirming(), Now: tooltest.Now, Hold: mcp.DefaultHold}), era, shows())
			res := call(t, cs, "write_note", map[string]any{"path": "New.md", "content": "hello\n"})
			token := planned(t, res)
			answer := map[string]any{"token": token, "approve": approve, "word": "as you like"}
			res = call(t, cs, "answer_approval", answer)
			if made := read(t, w.dir, "New.md") == "hello\n"; made != approve || res.IsError {
				t.Errorf("%s: approve %v, made %v: %s", era, approve, made, textOf(res))
			}
			again := call(t, cs, "answer_approval", map[string]any{"token": token, "approve": true})
			if made := read(t, w.dir, "New.md") == "hello\n"; made != approve {
				t.Errorf("%s: an answer that was given counts twice: %s", era, textOf(again))
			}
		}
	}
}

// TestViewsNeedTheRight: without the right to confirm there is no token and no way
// to answer, and what destroys needs more trust still.
func TestViewsNeedTheRight(t *testing.T) {
	w := open(t)
	cs := connect(t, mcp.New(w.door, mcp.Options{Who: client(), Now: tooltest.Now}), eras[0], shows())
	if token := planned(t, call(t, cs, "write_note", map[string]any{"path": "New.md", "content": "hello\n"})); token != "" {
		t.Error("a client without the right was given a token")
	}
	if strings.Contains(strings.Join(toolsOf(t, cs), " "), "answer_approval") {
		t.Error("a client without the right is offered the tool that answers")
	}
	if _, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "answer_approval", Arguments: map[string]any{"token": "x", "approve": true}}); err == nil {
		t.Error("a client without the right was heard")
	}
	cs = connect(t, mcp.New(w.door, mcp.Options{Who: confirming(), Now: tooltest.Now}), eras[0], shows())
	if token := planned(t, call(t, cs, "delete_note", map[string]any{"path": "Matcha"})); token != "" {
		t.Error("a view may answer a deletion, and its client is not trusted")
	}
	key := []byte("the key of one run of the program")
	cs = connect(t, mcp.New(w.door, mcp.Options{Who: confirming(), Now: tooltest.Now, Key: key, Trusted: func(access.Principal) bool { return true }}), eras[0], shows())
	token := planned(t, call(t, cs, "delete_note", map[string]any{"path": "Sencha"}))
	if token == "" {
		t.Error("the view of a trusted client may not answer a deletion")
	}
	// The token alone is not the right: whoever is trusted no longer is refused.
	for _, who := range []access.Principal{confirming(), client()} {
		cs = connect(t, mcp.New(w.door, mcp.Options{Who: who, Now: tooltest.Now, Key: key}), eras[0], shows())
		res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "answer_approval", Arguments: map[string]any{"token": token, "approve": true}})
		if err == nil {
			t.Errorf("%v was heard: %s", who.Scopes, textOf(res))
		}
	}
	if read(t, w.dir, "New.md") != "" || read(t, w.dir, "Notes/Matcha.md") == "" || read(t, w.dir, "Notes/Sencha.md") == "" {
		t.Error("something was done")
	}
}

// TestForgedViews: a token counts for its own client, for its own plan, through the
// one tool, and not for ever.
func TestForgedViews(t *testing.T) {
	now := tooltest.Now()
	w := open(t, func(dir string) { write(t, dir, "A.md", "one\n") })
	anna := serve(t, w, mcp.Options{Now: func() time.Time { return now }})
	anna.can = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`
	const args = `{"path":"A.md","search":"one","replace":"two"}`
	_, body := anna.call(args, "")
	var m struct {
		Result struct {
			Meta map[string]struct{ Token string } `json:"_meta"`
			Data struct {
				ID string `json:"pending_operation_id"`
			} `json:"structuredContent"`
		}
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil || m.Result.Meta[apps.CardKey].Token == "" {
		t.Fatal(err, body)
	}
	token := m.Result.Meta[apps.CardKey].Token
	answer := func(who wire, token string) string {
		_, body := who.send("tools/call", "answer_approval", `"name":"answer_approval","arguments":{"token":"`+token+`","approve":true}`)
		return body
	}
	bert, blind, forms := anna, anna, anna
	bert.who = "bert"
	blind.can = `{}`
	forms.can = `{"elicitation":{"form":{}}}`
	tries := map[string]string{
		"nothing": answer(anna, ""), "half": answer(anna, token[:len(token)/2]), "the id alone": answer(anna, m.Result.Data.ID),
		"another client": answer(bert, token), "a client without views": answer(blind, token), "the state of a form": answer(anna, forms.ask(args)),
	}
	_, tries["as the state of a form"] = forms.call(args, yes(token))
	_, tries["with no answer"] = anna.send("tools/call", "answer_approval", `"name":"answer_approval","arguments":{"token":"`+token+`"}`)
	now = now.Add(11 * time.Minute)
	tries["too late"] = answer(anna, token)
	now = now.Add(-11 * time.Minute)
	write(t, w.dir, "A.md", "one and more\n")
	if err := w.settle(t.Context(), []string{"A.md"}); err != nil {
		t.Fatal(err)
	}
	for what, body := range tries {
		if !strings.Contains(body, "-32602") && !strings.Contains(body, `"isError":true`) {
			t.Errorf("%s: %s", what, body)
		}
	}
	// The file is another one now: it is asked about again, and not done.
	body = answer(anna, token)
	if read(t, w.dir, "A.md") != "one and more\n" || !strings.Contains(body, "pending_confirmation") && !strings.Contains(body, `"isError":true`) {
		t.Errorf("%s, %s", read(t, w.dir, "A.md"), body)
	}
}
