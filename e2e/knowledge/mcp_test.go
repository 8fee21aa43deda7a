package knowledge

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestAnsweredWhileHeld: a call that is held for a person ends with what the
// person said elsewhere, so that the model learns of it without another call.
func TestAnsweredWhileHeld(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"stdio", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var h *hand
			if way == "stdio" {
				h = w.atTerminal(w.over(w.connect(w.child("--hold", "1m"), nil)))
			} else {
				w.serve("--hold", "1m")
				h = w.atPage(w.over(w.connect(w.endpoint(), nil)))
			}
			made := w.held(h, "create_node", object{"type": "Observation", "content": object{"title": "Steam"}}, true, "")
			w.shaped("create_node", made)
			before := w.notes()
			args := object{"node_id": made["node_id"]}
			no := w.held(h, "delete_node", args, false, "keep it")
			if no["success"] != false || no["isError"] != false || no["operation"] != "delete_node" || no["user_feedback"] != "keep it" || !maps.Equal(before, w.notes()) {
				t.Errorf("denied: %v", no)
			}
			// Without a word the field is there all the same.
			no = w.held(h, "delete_node", args, false, "")
			w.has("denied", no, "success:bool isError:bool operation:string message:string user_feedback:string")
			yes := w.held(h, "delete_node", args, true, "")
			w.shaped("delete_node", yes)
			if len(w.notes()) != 0 {
				t.Errorf("%v is still there", w.notes())
			}
		})
	}
}

// held calls a tool and lets a person answer as soon as there is a question.
func (w *world) held(h *hand, tool string, args object, approve bool, word string) object {
	w.Helper()
	type ended struct {
		o  object
		no bool
	}
	over := make(chan ended, 1)
	go func() {
		o, no := h.call(tool, args)
		over <- ended{o, no}
	}()
	h.answer(w.question(), approve, word)
	e := <-over
	if e.no || e.o["success"] != approve {
		w.Fatalf("%s: %v", tool, e.o)
	}
	return e.o
}

// question waits until something waits for a person.
func (w *world) question() string {
	w.Helper()
	for range 6000 {
		var o object
		if w.base != "" {
			_, o = w.send(w.person, http.MethodGet, "/api/v1/approvals?state=pending", nil)
		} else {
			o = w.asked("approvals", "list", "--json")
		}
		if list, _ := o["approvals"].([]any); len(list) == 1 {
			return str(list[0].(object), "id")
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.Fatal("nothing waits for an answer")
	return ""
}

// TestElicited: a client that shows forms lets its user confirm a new node and a
// new relationship, but neither a deletion nor a search on the web.
func TestElicited(t *testing.T) {
	t.Parallel()
	settings, asked := engine(t)
	w := newWorld(t, settings...)
	var shown []string
	s := w.connect(w.child("--hold", "0s", "--confirm"), &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		shown = append(shown, req.Params.Message)
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
	}})
	h := w.over(s)
	create := func(title string) string {
		o, no := h.call("create_node", object{"type": "Claim", "content": object{"title": title}})
		if no || o["success"] != true {
			t.Fatalf("%v", o)
		}
		return str(o, "node_id")
	}
	a, b := create("Steam burns"), create("Steam is hot")
	if o, no := h.call("create_relationship", object{"from_id": b, "to_id": a, "relationship_type": "SUPPORTS"}); no || o["success"] != true || len(shown) != 3 || !strings.Contains(shown[2], "+- supports:: [[Steam burns]] [confidence:: 1] ^") {
		t.Errorf("%v\n%q", o, shown)
	}
	before := w.notes()
	for tool, args := range map[string]object{
		"delete_node": {"node_id": a}, "merge_nodes": {"primary_node_id": a, "secondary_node_id": b}, "search_web_for_evidence": {"node_id": a},
	} {
		o, no := h.call(tool, args)
		w.waits(tool, o, no)
		if o["status"] != "pending_confirmation" || !strings.Contains(str(o, "next"), "A person must approve this in Lore") {
			t.Errorf("%s: %v", tool, o)
		}
	}
	if len(shown) != 3 || len(asked()) != 0 || !maps.Equal(before, w.notes()) {
		t.Errorf("shown %q, asked %q, %v", shown, asked(), w.notes())
	}
}

// TestCompletedIDs: a client that completes what its user types offers the ids
// of nodes.
func TestCompletedIDs(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*world) *hand{"stdio": (*world).stdio, "http": (*world).streamable} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			h := open(w)
			claim, roast, ph := h.nodes(w)
			h.do(w, "create_node", object{"type": "Claim", "content": object{"title": "Steam", "id": "clm-steam"}})
			for typed, want := range map[string][]string{
				"": {claim, roast, ph, "clm-steam"}, "clm-": {roast, "clm-steam"}, "clm-st": {"clm-steam"}, "CLM-ST": {"clm-steam"}, "obs": {ph}, "zzz": {}, "%": {}, "clm_": {},
			} {
				for _, arg := range []string{"node_id", "node", "id"} {
					res, err := h.session.Complete(t.Context(), &sdk.CompleteParams{
						Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "note:///{+path}"}, Argument: sdk.CompleteParamsArgument{Name: arg, Value: typed},
					})
					if err != nil {
						t.Fatal(err)
					}
					got := res.Completion.Values
					slices.Sort(got)
					slices.Sort(want)
					if !slices.Equal(got, want) || res.Completion.Total != len(want) || res.Completion.HasMore {
						t.Errorf("%s %q: %+v, not %q", arg, typed, res.Completion, want)
					}
				}
			}
		})
	}
}
