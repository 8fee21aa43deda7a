package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/surface/mcp/apps"
	"lore/internal/surface/mcp/noteuri"
	"lore/internal/tool"
	"lore/internal/tool/schema"
)

// page is how many notes one answer to resources/list holds.
const page = 100

const noteType = "text/markdown"

// playing is the tool that plays a role, or nil.
func (s *Server) playing(r tool.Role) *tool.Tool {
	for _, t := range s.door().On() {
		if slices.Contains(t.Roles, r) && s.opts.allows(t) {
			return t
		}
	}
	return nil
}

// use calls the tool that plays a role and reads its own part of the answer.
// Calls for resources and prompts are calls like any other: judged, counted and
// recorded.
func (s *Server) use(ctx context.Context, r tool.Role, args map[string]any, out any) error {
	t := s.playing(r)
	if t == nil {
		return fault.New(fault.NotFound, "the tool that this needs is turned off or not offered to this client")
	}
	given, err := schema.Marshal(args)
	if err != nil {
		return err
	}
	who := s.caller(ctx, t.Name)
	who.Unasked = ctx.Value(unaskedKey{}) != nil
	res, err := s.door().Call(ctx, who, t.Name, given)
	if err != nil {
		return err
	}
	if res.Question != nil {
		return errUndecided
	}
	raw, err := schema.Marshal(res.Value)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

type unaskedKey struct{}

// unasked marks what the server does by itself: nobody is asked about it.
func unasked(ctx context.Context) context.Context { return context.WithValue(ctx, unaskedKey{}, true) }

// errUndecided is the error of a call that a person must decide about first.
var errUndecided = fault.New(fault.Denied, "a person must decide in Lore what this app may read")

// A noteList is what the tool that lists notes answers.
type noteList struct {
	Notes []struct {
		Path     string `json:"path"`
		Title    string `json:"title"`
		Modified string `json:"modified"`
	} `json:"notes"`
	Total int `json:"total"`
}

func (s *Server) addResources() {
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "note", Title: "Note", MIMEType: noteType, URITemplate: "note:///{+path}{?heading,block}",
		Description: "One note by its path from the root of the vault, or the part under a heading or of a block.",
	}, s.readResource)
}

// listResources lists the notes page by page, straight from the vault: a large
// vault must not become as many registered resources.
func (s *Server) listResources(ctx context.Context, method string, req sdk.Request, next sdk.MethodHandler) (sdk.Result, error) {
	offset := 0
	if p, ok := req.GetParams().(*sdk.ListResourcesParams); ok && p != nil && p.Cursor != "" {
		var err error
		if offset, err = strconv.Atoi(p.Cursor); err != nil || offset < 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "cursor: unknown"}
		}
		own := *p
		own.Cursor = ""
		*p = own // the cursor is ours, and nothing the library knows
	}
	res, err := next(ctx, method, req)
	list, ok := res.(*sdk.ListResourcesResult)
	if err != nil || !ok {
		return res, err
	}
	if offset > 0 || !showsApps(req) {
		list.Resources = slices.DeleteFunc(list.Resources, func(r *sdk.Resource) bool { return r.MIMEType == apps.MIMEType })
	}
	var notes noteList
	if err := s.use(ctx, tool.ListsNotes, map[string]any{"limit": page, "offset": offset, "sort": "path"}, &notes); fault.Of(err) == fault.Denied {
		return list, nil // what may not be read is not there
	} else if err != nil {
		return nil, internal(err)
	}
	for _, n := range notes.Notes {
		list.Resources = append(list.Resources, &sdk.Resource{
			URI: noteuri.Of(n.Path), Name: n.Path, Title: n.Title, MIMEType: noteType, Annotations: &sdk.Annotations{LastModified: n.Modified},
		})
	}
	if end := offset + len(notes.Notes); len(notes.Notes) > 0 && end < notes.Total {
		list.NextCursor = strconv.Itoa(end)
	}
	return list, nil
}

// internal is an error of a method that has no other way to tell it.
func internal(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

func (s *Server) readResource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	at, ok := noteuri.Parse(uri)
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	text, err := s.readNote(ctx, at)
	if err != nil {
		return nil, s.notThere(err, uri)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: noteType, Text: text}}}, nil
}

// notThere says of what is missing and of what is hidden the same: it is not
// there.
func (s *Server) notThere(err error, uri string) error {
	switch fault.Of(err) {
	case "":
		return nil
	case fault.NotFound, fault.Invalid, fault.Unsafe, fault.Ambiguous, fault.Denied:
		return sdk.ResourceNotFoundError(uri)
	}
	return internal(err)
}

// linesAtOnce is how much of a note is asked for in one call.
const linesAtOnce = 5000

// readNote reads the whole note at exactly this path, or a part of it. The tool
// also takes names and titles, which an address is not.
func (s *Server) readNote(ctx context.Context, at noteuri.Place) (string, error) {
	path := at.Path
	var all strings.Builder
	hash := ""
	for line := 1; ; {
		var part struct {
			Path, Hash, Text, More string
			Lines                  int
		}
		args := map[string]any{"path": path, "offset": line, "limit": linesAtOnce}
		if at.Section != "" {
			args["section"] = at.Section
		}
		if err := s.use(ctx, tool.ReadsNote, args, &part); err != nil {
			return "", err
		}
		switch {
		case !noteuri.SamePath(part.Path, path):
			return "", fault.New(fault.NotFound, "there is no note at %q", path)
		case hash != "" && part.Hash != hash:
			return "", fault.Fix(fault.Conflict, "read it again", "%q changed while it was read", path)
		}
		hash = part.Hash
		all.WriteString(part.Text)
		line += strings.Count(part.Text, "\n")
		switch whole := strings.HasSuffix(part.Text, "\n"); {
		case part.More == "" || line > part.Lines:
			return all.String(), nil
		case !whole:
			return "", fault.New(fault.TooLarge, "%q has a line that is too long to be sent", path)
		}
	}
}
