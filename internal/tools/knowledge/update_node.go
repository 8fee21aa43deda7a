package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/note"
	"lore/internal/note/relation"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
)

// UpdateNode: Change the title, text, confidence or properties of a node. Its
// relationships stay.
type UpdateNode struct {
	// Id, path, title or alias.
	NodeID string `json:"node_id"`
	// title, text (the body), confidence, or any property; null removes one.
	Updates map[string]any `json:"updates"`
	// Also find related nodes and recalculate the confidence, without writing either.
	ReAnalyze bool `json:"re_analyze,omitempty"`
	// Expected hash, from a read.
	IfHash string `json:"if_hash,omitempty"`
}

// Help is the text for people.
func (UpdateNode) Help() tool.Help {
	return tool.Help{
		Short: "Change the title, text, confidence or properties of a node",
		Long:  "Its relationships are kept.",
		Flags: map[string]string{
			"updates":    "title, text, confidence, or any property; null removes one",
			"re-analyze": "also find related nodes and recalculate the confidence, without writing either",
		},
		Examples: []string{
			"hyp-3b8d --updates confidence=0.7",
			"obs-2f6z --updates place=Kitchen",
		},
	}
}

// NodeUpdated is a node that was changed.
type NodeUpdated struct {
	NodeID string `json:"node_id"`
	Path   string `json:"path"`
	// Changed names the fields that changed.
	Changed []string `json:"changed"`
	Hash    string   `json:"hash"`
	// Related are nodes that may be related; the call links nothing.
	Related []RelatedNode `json:"related_nodes,omitempty"`
	// Suggested is the confidence by the evidence around it; it is not written.
	Suggested *NodeConfidence `json:"suggested_confidence,omitempty"`

	title    string
	warnings []string
}

// Plan makes one step for each field.
func (in UpdateNode) Plan(ctx context.Context, env Env) (NodeUpdated, change.Set, error) {
	var none NodeUpdated
	if len(in.Updates) == 0 {
		return none, nil, fault.Field("updates", "give the fields to change", "is empty")
	}
	n, err := env.open(ctx, "node_id", in.NodeID)
	if err != nil {
		return none, nil, err
	}
	if in.IfHash != "" && !strings.EqualFold(in.IfHash, n.hash) {
		return none, nil, &fault.Report{Kind: fault.Conflict, Field: "if_hash", Message: fmt.Sprintf("%s changed since you read it: its hash is now %s", n.Path, n.hash), Fix: "read it again"}
	}
	out := NodeUpdated{NodeID: n.id(), Path: n.Path, Changed: []string{}, title: n.row.Title}
	texts := 0
	for key := range in.Updates {
		if slices.Contains(textFields(), strings.TrimSpace(key)) {
			texts++
		}
	}
	if texts > 1 {
		return none, nil, fault.Field("updates", "give the text only once", "has several fields for the text")
	}
	e := env.edit(n)
	for _, key := range slices.Sorted(maps.Keys(in.Updates)) {
		was := e.now.Text()
		if err := out.step(e, strings.TrimSpace(key), in.Updates[key]); err != nil {
			return none, nil, fault.Rename(err, "", "updates")
		}
		if e.now.Text() != was {
			out.Changed = append(out.Changed, key)
		}
	}
	if err := kept(n.Note, e.now); err != nil {
		return none, nil, err
	}
	out.Hash = e.hash()
	if in.ReAnalyze {
		if err := out.analyse(ctx, env, n, e); err != nil {
			return none, nil, err
		}
	}
	set, err := e.set()
	return out, set, err
}

// analyse looks at the node as it will be.
func (u *NodeUpdated) analyse(ctx context.Context, env Env, n *node, e *edit) error {
	now := &node{Note: e.now, row: n.row}
	seen := relation.NodeOf(e.now)
	now.row.Sure, now.row.Title = seen.Confidence, cmp.Or(seen.Title, n.row.Title)
	c, _, err := env.judged(ctx, now, true)
	if err != nil {
		return err
	}
	u.Suggested = &c
	u.Related, err = env.relatedText(ctx, e.now, typeOf(&n.row), now.row.Title, says(e.now))
	return err
}

// kept refuses a text in which the relations below it are not read any more, or
// that leaves out those that stood in it.
func kept(was, now *note.Note) error {
	end := bodyOf(was).end
	for _, r := range relation.Of(was) {
		if r.ID == "" || r.Form != relation.FormLine || find(now, r.ID) != nil {
			continue
		}
		if r.Span.Start < end {
			return fault.Field("updates", "keep its line in the text, or delete the relationship first", "the new text would remove the relationship %s on line %d", r.ID, r.Line)
		}
		return fault.Field("updates", "close the open code block, comment or HTML in the text", "the relationship %s below this text would no longer be recognized", r.ID)
	}
	return nil
}

// step changes one field.
func (u *NodeUpdated) step(e *edit, key string, v any) error {
	switch {
	case strings.EqualFold(key, "type"):
		return fault.Field("updates", "use reclassify_node", "update_node cannot change the type")
	case strings.EqualFold(key, "id"):
		return fault.Field("updates", "leave it out", "the ID cannot be changed")
	case key == "title":
		return u.retitle(e, v)
	case slices.Contains(textFields(), key):
		if _, has := e.now.Front.Get(key); has && key != "text" && key != "content" {
			break // a property of that name
		}
		text, ok := v.(string)
		if !ok {
			return fault.Field("updates", "give it as text", "%s is not text", key)
		}
		return e.do(replaceBody(e.now, text), nil)
	case key == "confidence":
		c, err := confidenceOf("updates", v)
		if err != nil {
			return err
		}
		// What somebody states is where the next calculation begins.
		if err := e.property(priorKey, nil); err != nil {
			return err
		}
		if c == nil {
			return e.property(key, nil)
		}
		return e.property(key, *c)
	}
	return e.property(key, v)
}

// retitle changes the title where the note states it: as a property, or as its
// first heading. The file keeps its name.
func (u *NodeUpdated) retitle(e *edit, v any) error {
	title, ok := v.(string)
	title = toolkit.OneLine(title)
	if !ok || title == "" {
		return fault.Field("updates", "give it as text", "the title is empty")
	}
	if _, has := e.now.Front.Get("title"); has {
		return e.property("title", title)
	}
	if h := e.now.Headings; len(h) > 0 && h[0].Level == 1 && bodyOf(e.now).start == h[0].Span.End {
		u.warnings = append(u.warnings, "the file keeps its name; rename_note changes it and updates links")
		return e.do([]change.Patch{{Start: h[0].Span.Start, End: h[0].Span.End, Text: "# " + title}}, nil)
	}
	return e.do(note.SetProperty(e.now, "title", title))
}

// Preview names the fields.
func (u NodeUpdated) Preview() tool.Preview {
	if len(u.Changed) == 0 {
		return tool.Preview{Summary: u.title + " is unchanged"}
	}
	return tool.Preview{
		Summary: fmt.Sprintf("Update %s: %s", u.title, strings.Join(u.Changed, ", ")), Warnings: u.warnings,
		Details: map[string]any{"node_id": u.NodeID, "path": u.Path, "changed": u.Changed},
	}
}

// View says what changed.
func (u NodeUpdated) View() tool.View {
	if len(u.Changed) == 0 {
		return tool.View{Text: u.NodeID + " is unchanged\n"}
	}
	return tool.View{Text: fmt.Sprintf("updated %s: %s\n", u.NodeID, strings.Join(u.Changed, ", "))}
}
