package knowledge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lore/internal/change"
	"lore/internal/fault"
	"lore/internal/graph/judge"
	"lore/internal/index"
	"lore/internal/note"
	"lore/internal/note/summarize"
	"lore/internal/tool"
	"lore/internal/tools/toolkit"
	"lore/internal/vault"
)

// CreateNode: Create a note that is a node of the knowledge graph, such as an
// observation, hypothesis, claim, source, question or concept.
type CreateNode struct {
	// Observation, Hypothesis, Claim, Source, Concept, Question, Entity, Task, Note, or your own.
	Type string `json:"type"`
	// title, and text (or claim, question, or url of a Source); confidence 0 to 1; any other field becomes a property.
	Content map[string]any `json:"content"`
	// Also find related nodes, without linking them.
	AutoAnalyze bool `json:"auto_analyze,omitempty" default:"true"`
}

// Help is the text for people.
func (CreateNode) Help() tool.Help {
	return tool.Help{
		Short: "Create a node",
		Flags: map[string]string{
			"type":         "Observation, Hypothesis, Claim, Source, Concept, Question, Entity, Task, Note, or a type of your own",
			"content":      "title, text, confidence, or any other property",
			"auto-analyze": "also find related nodes, without linking them",
		},
		Examples: []string{
			`Question --content title="Does steeping twice help"`,
			`Source --content title="Tea notes" --content url=https://example.com/tea`,
		},
	}
}

// NodeCreated is a node that was made.
type NodeCreated struct {
	NodeID     string   `json:"node_id"`
	Path       string   `json:"path"`
	Type       string   `json:"type"`
	Title      string   `json:"title"`
	Confidence *float64 `json:"confidence"`
	Hash       string   `json:"hash"`
	// Related are nodes that may be related; the call links nothing.
	Related []RelatedNode `json:"related_nodes,omitempty"`

	warnings []string
}

// Plan writes the note.
func (in CreateNode) Plan(ctx context.Context, env Env) (NodeCreated, change.Set, error) {
	var none NodeCreated
	typ, err := nodeType("type", in.Type)
	if err != nil {
		return none, nil, err
	}
	d, err := newDraft(typ, in.Content)
	if err != nil {
		return none, nil, err
	}
	p, err := env.draft(ctx, d, map[string]bool{})
	if err != nil {
		return none, nil, err
	}
	out := NodeCreated{NodeID: d.id, Path: p, Type: typ, Title: d.title, Confidence: d.confidence, Hash: vault.Sum([]byte(d.written)).String()}
	same, err := env.Store.Names(ctx, index.NameQuery{Keys: []string{index.Key(d.title)}})
	if err != nil {
		return none, nil, err
	}
	if len(same) > 0 {
		out.warnings = append(out.warnings, "a note with this name already exists: "+same[0].Path)
	}
	if in.AutoAnalyze {
		// A node is not refused because nobody can tell what is near to it.
		if out.Related, err = env.relatedText(ctx, note.Parse(p, []byte(d.written)), typ, d.title, d.text); ctx.Err() != nil {
			return none, nil, ctx.Err()
		} else if err != nil {
			out.warnings = append(out.warnings, "related nodes could not be searched: "+err.Error())
		}
	}
	return out, change.Set{change.Create(p, d.written)}, nil
}

// What is told of a new node's neighbors unasked.
const (
	analysed     = 5
	analysedLike = 0.5
)

// relatedText finds the other nodes that the text of a note, as it will be, may
// be related to.
func (env Env) relatedText(ctx context.Context, n *note.Note, typ, title, text string) ([]RelatedNode, error) {
	found, _, err := env.nearText(ctx, title, text, analysed+1, analysedLike)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(x nearby) bool { return x.row.File.Path == n.Path })
	out, _, err := env.suggestions(ctx, judge.Doc{Path: n.Path, Title: title, Text: text, Type: typ}, found[:min(analysed, len(found))])
	if err != nil {
		return nil, err
	}
	return out, env.markLinked(ctx, out, n)
}

