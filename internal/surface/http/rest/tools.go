package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"unicode/utf16"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/fault"
	"lore/internal/surface/http/serve"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
)

// A Tool is one tool as the interface tells of it.
type Tool struct {
	Name         string             `json:"name"`
	Title        string             `json:"title"`
	Toolset      string             `json:"toolset"`
	Summary      string             `json:"summary"`            // for people
	Commands     []string           `json:"commands,omitempty"` // examples at a terminal
	Hidden       bool               `json:"hidden,omitempty"`   // another name for what people have a tool for
	Description  string             `json:"description"`
	Instructions string             `json:"instructions,omitempty"`
	Effect       access.Effect      `json:"effect"`
	Needs        access.Scope       `json:"needs,omitempty"`
	Shape        tool.Shape         `json:"shape"`
	Feed         bool               `json:"feed,omitempty"`
	Roles        []tool.Role        `json:"roles,omitempty"`     // the parts that it plays for surfaces
	Source       string             `json:"source,omitempty"`    // the server that a foreign tool is of
	Untrusted    bool               `json:"untrusted,omitempty"` // its answers hold words of others
	Aliases      []string           `json:"aliases,omitempty"`
	Input        *jsonschema.Schema `json:"input_schema"`
	Output       *jsonschema.Schema `json:"output_schema,omitempty"`
}

// Tools is a list of tools.
type Tools struct {
	Tools []Tool `json:"tools"`
}

func (a *API) describe(t *tool.Tool) Tool {
	return Tool{
		Name: t.Name, Title: t.Title, Toolset: t.Set, Summary: t.Summary(), Commands: t.CommandLines(t.Command()), Hidden: t.Help.Hidden, Description: t.Doc, Instructions: a.o.Door.Instructions(t), Effect: t.Effect, Needs: t.Needs,
		Shape: t.Shape, Feed: t.Feed, Roles: t.Roles, Source: t.Source, Untrusted: t.Untrusted, Aliases: t.Aliases, Input: t.Input(), Output: t.Output(),
	}
}

func (a *API) listTools(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	brief, err := flag(r, briefParameter)
	if err != nil {
		return err
	}
	out := Tools{Tools: []Tool{}}
	for _, t := range a.o.Door.On() {
		if reaches(who, t) != nil {
			continue
		}
		one := a.describe(t)
		if brief {
			one.Output, one.Instructions, one.Commands = nil, "", nil
		}
		out.Tools = append(out.Tools, one)
	}
	return serve.Tagged(w, r, out)
}

// briefParameter leaves out what only models and programs read.
const briefParameter = "brief"

// flag reads a parameter that is either there or not: one that is misspelled must
// not count as left out.
func flag(r *http.Request, name string) (bool, error) {
	switch word := r.URL.Query().Get(name); word {
	case "":
		return false, nil
	case "1", "true":
		return true, nil
	default:
		return false, fault.Field(name, "write "+name+"=1, or leave it out", "%q is not 1 or true", word)
	}
}

// reaches says why a principal may not use a tool, whatever its scopes: no token
// reaches conversations, or decides for a person.
func reaches(who access.Principal, t *tool.Tool) error {
	switch {
	case who.Kind == access.Person || !t.ForPersons():
		return nil
	case t.Persons:
		return fault.New(fault.Denied, "only a person can call %s", t.Name)
	}
	return fault.New(fault.Denied, "%s uses chats, and only a person can use chats", t.Name)
}

func (a *API) showTool(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	t, err := a.o.Door.Find(r.PathValue("name"))
	if err == nil {
		err = reaches(who, t)
	}
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, a.describe(t))
}

func (a *API) callTool(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	t, err := a.o.Door.Find(r.PathValue("name"))
	if err == nil {
		if err := reaches(who, t); err != nil {
			return err
		}
	}
	if err != nil || t.Effect != access.Reads || t.With != "" { // somebody may be asked
		who = fromProgram(r, who)
	}
	args, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	switch word := r.URL.Query().Get(tool.DryRun); word {
	case "":
	case "1", "true":
		if args, err = dry(args); err != nil {
			return err
		}
	default:
		// What is misspelt must not run.
		return fault.Field(tool.DryRun, "write "+tool.DryRun+"=1", "%q is not valid", word)
	}
	draw, err := drawn(r)
	if err != nil {
		return err
	}
	if who, err = a.meant(r, who); err != nil {
		return err
	}
	res, err := a.o.Door.Call(r.Context(), who, r.PathValue("name"), args)
	switch {
	case err != nil:
		return err
	case !draw || res.Question != nil || res.Value == nil:
		return a.result(w, res)
	}
	return withView(w, res)
}

