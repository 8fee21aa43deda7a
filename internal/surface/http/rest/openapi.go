package rest

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"lore/internal/doctor"
	"lore/internal/surface/http/serve"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

// object is a part of the description.
type object = map[string]any

// openAPI answers with a description of the interface as it is at this moment:
// the routes, and every tool that is on with its own schemas.
func (a *API) openAPI(w http.ResponseWriter, _ *http.Request, _ access.Principal) error {
	d, err := a.description()
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, d)
}

func (a *API) description() (object, error) {
	schemas, err := a.schemas()
	if err != nil {
		return nil, err
	}
	paths := object{}
	at := func(path string) object {
		if paths[path] == nil {
			paths[path] = object{}
		}
		return paths[path].(object) //nolint:errcheck // made one line above
	}
	for _, r := range a.routes() {
		at(strings.ReplaceAll(r.Pattern, "...}", "}"))[strings.ToLower(r.Method)] = operation(r)
	}
	for _, t := range a.o.Door.On() {
		at(path("tools", t.Name))["post"] = toolOperation(t)
	}
	return object{
		"openapi": "3.1.0",
		"info":    object{"title": "Lore", "version": a.o.Version, "description": "Search and edit a folder of Markdown notes, safely."},
		"paths":   paths,
		"components": object{
			"schemas": schemas,
			"securitySchemes": object{
				"token":   object{"type": "http", "scheme": "bearer", "description": "created with lore token create"},
				"session": object{"type": "apiKey", "in": "cookie", "name": "lore_session", "description": "session of a person's browser; the name ends with _ and the port"},
			},
		},
	}, nil
}

// variable finds the names in a pattern.
var variable = regexp.MustCompile(`\{(\w+)(?:\.\.\.)?\}`)

func operation(r Route) object {
	var params []object
	for _, m := range variable.FindAllStringSubmatch(r.Pattern, -1) {
		params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		params = append(params, object{"name": name, "in": "query", "description": r.Query[name], "schema": object{"type": "string"}})
	}
	success := object{"description": r.Summary}
	switch {
	case strings.HasSuffix(r.Pattern, "/events"):
		success["content"] = object{"text/event-stream": object{"schema": object{"type": "string"}}}
	case r.Out != "":
		success["content"] = content(ref(r.Out))
	}
	o := object{
		"operationId": r.ID, "summary": r.Summary, "security": security(r.Person), "x-scope": r.Scope,
		"responses": responses(r.Status, success, r.Pending),
	}
	if len(params) > 0 {
		o["parameters"] = params
	}
	if r.In != "" {
		o["requestBody"] = object{"required": true, "content": content(ref(r.In))}
	}
	return o
}

// toolOperation is the call of one tool, with its own arguments and answer.
func toolOperation(t *tool.Tool) object {
	own := object{"allOf": []any{ref("Result"), t.Output()}}
	o := object{
		"operationId": "call_" + t.Name, "summary": t.Title, "description": t.Doc, "tags": []string{t.Set}, "security": security(false), "x-effect": t.Effect,
		"requestBody": object{"required": len(t.Input().Required) > 0, "content": content(t.Input())},
		"responses":   responses(http.StatusOK, object{"description": "The answer", "content": content(own)}, t.Effect != access.Reads),
	}
	if t.Effect != access.Reads {
		o["parameters"] = []object{{"name": tool.DryRun, "in": "query", "description": "1: plan only, change nothing", "schema": object{"type": "string"}}}
	}
	return o
}

func security(person bool) []object {
	session := object{"session": []string{}}
	if person {
		return []object{session}
	}
	return []object{{"token": []string{}}, session}
}

func responses(status int, success object, pending bool) object {
	out := object{
		strconv.Itoa(status): success,
		"default":            object{"description": "A problem", "content": object{"application/problem+json": object{"schema": ref("Problem")}}},
	}
	if pending {
		out["202"] = object{"description": "The call waits for approval", "content": content(ref("Pending"))}
	}
	return out
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

func content(schema any) object {
	return object{"application/json": object{"schema": schema}}
}

// schemas describes what is no tool's own.
func (a *API) schemas() (object, error) {
	text, flag, list := object{"type": "string"}, object{"type": "boolean"}, object{"type": "array", "items": object{"type": "string"}}
	out := object{
		"Arguments": object{"type": "object", "description": "The arguments of the tool; see its input_schema."},
		"Result": object{"type": "object", "required": []string{"success"}, "description": "The fields in every response, besides the tool's own.",
			"properties": object{"success": flag, "message": text, "error": text, "isError": flag, "user_feedback": text, "notices": list, "view": ref("View"),
				"dry_run": flag, "operation_id": text, "changes": object{"type": "array", "items": object{"type": "object"}}}},
		"Pending": object{"type": "object", "required": []string{"success", "requires_confirmation", "pending_operation_id"}, "description": "The call waits for approval.",
			"properties": object{"success": flag, "requires_confirmation": flag, "operation": text, "details": object{}, "message": text, "summary": text, "risk": text,
				"reason": text, "pending_operation_id": text, "revision": object{"type": "integer"}, "expires": object{"type": "string", "format": "date-time"}}},
	}
	options := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage]():   {},
		reflect.TypeFor[jsonschema.Schema](): {Type: "object"},
		reflect.TypeFor[time.Time]():         {Type: "string", Format: "date-time"},
	}}
	types := map[string]reflect.Type{
		"Problem": reflect.TypeFor[serve.Problem](), "Tools": reflect.TypeFor[Tools](), "Tool": reflect.TypeFor[Tool](), "Status": reflect.TypeFor[Status](),
		"Approvals": reflect.TypeFor[Approvals](), "Approval": reflect.TypeFor[tool.Question](), "Answer": reflect.TypeFor[tool.Answer](), "Rules": reflect.TypeFor[Rules](),
		"Verified": reflect.TypeFor[Verified](), "Findings": reflect.TypeFor[Findings](), "Finding": reflect.TypeFor[doctor.Finding](), "View": reflect.TypeFor[View](),
	}
	maps.Copy(types, a.o.Types)
	for name, t := range types {
		s, err := jsonschema.ForType(t, options)
		if err != nil {
			return nil, err
		}
		out[name] = s
	}
	// The server fills in who answered, and when.
	if answer, ok := out["Answer"].(*jsonschema.Schema); ok {
		answer.Required = []string{"approve", "revision"}
		delete(answer.Properties, "by")
		delete(answer.Properties, "at")
		answer.PropertyOrder = nil
	}
	return out, nil
}
