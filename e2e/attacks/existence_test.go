package attacks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A shape is what a property of a tool's arguments can hold.
type shape struct {
	Type       any
	Enum       []any
	Properties map[string]*shape
	Items      *shape
	Required   []string
	AnyOf      []*shape
}

func (s *shape) is(kind string) bool {
	list, several := s.Type.([]any)
	if !several {
		list = []any{s.Type}
	}
	return slices.ContainsFunc(list, func(t any) bool { return t == kind }) || slices.ContainsFunc(s.AnyOf, func(o *shape) bool { return o.is(kind) })
}

// harmless are values for arguments that a tool needs beside the one that is
// tried.
var harmless = map[string]any{
	"path": "Notes/Cup.md", "other": "Notes/Pot.md", "from": "Notes/Cup.md", "to": "Notes/Pot.md", "new_path": "Notes/New.md", "node_id": "cup", "source_id": "cup", "target_id": "pot",
	"query": "kitchen", "question": "kitchen", "content": "words", "text": "words", "search": "kitchen", "replace": "cellar", "tag": "warm", "new_tag": "hot", "type": "Claim", "title": "A title",
	"heading": "Cup", "relationship_type": "SUPPORTS", "relation": "SUPPORTS", "key": "mood", "id": "op-none", "task": "words", "folder": "Notes",
}

// argumentsFor are arguments of a tool in which one property has a value.
func argumentsFor(in *shape, name string, value any) map[string]any {
	args := map[string]any{name: value}
	for _, need := range in.Required {
		if _, have := args[need]; have {
			continue
		}
		p := in.Properties[need]
		switch {
		case len(p.Enum) > 0:
			args[need] = p.Enum[0]
		case p.is("string"):
			args[need] = "words"
			if v, ok := harmless[need]; ok {
				args[need] = v
			}
		case p.is("array"):
			args[need] = []any{}
			if p.Items != nil && p.Items.is("string") {
				args[need] = []any{"Notes/Cup.md"}
			}
		case p.is("integer"), p.is("number"):
			args[need] = 1
		case p.is("boolean"):
			args[need] = false
		default:
			args[need] = map[string]any{}
		}
	}
	if in.Properties["dry_run"] != nil {
		args["dry_run"] = true
	}
	return args
}

// secretive fills a vault with a folder that must not be told of.
func secretive(w *world) {
	w.put("vault/Notes/Cup.md", "---\ntype: Claim\nid: cup\ntags: [warm]\nmood: good\n---\n# Cup\n\nA cup in the kitchen. See [[Pot]].\n")
	w.put("vault/Notes/Both.md", "# Both\n\nSee [[Vbnmp]] and [[Pmnbv]], [[Qzxjk/Vbnmp]] and [[Kjxzq/Pmnbv]].\n")
	w.put("vault/Notes/Pot.md", "---\ntype: Claim\nid: pot\n---\n# Pot\n\nA pot.\n\nSUPPORTS:: [[Cup]]\n")
	w.put("vault/Qzxjk/Vbnmp.md", "---\ntype: Lkrtz\nid: fghjd\naliases: [Wrtpq]\ntags: [hgfdt]\nmnbqr: yes\n---\n# Vbnmp\n\nA cup in the kitchen of Vbnmp, see [[Cup]] and [[Pot]].\n\nGHJKL:: [[Cup]]\n")
	w.put("vault/Qzxjk/picture.txt", "words")
	w.put("vault/Qzxjk/Empty/.keep", "")
}

// denying is a world in which the token "all" may read everything but two
// folders, of which one exists: that it was refused a folder is told.
func denying(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, secretive)
	_, _, body := w.send(w.person, http.MethodGet, "/api/v1/tokens", "", nil)
	var list struct{ Tokens []struct{ ID, Name string } }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, k := range list.Tokens {
		if k.Name == "all" {
			if out, code := w.lore("share", "deny", "token:"+k.ID, "--folder", "Qzxjk", "--folder", "Kjxzq"); code != 0 {
				t.Fatal(out)
			}
			return w
		}
	}
	t.Fatalf("no token: %s", body)
	return nil
}

// TestNoArgumentTellsWhatExists: whatever argument of whatever tool names
// something that is not shared, the answer is the one for a name that nothing
// has.
func TestNoArgumentTellsWhatExists(t *testing.T) {
	long(t)
	t.Run("folders", func(t *testing.T) { t.Parallel(); tellsNothing(t, sharing(t, secretive)) })
	t.Run("refused", func(t *testing.T) { t.Parallel(); tellsNothing(t, denying(t)) })
}

