package rest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"lore/internal/doctor"
	"lore/internal/fault"
	"lore/internal/surface/http/serve"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/schema"
)

// playing finds the tool that plays a role.
func (a *API) playing(r tool.Role) (*tool.Tool, error) {
	for _, t := range a.o.Door.On() {
		if slices.Contains(t.Roles, r) {
			return t, nil
		}
	}
	return nil, fault.New(fault.NotFound, "the tool that this needs is turned off")
}

// activity lists what was done: the tool that tells it, with its arguments as
// parameters.
func (a *API) activity(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	return a.look(w, r, who, tool.TellsActivity, nil)
}

// Verified tells whether the record of what was done is as it was written.
type Verified struct {
	Whole   bool   `json:"whole"`
	Entries int    `json:"entries"`
	Problem string `json:"problem,omitempty"`
}

// verify checks the record. That it was changed is an answer, not a failure.
func (a *API) verify(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	if a.o.Verify == nil {
		return fault.New(fault.NotFound, "this server has no audit log")
	}
	n, err := a.o.Verify(r.Context())
	out := Verified{Whole: err == nil, Entries: n}
	if err != nil {
		if fault.Of(err) != fault.Conflict { // it could not be looked at
			return err
		}
		out.Problem = err.Error()
	}
	return serve.JSON(w, http.StatusOK, out)
}

// Findings are what the doctor looked at.
type Findings struct {
	Findings []doctor.Finding `json:"findings"`
}

func (a *API) doctor(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	if a.o.Doctor == nil {
		return fault.New(fault.NotFound, "this server cannot run the lore doctor checks")
	}
	list, err := a.o.Doctor(r.Context())
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, Findings{append([]doctor.Finding{}, list...)})
}

// showOperation is one change with its diff.
func (a *API) showOperation(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	return a.look(w, r, who, tool.TellsOperation, map[string]any{"operation": r.PathValue("id")})
}

// look calls the tool that plays a role with the parameters of a request.
func (a *API) look(w http.ResponseWriter, r *http.Request, who access.Principal, role tool.Role, args map[string]any) error {
	t, err := a.playing(role)
	if err != nil {
		return err
	}
	given, err := parameters(t, r.URL.Query())
	if err != nil {
		return err
	}
	for name, v := range args {
		given[name] = v
	}
	raw, err := schema.Marshal(given)
	if err != nil {
		return err
	}
	res, err := a.o.Door.Call(r.Context(), fromProgram(r, who), t.Name, raw)
	if err != nil {
		return err
	}
	return a.result(w, res)
}

// parameters are the arguments of a tool as a query has them. Which exist, the
// door says.
func parameters(t *tool.Tool, query url.Values) (map[string]any, error) {
	out := map[string]any{}
	for name, values := range query {
		if len(values) != 1 {
			return nil, fault.Field(name, "give it once", "is given %d times", len(values))
		}
		out[name] = values[0]
		p := t.Input().Properties[name]
		if p == nil {
			continue
		}
		switch p.Type {
		case "integer":
			n, err := strconv.ParseInt(values[0], 10, 64)
			if err != nil {
				return nil, fault.Field(name, "give a whole number", "%q is not valid", values[0])
			}
			out[name] = n
		case "boolean":
			if values[0] != "true" && values[0] != "false" {
				return nil, fault.Field(name, "give true or false", "%q is not valid", values[0])
			}
			out[name] = values[0] == "true"
		}
	}
	return out, nil
}

// undo takes one change back. It is planned and asked about like any other, unless
// a person means it.
func (a *API) undo(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	return a.takeBack(w, r, who, tool.TakesBack)
}

// redo brings one back.
func (a *API) redo(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	return a.takeBack(w, r, who, tool.BringsBack)
}

func (a *API) takeBack(w http.ResponseWriter, r *http.Request, who access.Principal, role tool.Role) error {
	t, err := a.playing(role)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	args := map[string]json.RawMessage{}
	if len(b) > 0 {
		if err := once(b); err != nil {
			return err
		}
		if err := json.Unmarshal(b, &args); err != nil {
			return fault.Fix(fault.Invalid, "send one object", "the arguments are not an object")
		}
	}
	if args["operation"] != nil {
		return fault.Field("operation", "leave it out: it is in the path", "is given twice")
	}
	if args["operation"], err = schema.Marshal(r.PathValue("id")); err != nil {
		return err
	}
	raw, err := schema.Marshal(args)
	if err != nil {
		return err
	}
	if who, err = a.meant(r, fromProgram(r, who)); err != nil {
		return err
	}
	res, err := a.o.Door.Call(r.Context(), who, t.Name, raw)
	if err != nil {
		return err
	}
	return a.result(w, res)
}