// knownTypes are the types that every vault has.
func knownTypes() []string {
	return []string{"Observation", "Hypothesis", "Source", "Concept", "Question", "Claim", "Entity", "Task", plain}
}

// nodeType gives the name of a type its one form: as the known ones are written,
// else as it was given.
func nodeType(field, name string) (string, error) {
	name = toolkit.OneLine(name)
	for _, t := range knownTypes() {
		if strings.EqualFold(t, name) {
			return t, nil
		}
	}
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune(" _-", r)
	})
	if r, _ := utf8.DecodeRuneInString(name); name == "" || bad || !unicode.IsLetter(r) || len(name) > 60 {
		return "", fault.Field(field, "use "+strings.Join(knownTypes(), ", ")+" or a type of your own", "%q is not a node type", name)
	}
	return name, nil
}

// A draft is a node that is to be made.
type draft struct {
	typ, id, title, text string
	confidence           *float64
	properties           map[string]any
	relations            string // a section that follows the text; may be empty
	written              string // the whole note, once it is put together
}

// textFields are the names under which the text of a node may come, best first.
func textFields() []string {
	return []string{"text", "content", "claim", "question", "hypothesis", "observation", "description"}
}

// newDraft reads the fields of a node.
func newDraft(typ string, content map[string]any) (*draft, error) {
	d := &draft{typ: typ, properties: map[string]any{}}
	for key, v := range content {
		d.properties[strings.TrimSpace(key)] = v
	}
	var err error
	take := func(key string) string {
		v, has := d.properties[key]
		s, isText := v.(string)
		if !has || v == nil {
			delete(d.properties, key)
			return ""
		}
		if !isText && err == nil {
			err = fault.Field("content", "give it as text", "%s is not text", key)
		}
		delete(d.properties, key)
		return bare(s)
	}
	d.title, d.id = toolkit.OneLine(take("title")), strings.TrimSpace(take("id"))
	for _, f := range textFields() {
		if d.text == "" {
			d.text = take(f)
		}
	}
	if u, ok := d.properties["url"].(string); ok && d.text == "" && strings.TrimSpace(u) != "" {
		d.text = "<" + strings.TrimSpace(u) + ">"
		d.title = cmp.Or(d.title, strings.TrimSpace(u))
	}
	if err != nil {
		return nil, err
	}
	if d.title == "" {
		d.title = strings.TrimSuffix(summarize.Clip(firstLine(d.text), 80), "…")
	}
	if d.title == "" {
		return nil, fault.Field("content", "give a title or some text", "has no title")
	}
	if d.confidence, err = confidenceOf("content", d.properties["confidence"]); err != nil {
		return nil, err
	}
	delete(d.properties, "confidence")
	if t, has := d.properties["type"]; has {
		if s, ok := t.(string); !ok || !strings.EqualFold(strings.TrimSpace(s), typ) {
			return nil, fault.Field("content", "set it only with the \"type\" argument", "has a different type")
		}
		delete(d.properties, "type")
	}
	if d.id != "" && !goodID(d.id) {
		return nil, fault.Field("content", "use letters, digits, - and _, or leave it out", "%q cannot be an ID", d.id)
	}
	return d, nil
}

func goodID(s string) bool {
	return len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(s, "# \t\n"), "\n")
	return strings.Trim(line, " \t\r*_>-")
}

// confidenceOf reads a number between 0 and 1; nil is not known.
func confidenceOf(field string, v any) (*float64, error) {
	var f float64
	switch v := v.(type) {
	case nil:
		return nil, nil
	case float64:
		f = v
	case json.Number:
		var err error
		if f, err = v.Float64(); err != nil {
			f = -1
		}
	case string:
		if err := json.Unmarshal([]byte(v), &f); err != nil {
			f = -1
		}
	default:
		f = -1
	}
	if !(f >= 0 && f <= 1) {
		return nil, fault.Field(field, "give a number between 0 and 1", "the confidence %v is not valid", v)
	}
	return &f, nil
}

