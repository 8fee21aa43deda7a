package mcp

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/text/unicode/norm"

	"lore/internal/fault"
	"lore/internal/schema"
	"lore/internal/tool"
)

// page is how many notes one answer to resources/list holds.
const page = 100

const noteType = "text/markdown"

// uriOf is the address of a note: note:///Projects/Alpha.md, with whatever an
// address cannot hold written as %XX.
func uriOf(path string) string { return (&url.URL{Scheme: "note", Path: "/" + path}).String() }

// pathOf is the path in an address. There is one vault, so there is no host.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "note" || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return "", false
	}
	p, ok := strings.CutPrefix(u.Path, "/")
	return p, ok && p != ""
}

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
		return fault.New(fault.NotFound, "nothing here does that (%s)", r)
	}
	given, err := schema.Marshal(args)
	if err != nil {
		return err
	}
	res, err := s.door().Call(ctx, s.opts.Who, t.Name, given)
	if err != nil {
		return err
	}
	raw, err := schema.Marshal(res.Value)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

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
		Name: "note", Title: "Note", MIMEType: noteType, URITemplate: "note:///{+path}",
		Description: "One note, by its path from the root of the vault.",
	}, s.readResource)
}

// listResources lists the notes page by page, straight from the vault: a large
// vault must not become as many registered resources.
func (s *Server) listResources(ctx context.Context, method string, req sdk.Request, next sdk.MethodHandler) (sdk.Result, error) {
	offset := 0
	if p, ok := req.GetParams().(*sdk.ListResourcesParams); ok && p != nil && p.Cursor != "" {
		var err error
		if offset, err = strconv.Atoi(p.Cursor); err != nil || offset < 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "cursor: not one of ours"}
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
	var notes noteList
	if err := s.use(ctx, tool.ListsNotes, map[string]any{"limit": page, "offset": offset, "sort": "path"}, &notes); err != nil {
		return nil, internal(err)
	}
	for _, n := range notes.Notes {
		list.Resources = append(list.Resources, &sdk.Resource{
			URI: uriOf(n.Path), Name: n.Path, Title: n.Title, MIMEType: noteType, Annotations: &sdk.Annotations{LastModified: n.Modified},
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
	path, ok := pathOf(uri)
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	text, err := s.readNote(ctx, path)
	switch fault.Of(err) {
	case "":
	case fault.NotFound, fault.Invalid, fault.Unsafe, fault.Ambiguous, fault.Denied: // what is hidden is not there
		return nil, sdk.ResourceNotFoundError(uri)
	default:
		return nil, internal(err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: noteType, Text: text}}}, nil
}

// linesAtOnce is how much of a note is asked for in one call.
const linesAtOnce = 5000

// readNote reads the whole note at exactly this path. The tool also takes names
// and titles, which an address is not.
func (s *Server) readNote(ctx context.Context, path string) (string, error) {
	var all strings.Builder
	hash := ""
	for line := 1; ; {
		var part struct {
			Path, Hash, Text, More string
			Lines                  int
		}
		if err := s.use(ctx, tool.ReadsNote, map[string]any{"path": path, "offset": line, "limit": linesAtOnce}, &part); err != nil {
			return "", err
		}
		switch {
		case norm.NFC.String(part.Path) != norm.NFC.String(path):
			return "", fault.New(fault.NotFound, "no note at %q", path)
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
