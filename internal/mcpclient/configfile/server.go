package configfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
)

// maxFile is the largest file that is read. Claude Code keeps more than servers
// in its file, and it grows.
const maxFile = 64 << 20

// How a server is talked to.
const (
	Stdio = "stdio" // a program that is started
	HTTP  = "http"  // streamable HTTP
	SSE   = "sse"   // the old HTTP transport
)

// A Server is one server that a configuration file names, as it is written
// there: nothing is expanded. See [Server.Expand].
type Server struct {
	Name    string
	Type    string // Stdio, HTTP or SSE
	Command string
	Args    []string
	Env     map[string]string
	EnvFile string
	Dir     string // the folder that the program starts in
	URL     string
	Headers map[string]string
	// PlainHTTP lets an address that is not on this machine be called without
	// encryption.
	PlainHTTP bool
	// OAuth is how Lore is known to the server's authorization server.
	OAuth OAuth
	// Disabled servers are named and not to be started.
	Disabled bool
	// Timeout of one call; 0 when the file names none.
	Timeout time.Duration
	// Include are the only tools that are wanted, Exclude those that are not.
	Include, Exclude []string
	// Inputs are the questions whose answers the server's values refer to.
	Inputs []Input
	// Problem says why the server cannot be used. The others of the file can.
	Problem error
}

// OAuth is what was agreed with an authorization server beforehand; mostly
// nothing, because Lore registers by itself.
type OAuth struct {
	ClientID, ClientSecret string
	// Metadata is the address of a client's metadata document.
	Metadata string
	// Port is where the browser comes back to; 0 takes a free one.
	Port int
}

// An Input is a value that a person is asked for, as VS Code does.
type Input struct {
	ID, Type, Description, Default string
	Password                       bool
	Options                        []string
}

// Read reads the servers that a file names, in its order: under mcpServers as
// most clients write them, under servers with inputs as VS Code does, and under
// context_servers as Zed does.
// Comments, trailing commas and unknown names are no mistakes; a name that
// stands twice is, because programs disagree on which of the two counts.
func Read(path string) ([]Server, error) {
	text, err := ReadText(path)
	if err != nil {
		return nil, err
	}
	out, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// ReadText reads a configuration file: a regular one that is not too large.
func ReadText(path string) (text string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: %w", path, fault.Unsafe)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(b) > maxFile {
		return "", fault.New(fault.TooLarge, "%s is larger than %d MB", path, maxFile>>20)
	}
	return string(b), err
}

// Parse is [Read] for a text.
func Parse(text string) ([]Server, error) {
	d, err := parse(text)
	if err != nil || d.blank {
		return nil, err
	}
	if err := mustBeObject(d.root, "the whole text"); err != nil {
		return nil, err
	}
	if key, ok := d.root.twice(); ok {
		return nil, fault.Fix(fault.Invalid, "remove one of them", "%s occurs twice", quote(key))
	}
	var out []Server
	var inputs []Input
	for _, m := range d.root.members {
		switch m.key {
		case "mcpServers", "servers", "context_servers":
			if err := mustBeObject(m.value, quote(m.key)); err != nil {
				return nil, err
			}
			for _, s := range m.value.members {
				if slices.ContainsFunc(out, func(o Server) bool { return o.Name == s.key }) {
					return nil, fault.New(fault.Invalid, "the server %s is in both mcpServers and servers", quote(s.key))
				}
				out = append(out, d.server(s))
			}
		case "inputs":
			inputs = d.inputs(m.value)
		}
	}
	for i := range out {
		out[i].take(inputs)
	}
	return out, nil
}

// server reads one entry.
func (d *doc) server(m member) Server {
	r := reader{d: d}
	s := Server{Name: m.key}
	if m.value.kind != '{' {
		s.Problem = fault.New(fault.Invalid, "the server %s is not an object", quote(s.Name))
		return s
	}
	for _, f := range m.value.members {
		r.field(&s, f)
	}
	switch {
	case r.err != nil:
	case s.Command != "" && s.URL != "":
		r.err = fault.New(fault.Invalid, "it has both a command and a url")
	case s.Command == "" && s.URL == "":
		r.err = fault.New(fault.Invalid, "it has neither a command nor a url")
	case s.Type == "" && s.URL != "":
		s.Type = HTTP
	case s.Type == "":
		s.Type = Stdio
	case (s.Type == Stdio) != (s.Command != ""):
		r.err = fault.New(fault.Invalid, "it has the type %s, which does not match its command or url", s.Type)
	}
	if r.err != nil {
		s.Problem = fmt.Errorf("the server %s: %w", quote(s.Name), r.err)
	}
	return s
}

// A reader reads values and keeps the first mistake.
type reader struct {
	d   *doc
	err error
}

func (r *reader) field(s *Server, m member) {
	if m.value.kind == 'n' {
		return // null is how some programs write that there is none
	}
	switch m.key {
	case "type", "transport":
		s.Type = r.kind(m)
	case "command":
		s.Command = r.str(m)
	case "args":
		s.Args = r.list(m)
	case "env":
		s.Env = r.table(m)
	case "envFile":
		s.EnvFile = r.str(m)
	case "cwd":
		s.Dir = r.str(m)
	case "url", "httpUrl", "serverUrl":
		if s.URL != "" {
			r.bad(m, "is a second address")
			return
		}
		s.URL = r.str(m)
	case "headers":
		s.Headers = r.table(m)
	case "allowPlainHttp":
		s.PlainHTTP = r.yes(m)
	case "oauth":
		s.OAuth = r.oauth(m)
	case "disabled":
		s.Disabled = s.Disabled || r.yes(m)
	case "enabled":
		s.Disabled = s.Disabled || !r.yes(m)
	case "timeout":
		s.Timeout = r.timeout(m)
	case "includeTools":
		s.Include = r.list(m)
	case "excludeTools":
		s.Exclude = r.list(m)
	}
}

