package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lore/internal/fault"
	"lore/internal/surface/mcp/noteuri"
	"lore/internal/surface/mcp/prompts"
	"lore/internal/tool"
)

// promptFolder is where the notes lie that are prompts.
const promptFolder = "Prompts"

// mostPrompts is how many of them are offered.
const mostPrompts = 100

// isPrompt reports whether a note at this path is a prompt.
func isPrompt(p string) bool {
	head, _, ok := strings.Cut(p, "/")
	return ok && strings.EqualFold(head, promptFolder) && strings.EqualFold(path.Ext(p), ".md")
}

// A promptShelf holds the prompts that come from notes.
type promptShelf struct {
	own    []string            // names of those that do not
	read   map[string]readNote // by path; nil where a note is no prompt
	listed map[string]string   // as they were registered, by name
}

// A readNote is what is known of one of these notes.
type readNote struct {
	modified string
	template *prompts.Template // nil when it cannot be one
}

// lookTime is how long a list of prompts waits for the notes. A vault that is
// still being opened has its prompts told later, as news.
const lookTime = 2 * time.Second

// forgetPrompts makes the next look read these notes again. No paths is all.
func (s *Server) forgetPrompts(paths map[string]bool) {
	s.asking.Lock()
	defer s.asking.Unlock()
	if len(paths) == 0 {
		s.prompts.read = nil
	}
	for p := range paths {
		delete(s.prompts.read, p)
	}
}

// refreshPrompts brings the prompts that are notes up to date. Clients hear of
// it when they really changed. What cannot be read now is offered as before; what
// may not be read is not.
func (s *Server) refreshPrompts(ctx context.Context) {
	s.asking.Lock()
	defer s.asking.Unlock()
	ctx, cancel := context.WithTimeout(unasked(ctx), lookTime)
	defer cancel()
	found, err := s.findPrompts(ctx)
	if err != nil {
		return
	}
	names := prompts.Names(slices.Collect(maps.Keys(found)), s.prompts.own...)
	gone := maps.Clone(s.prompts.listed)
	if s.prompts.listed == nil {
		s.prompts.listed = map[string]string{}
	}
	for p, t := range found {
		s.listPrompt(names[p], p, t)
		delete(gone, names[p])
	}
	if len(gone) > 0 {
		s.sdk.RemovePrompts(slices.Collect(maps.Keys(gone))...)
		maps.DeleteFunc(s.prompts.listed, func(name, _ string) bool { _, ok := gone[name]; return ok })
	}
}

// findPrompts reads the notes in the folder, as far as they changed.
func (s *Server) findPrompts(ctx context.Context) (map[string]*prompts.Template, error) {
	var list noteList
	err := s.use(ctx, tool.ListsNotes, map[string]any{"folder": promptFolder, "sort": "path", "limit": mostPrompts}, &list)
	switch fault.Of(err) {
	case "", fault.NotFound: // there may be no such folder
	case fault.Denied: // the client may not read them, or no longer
		s.prompts.read = nil
		return nil, nil
	default:
		return nil, err
	}
	out, known := map[string]*prompts.Template{}, map[string]readNote{}
	for _, n := range list.Notes {
		if !isPrompt(n.Path) {
			continue
		}
		r, ok := s.prompts.read[n.Path]
		if !ok || r.modified != n.Modified {
			r = readNote{modified: n.Modified}
			r.template, err = s.readPrompt(ctx, n.Path)
			switch fault.Of(err) {
			case "", fault.TooLarge, fault.NotFound, fault.Invalid, fault.Unsafe, fault.Ambiguous: // it is no prompt, or gone
			default:
				return nil, err
			}
		}
		known[n.Path] = r
		if r.template != nil {
			out[n.Path] = r.template
		}
	}
	s.prompts.read = known
	return out, nil
}

func (s *Server) readPrompt(ctx context.Context, p string) (*prompts.Template, error) {
	text, err := s.readNote(ctx, noteuri.Place{Path: p})
	if err != nil {
		return nil, err
	}
	return prompts.Parse(strings.TrimSuffix(path.Base(p), path.Ext(p)), text)
}

// listPrompt registers a prompt, unless it is registered just so.
func (s *Server) listPrompt(name, path string, t *prompts.Template) {
	d := &sdk.Prompt{Name: name, Title: t.Title, Description: t.Description}
	for _, a := range t.Arguments {
		d.Arguments = append(d.Arguments, &sdk.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Required})
	}
	b, err := json.Marshal([]any{d, path})
	if err != nil || s.prompts.listed[name] == string(b) {
		return
	}
	s.prompts.listed[name] = string(b)
	s.sdk.AddPrompt(d, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return s.fillPrompt(ctx, path, req.Params.Arguments)
	})
}

// fillPrompt reads the note as it is now and fills it in.
func (s *Server) fillPrompt(ctx context.Context, p string, values map[string]string) (*sdk.GetPromptResult, error) {
	t, err := s.readPrompt(ctx, p)
	text := ""
	if err == nil {
		text, err = t.Fill(values)
	}
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	return &sdk.GetPromptResult{Description: t.Description, Messages: []*sdk.PromptMessage{says(text)}}, nil
}