func tellsNothing(t *testing.T, w *world) {
	t.Helper()
	twins := [][2]string{ // what exists, and what does not
		{"Qzxjk", "Kjxzq"}, {"Qzxjk/", "Kjxzq/"}, {"qzxjk", "kjxzq"}, {"Qzxjk/Empty", "Qzxjk/Ytpme"}, {"Qzxjk/Vbnmp.md", "Qzxjk/Pmnbv.md"}, {"Qzxjk/Vbnmp.md", "Kjxzq/Pmnbv.md"}, {"Qzxjk/Vbnmp", "Kjxzq/Pmnbv"},
		{"Vbnmp", "Pmnbv"}, {"vbnmp", "pmnbv"}, {"Wrtpq", "Qptrw"}, {"fghjd", "djhgf"}, {"Qzxjk/picture.txt", "Qzxjk/erutcip.txt"}, {"hgfdt", "tdfgh"}, {"#hgfdt", "#tdfgh"}, {"Lkrtz", "Ztrkl"}, {"mnbqr", "rqbnm"}, {"GHJKL", "LKJHG"},
		{"Qzxjk/*", "Kjxzq/*"}, {"Qzxjk/**", "Kjxzq/**"}, {"path:Qzxjk", "path:Kjxzq"}, {"tag:hgfdt", "tag:tdfgh"}, {"type:Lkrtz", "type:Ztrkl"}, {"[mnbqr:yes]", "[rqbnm:yes]"}, {"Qzxjk/New.md", "Kjxzq/New.md"}, {"Notes/../Qzxjk/Vbnmp.md", "Notes/../Qzxjk/Pmnbv.md"},
	}
	token := w.tokens["all"]
	_, _, body := w.send(http.DefaultClient, http.MethodGet, "/api/v1/tools", "", bearing(token))
	var list struct {
		Tools []struct {
			Name  string
			Input *shape `json:"input_schema"`
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Tools) < 40 {
		t.Fatalf("%v: %.500s", err, body)
	}
	tried, arguments := 0, 0
	for _, tool := range list.Tools {
		for name, p := range tool.Input.Properties {
			if p.is("boolean") || len(p.Enum) > 0 || !p.is("string") && !p.is("array") && !p.is("object") {
				continue
			}
			arguments++
			for i, twin := range twins {
				if !whole() && (i+arguments)%5 != 0 { // every pair by some argument, every argument by five pairs
					continue
				}
				var said [2]string
				for i, v := range twin {
					value := any(v)
					switch {
					case p.is("string"):
					case p.is("array"):
						value = []any{v}
					default:
						value = map[string]any{v: "yes"}
					}
					args, err := json.Marshal(argumentsFor(tool.Input, name, value))
					if err != nil {
						t.Fatal(err)
					}
					_, _, said[i] = w.post("/api/v1/tools/"+tool.Name, string(args), token)
					said[i] = without(said[i], twin)
					tried++
				}
				// A rename to a name that a hidden note has would change what links
				// mean: it is refused, and the refusal names nothing.
				if tool.Name == "rename_note" && name == "new_path" && strings.Contains(said[0], "affects notes that are not shared") && !strings.Contains(said[0], "Qzxjk") {
					continue
				}
				if said[0] != said[1] {
					t.Errorf("%s tells by %s whether there is %s:\n%.600s\n%.600s", tool.Name, name, twin[0], said[0], said[1])
				}
			}
		}
	}
	if want := 800; tried < want || whole() && tried < 5*want {
		t.Errorf("only %d calls were tried", tried)
	}
}

// without is a text in which two names are gone, however they are written, and
// every other thing that differs between two calls of one kind.
func without(text string, names [2]string) string {
	for _, part := range strings.FieldsFunc(names[0]+"/"+names[1], func(r rune) bool { return strings.ContainsRune("/.*#:[]", r) }) {
		if len(part) < 4 || part == "Notes" || part == "type" || part == "path" {
			continue
		}
		for _, form := range []string{part, strings.ToLower(part), strings.ToUpper(part), strings.ToUpper(part[:1]) + part[1:]} {
			text = strings.ReplaceAll(text, form, "NAME")
		}
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		text = fmt.Sprint(stripped(v))
	}
	return text
}

// stripped leaves out the fields that say when something was, and hashes of text
// that holds the name.
func stripped(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			switch name {
			case "instance", "hash", "plan", "asked", "expires", "time", "modified", "created", "generation", "took_ms", "cursor":
				delete(v, name)
			default:
				v[name] = stripped(x)
			}
		}
	case []any:
		for i, x := range v {
			v[i] = stripped(x)
		}
	}
	return v
}