func (r *reader) bad(m member, what string) {
	if r.err == nil {
		r.err = fault.New(fault.Invalid, "%s %s", m.key, what)
	}
}

func (r *reader) kind(m member) string {
	switch s := r.str(m); s {
	case Stdio, HTTP, SSE:
		return s
	case "streamable-http", "streamableHttp", "streamable_http":
		return HTTP
	}
	r.bad(m, "is not stdio, http or sse")
	return ""
}

func (r *reader) str(m member) string {
	switch {
	case m.value.kind != '"':
		r.bad(m, "is not a string")
	case strings.ContainsRune(m.value.text, 0):
		r.bad(m, "contains a zero byte")
	}
	return m.value.text
}

func (r *reader) list(m member) []string {
	if m.value.kind != '[' {
		r.bad(m, "is not a list")
	}
	var out []string
	for _, item := range m.value.items {
		out = append(out, r.str(member{key: m.key, value: item}))
	}
	return out
}

func (r *reader) table(m member) map[string]string {
	if m.value.kind != '{' {
		r.bad(m, "is not an object")
	}
	out := map[string]string{}
	for _, e := range m.value.members {
		switch v := e.value; v.kind {
		case '"':
			out[e.key] = r.str(member{key: m.key + "." + e.key, value: v})
		case '{', '[', 'n':
			r.bad(m, "."+e.key+" is not a string")
		default: // a number or true and false, as people write them
			out[e.key] = r.d.text[v.start:v.end]
		}
	}
	return out
}

func (r *reader) yes(m member) bool {
	if m.value.kind != 't' && m.value.kind != 'f' {
		r.bad(m, "is neither true nor false")
	}
	return m.value.kind == 't'
}

func (r *reader) oauth(m member) OAuth {
	if m.value.kind != '{' {
		r.bad(m, "is not an object")
	}
	var o OAuth
	for _, e := range m.value.members {
		switch e.key {
		case "clientId":
			o.ClientID = r.str(e)
		case "clientSecret":
			o.ClientSecret = r.str(e)
		case "clientMetadataUrl":
			o.Metadata = r.str(e)
		case "callbackPort":
			n, err := strconv.Atoi(r.d.text[e.value.start:e.value.end])
			if err != nil || n < 0 || n > 65535 {
				r.bad(e, "is not a port")
			}
			o.Port = n
		}
	}
	return o
}

// timeout is in milliseconds, as Claude Code and Gemini CLI count.
func (r *reader) timeout(m member) time.Duration {
	ms, err := strconv.ParseFloat(r.d.text[m.value.start:m.value.end], 64)
	if err != nil || ms < 0 || ms > float64((24*time.Hour).Milliseconds()) {
		r.bad(m, "is not a number of milliseconds")
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}

func (d *doc) inputs(n node) []Input {
	var out []Input
	for _, item := range n.items {
		var in Input
		for _, m := range item.members {
			switch m.key {
			case "id":
				in.ID = m.value.text
			case "type":
				in.Type = m.value.text
			case "description":
				in.Description = m.value.text
			case "default":
				in.Default = m.value.text
			case "password":
				in.Password = m.value.kind == 't'
			case "options":
				for _, o := range m.value.items {
					in.Options = append(in.Options, o.text)
				}
			}
		}
		out = append(out, in)
	}
	return out
}

// take keeps the inputs that the server refers to.
func (s *Server) take(inputs []Input) {
	_, _ = s.Expand(func(ref Ref) (string, bool) {
		i := slices.IndexFunc(inputs, func(in Input) bool { return ref.Kind == "input" && in.ID == ref.Name })
		known := slices.ContainsFunc(s.Inputs, func(in Input) bool { return in.ID == ref.Name })
		if i >= 0 && !known {
			s.Inputs = append(s.Inputs, inputs[i])
		}
		return "", true
	})
}

// Digest identifies what the server would do: what is started, with which
// words, environment and folder, or which address is called with which headers,
// with the answers to inputs that the same file gives.
// Whoever was asked about it is asked again when any of that changes. It covers
// the values as they stand in s: take it before [Server.Expand], so that a
// changed variable is no new question, or after, so that it is.
func (s Server) Digest() string {
	// Every part goes in with its length, so that no two servers share a text.
	h := sha256.New()
	put := func(parts ...string) {
		fmt.Fprintf(h, "%d\n", len(parts))
		for _, p := range parts {
			fmt.Fprintf(h, "%d:%s\n", len(p), p)
		}
	}
	put("lore mcp server 1", s.Type, s.Command, s.EnvFile, s.Dir, s.URL)
	put(s.Args...)
	put(pairs(s.Env)...)
	put(pairs(s.Headers)...)
	if s.PlainHTTP {
		put("plain http")
	}
	for _, in := range s.Inputs { // their answers are part of the values
		put("input", in.ID, in.Default, strconv.FormatBool(in.Password))
	}
	if s.OAuth != (OAuth{}) {
		put(s.OAuth.ClientID, s.OAuth.ClientSecret, s.OAuth.Metadata, strconv.Itoa(s.OAuth.Port))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// pairs lists names and values in the order of the names.
func pairs(m map[string]string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k, m[k])
	}
	return out
}