// draft puts a node together and finds a place for it. Paths and ids that are in
// taken belong to others of the same plan.
func (env Env) draft(ctx context.Context, d *draft, taken map[string]bool) (string, error) {
	var err error
	if d.id == "" {
		if d.id, err = env.newNodeID(ctx, d.typ, seed(ctx, "node", d.typ, d.title), taken); err != nil {
			return "", err
		}
	} else {
		names, err := env.Store.Names(ctx, index.NameQuery{Keys: []string{index.Key(d.id)}})
		if err != nil {
			return "", err
		}
		if len(names) > 0 || taken[d.id] {
			return "", fault.Field("content", "choose another ID, or leave it out", "the ID %q is in use", d.id)
		}
	}
	taken[d.id] = true
	p, err := env.place(ctx, d, taken)
	if err != nil {
		return "", err
	}
	taken[vault.Fold(p)] = true
	return p, env.write(d, p)
}

// write makes the text of the note.
func (env Env) write(d *draft, p string) error {
	text := "# " + d.title + "\n"
	if d.text != "" {
		text += "\n" + strings.ReplaceAll(d.text, "\r\n", "\n") + "\n"
	}
	if d.relations != "" {
		text += "\n" + d.relations
	}
	e := &edit{env: env, now: env.Parse.Parse(p, []byte(text))}
	if err := e.property("id", d.id); err != nil {
		return err
	}
	if err := e.property("type", d.typ); err != nil {
		return err
	}
	if d.confidence != nil {
		if err := e.property("confidence", *d.confidence); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(d.properties)) {
		if err := e.do(note.SetProperty(e.now, key, d.properties[key])); err != nil {
			return fault.Rename(err, "", "content")
		}
	}
	d.written = e.now.Text()
	return nil
}

// place is a path that no file has.
func (env Env) place(ctx context.Context, d *draft, taken map[string]bool) (string, error) {
	name := note.FileName(d.title)
	folder := path.Join(env.Folder, d.typ)
	if _, err := vault.CleanNew(path.Join(folder, name) + ".md"); err != nil {
		name = d.id // a title such as "con" is no name of a file
	}
	for i := 1; i < 1000; i++ {
		try := name
		if i > 1 {
			try = fmt.Sprintf("%s %d", name, i)
		}
		p, err := vault.CleanNew(path.Join(folder, try) + ".md")
		if err != nil {
			return "", fault.Rename(err, "", "content")
		}
		names, err := env.Store.Names(ctx, index.NameQuery{Keys: []string{index.TargetKey(p)}})
		if err != nil {
			return "", err
		}
		used := slices.ContainsFunc(names, func(n index.Name) bool { return vault.Fold(n.Path) == vault.Fold(p) })
		if !used && !taken[vault.Fold(p)] {
			if _, err := env.Vault.Stat(ctx, p); fault.Of(err) == fault.NotFound {
				return p, nil
			} else if err != nil {
				return "", err
			}
		}
	}
	return "", fault.New(fault.Conflict, "there are too many notes called %q", name)
}

// Preview says what is about to be made.
func (n NodeCreated) Preview() tool.Preview {
	return tool.Preview{
		Summary: fmt.Sprintf("Create %s %s", n.Type, n.Title), Warnings: n.warnings,
		Details: map[string]any{"node_id": n.NodeID, "node_type": n.Type, "path": n.Path, "content_preview": n.Title, "relationships_affected": 0},
	}
}

// View says what was made.
func (n NodeCreated) View() tool.View {
	v := tool.View{Text: fmt.Sprintf("created %s: %s %s in %s\n", n.NodeID, n.Type, n.Title, n.Path)}
	if len(n.Related) > 0 {
		v.Head, v.Foot = []string{"may", "node", "title", "why"}, "suggestions; link them with relationship create"
	}
	for _, r := range n.Related {
		v.Rows = append(v.Rows, []string{r.Suggested, r.ID, r.Title, r.Reasoning})
	}
	return v
}