// fromProgram adds which program of this machine calls with a token: it must not
// answer what it asks for.
func fromProgram(r *http.Request, who access.Principal) access.Principal {
	if who.Kind != access.Person {
		who.Program = serve.Program(r.Context())
	}
	return who
}

// meant is the caller of a call that can be a person's own act, seen and meant: a
// saved editor, a sent form. What destroys is asked about all the same, or needs the
// PIN as an approval does.
func (a *API) meant(r *http.Request, who access.Principal) (access.Principal, error) {
	given, err := flag(r, meantParameter)
	if err != nil || !given {
		return who, err
	}
	if who.Kind != access.Person {
		return who, fault.New(fault.Denied, "only a person can set %s: leave it out", meantParameter)
	}
	who.Explicit = true
	if a.o.Unlocked != nil {
		ok, err := a.o.Unlocked(r.Context(), who.ID)
		if err != nil {
			return who, err
		}
		who.Locked = !ok
	}
	return who, nil
}

// meantParameter says that a person means exactly this call.
const meantParameter = "meant"

// drawn reports whether the caller wants the answer as people see it, too.
func drawn(r *http.Request) (bool, error) {
	return flag(r, viewParameter)
}

// viewParameter asks for the answer as people see it, beside the answer itself.
const viewParameter = "view"

// withView answers with the result and how people see it: front ends draw the
// parts of a view, and know no tool.
func withView(w http.ResponseWriter, res tool.Result) error {
	head, err := schema.Marshal(res)
	if err != nil {
		return err
	}
	own, err := schema.Marshal(NewView(res.View()))
	if err != nil {
		return err
	}
	serve.Write(w, "application/json", http.StatusOK, slices.Concat(head[:len(head)-1], []byte(`,"view":`), own, []byte("}")))
	return nil
}

// A View is a result drawn for people, in parts. Which are there, the shape of
// the tool says.
type View struct {
	Text  string      `json:"text,omitempty"`
	Items []Item      `json:"items,omitempty"`
	Head  []string    `json:"head,omitempty"`
	Rows  [][]string  `json:"rows,omitempty"`
	Pairs [][2]string `json:"pairs,omitempty"`
	Foot  string      `json:"foot,omitempty"`
}

// An Item is one note or passage of a list.
type Item struct {
	Title  string   `json:"title"`
	Path   string   `json:"path,omitempty"`
	Line   int      `json:"line,omitempty"`
	Detail string   `json:"detail,omitempty"`
	Text   string   `json:"text,omitempty"`
	Marks  [][2]int `json:"marks,omitempty"` // parts of Text, in UTF-16 units: what scripts count in
	Score  float64  `json:"score,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// NewView puts a view into the form that crosses the wire.
func NewView(v tool.View) View {
	out := View{Text: v.Text, Head: v.Head, Rows: v.Rows, Pairs: v.Pairs, Foot: v.Foot}
	for _, it := range v.Items {
		i := Item{Title: it.Title, Path: it.Path, Line: it.Line, Detail: it.Detail, Text: it.Text, Score: it.Score, Notes: it.Notes}
		for _, m := range it.Marks {
			if m.Start < 0 || m.Start > m.End || m.End > len(it.Text) {
				continue
			}
			start := units(it.Text[:m.Start])
			i.Marks = append(i.Marks, [2]int{start, start + units(it.Text[m.Start:m.End])})
		}
		out.Items = append(out.Items, i)
	}
	return out
}

// units counts a text the way scripts do.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// dry adds the argument to an object. Twins are for the door to refuse, so the
// text is kept as it came.
func dry(args []byte) ([]byte, error) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 {
		args = []byte("{}")
	}
	if args[0] != '{' {
		return nil, fault.Fix(fault.Invalid, "send one object", "the arguments are not an object")
	}
	rest := bytes.TrimSpace(args[1:])
	head := `{"` + tool.DryRun + `":true`
	if rest[0] != '}' {
		head += ","
	}
	return append([]byte(head), rest...), nil
}

// result answers with what came of a call: 202 when a person is asked, and
// where to look for the answer.
func (a *API) result(w http.ResponseWriter, res tool.Result) error {
	if res.Question == nil {
		return serve.JSON(w, http.StatusOK, res)
	}
	if a.o.Page != nil {
		res.Page = a.o.Page(res.Question.ID)
	}
	w.Header().Set("Location", path("approvals", res.Question.ID))
	return serve.JSON(w, http.StatusAccepted, res)
}

// Decode reads a body into a struct, and refuses what it does not know and what
// it is told twice: of two answers, which one was meant?
func Decode(r io.Reader, v any) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := once(b); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fault.New(fault.Invalid, "the request body is not valid: %v", err)
	}
	return nil
}
