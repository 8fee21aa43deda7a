package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/access"
	"lore/internal/fault"
	"lore/internal/surface/serve"
	"lore/internal/tool"
)

// A Tool is one tool as the interface tells of it.
type Tool struct {
	Name         string             `json:"name"`
	Title        string             `json:"title"`
	Toolset      string             `json:"toolset"`
	Description  string             `json:"description"`
	Instructions string             `json:"instructions,omitempty"`
	Effect       access.Effect      `json:"effect"`
	Needs        access.Scope       `json:"needs,omitempty"`
	Shape        tool.Shape         `json:"shape"`
	Feed         bool               `json:"feed,omitempty"`
	Aliases      []string           `json:"aliases,omitempty"`
	Input        *jsonschema.Schema `json:"input_schema"`
	Output       *jsonschema.Schema `json:"output_schema"`
}

// Tools is a list of tools.
type Tools struct {
	Tools []Tool `json:"tools"`
}

func (a *API) describe(t *tool.Tool) Tool {
	return Tool{
		Name: t.Name, Title: t.Title, Toolset: t.Set, Description: t.Doc, Instructions: a.o.Door.Instructions(t), Effect: t.Effect, Needs: t.Needs,
		Shape: t.Shape, Feed: t.Feed, Aliases: t.Aliases, Input: t.Input(), Output: t.Output(),
	}
}

func (a *API) listTools(w http.ResponseWriter, _ *http.Request, _ access.Principal) error {
	out := Tools{Tools: []Tool{}}
	for _, t := range a.o.Door.On() {
		out.Tools = append(out.Tools, a.describe(t))
	}
	return serve.JSON(w, http.StatusOK, out)
}

func (a *API) showTool(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	t, err := a.o.Door.Find(r.PathValue("name"))
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, a.describe(t))
}

func (a *API) callTool(w http.ResponseWriter, r *http.Request, who access.Principal) error {
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
		return fault.Field(tool.DryRun, "write "+tool.DryRun+"=1", "%q is neither given nor left out", word)
	}
	res, err := a.o.Door.Call(r.Context(), who, r.PathValue("name"), args)
	if err != nil {
		return err
	}
	return a.result(w, res)
}

// dry adds the argument to an object. Twins are for the door to refuse, so the
// text is kept as it came.
func dry(args []byte) ([]byte, error) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 {
		args = []byte("{}")
	}
	if args[0] != '{' {
		return nil, fault.Fix(fault.Invalid, "send one object", "the arguments are no object")
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
		return fault.New(fault.Invalid, "the body: %v", err)
	}
	return nil
}
