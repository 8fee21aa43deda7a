package peer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"lore/internal/change"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// A Client is the door of a vault that another process holds.
type Client struct {
	http *http.Client

	mu       sync.Mutex
	tools    []*tool.Tool
	instruct map[string]string
	harmless map[string]bool // tools that change nothing, while none was learnt
}

var _ tool.Door = (*Client)(nil)

// Visit looks for the process that holds the vault whose data folder is dir. It
// returns nil when there is none that answers, or one of another language.
func Visit(ctx context.Context, dir string) *Client {
	b, err := os.ReadFile(filepath.Join(dir, card))
	if err != nil {
		return nil
	}
	var c cardText
	if json.Unmarshal(b, &c) != nil || c.Protocol != protocol || c.Socket == "" {
		return nil
	}
	client := &Client{http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: greeting}).DialContext(ctx, "unix", c.Socket)
		},
		MaxIdleConnsPerHost: 16, DisableCompression: true, ExpectContinueTimeout: patience,
	}}}
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	hello, err := client.ask(ctx, pathHello, request{}, true)
	if err != nil || hello.Protocol != protocol {
		_ = client.Close() // nothing is lost
		return nil
	}
	return client
}

// Close lets the connections go.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// origin is a name that HTTP wants and nobody looks at.
const origin = "http://lore"

// ask calls one method. A holder that is gone is errGone when the call cannot
// have begun, or may be made again; else nobody knows what came of it, and the
// error says so.
func (c *Client) ask(ctx context.Context, path string, in request, again bool) (reply, error) {
	body, err := marshal(in)
	if err != nil {
		return reply{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, origin+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	var told atomic.Bool
	if again {
		req.Header["Idempotency-Key"] = nil // lets a kept connection that was closed be replaced
	} else {
		// What to do is told to a holder that says it listens: one that lets go in this
		// moment has not heard of it.
		req.Header.Set("Expect", "100-continue")
		req.Body = noticed{req.Body, &told}
	}
	res, err := c.http.Do(req)
	if err != nil {
		return reply{}, lost(ctx, err, again || !told.Load())
	}
	defer func() { _ = res.Body.Close() }() // it was read
	if res.StatusCode == http.StatusServiceUnavailable {
		return reply{}, errGone
	}
	for d := json.NewDecoder(res.Body); ; {
		var out reply
		if err := d.Decode(&out); err != nil {
			return reply{}, lost(ctx, err, again)
		}
		switch p := out.Progress; {
		case p != nil:
			tool.Progress(ctx, p.Done, p.Total, p.Message)
		case out.Failure != nil:
			return reply{}, out.Failure.Err()
		default:
			return out, nil
		}
	}
}

// noticed is a body that tells when it is read.
type noticed struct {
	io.ReadCloser
	read *atomic.Bool
}

func (n noticed) Read(b []byte) (int, error) {
	n.read.Store(true)
	return n.ReadCloser.Read(b)
}

// lost says what a connection that broke means to the caller.
func lost(ctx context.Context, err error, again bool) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case again:
		return errGone
	}
	return fault.Fix(fault.Unavailable, "check the activity before you try again",
		"the process that had the vault open ended during the call (%v)", err)
}

// Learn asks which tools there are.
func (c *Client) Learn(ctx context.Context) error {
	out, err := c.ask(ctx, pathTools, request{}, true)
	if err != nil {
		return err
	}
	tools, words := []*tool.Tool{}, map[string]string{}
	for _, d := range out.Tools {
		t, err := tool.Described(d)
		if err != nil {
			return err
		}
		tools = append(tools, t)
		words[t.Name] = d.Instructions
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools, c.instruct = tools, words
	return nil
}

// On lists the tools as they were learnt last.
func (c *Client) On() []*tool.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tools)
}

// Find returns the tool of that name or alias.
func (c *Client) Find(name string) (*tool.Tool, error) {
	var names []string
	for _, t := range c.On() {
		if t.Name == name || slices.Contains(t.Aliases, name) {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return nil, tool.Unknown(name, names)
}

// Instructions is what models are told about a tool.
func (c *Client) Instructions(t *tool.Tool) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.instruct[t.Name]
}

// Expect tells which tools there will be, for a caller that makes one call and
// does not [Client.Learn] for that.
func (c *Client) Expect(tools []*tool.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.harmless = map[string]bool{}
	for _, t := range tools {
		c.harmless[t.Name] = t.Effect == access.Reads
	}
}

// reads reports whether a call of that name certainly changes nothing.
func (c *Client) reads(name string) bool {
	t, err := c.Find(name)
	if err == nil {
		return t.Effect == access.Reads
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.tools) == 0 && c.harmless[name]
}

// Call runs a tool or asks a person.
func (c *Client) Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (tool.Result, error) {
	if len(args) > 0 && !json.Valid(args) { // it could not be put into a message
		return tool.Result{}, fault.New(fault.Invalid, "the arguments are not JSON")
	}
	return c.result(c.ask(ctx, pathCall, request{Who: who, Tool: name, Args: args}, c.reads(name)))
}

func (c *Client) result(out reply, err error) (tool.Result, error) {
	switch {
	case err != nil:
		return tool.Result{}, err
	case out.Result == nil:
		return tool.Result{}, errNothing
	}
	res := out.Result.unpack()
	if res.Tool != nil {
		if t, err := c.Find(res.Tool.Name); err == nil {
			res.Tool = t
		}
	}
	return res, nil
}

var errNothing = fault.New(fault.Internal, "the process that has the vault open sent no response")

// Questions lists what was asked.
func (c *Client) Questions(ctx context.Context, states ...tool.State) ([]tool.Question, error) {
	out, err := c.ask(ctx, pathQuestions, request{States: states}, true)
	return out.Questions, err
}

// Question returns one by its id.
func (c *Client) Question(ctx context.Context, id string) (tool.Question, error) {
	return question(c.ask(ctx, pathQuestion, request{ID: id}, true))
}

func question(out reply, err error) (tool.Question, error) {
	switch {
	case err != nil:
		return tool.Question{}, err
	case out.Question == nil:
		return tool.Question{}, errNothing
	}
	return *out.Question, nil
}

// Answer is a person's answer.
func (c *Client) Answer(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Result, error) {
	return c.result(c.ask(ctx, pathAnswer, request{Who: person, ID: id, Answer: a}, false))
}

// Rehearse is what an answer would come to.
func (c *Client) Rehearse(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Question, error) {
	return question(c.ask(ctx, pathRehearse, request{Who: person, ID: id, Answer: a}, true))
}

// Await waits until a question is over, or was computed again.
func (c *Client) Await(ctx context.Context, id string, revision int) (tool.Result, error) {
	return c.result(c.ask(ctx, pathAwait, request{ID: id, Revision: revision}, true))
}

// Cancel withdraws a question.
func (c *Client) Cancel(ctx context.Context, who access.Principal, id string) error {
	_, err := c.ask(ctx, pathCancel, request{Who: who, ID: id}, false)
	return err
}

// Rules lists the standing answers.
func (c *Client) Rules(ctx context.Context) ([]policy.Rule, error) {
	out, err := c.ask(ctx, pathRules, request{}, true)
	return out.Rules, err
}

// Taint remembers that a program was shown text from outside.
func (c *Client) Taint(ctx context.Context, who access.Principal) error {
	_, err := c.ask(ctx, pathTaint, request{Who: who}, true)
	return err
}

// Forget takes a standing answer back.
func (c *Client) Forget(ctx context.Context, person access.Principal, id string) error {
	_, err := c.ask(ctx, pathForget, request{Who: person, ID: id}, false)
	return err
}

// largest is how long one piece of news may be.
const largest = 16 << 20

// Follow brings the news of the holder to bus, and learns the tools anew when
// they change, until the holder goes or ctx ends. Ready is called when nothing
// is missed from then on.
func (c *Client) Follow(ctx context.Context, bus *event.Bus, ready func() error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, origin+pathEvents, http.NoBody)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return errGone
	}
	defer func() { _ = res.Body.Close() }() // the end of it is what we wait for
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, largest)
	for first := true; lines.Scan(); first = false {
		if first {
			if err := errors.Join(c.Learn(ctx), ready()); err != nil {
				return err
			}
		}
		var n news
		if len(lines.Bytes()) == 0 || json.Unmarshal(lines.Bytes(), &n) != nil {
			continue
		}
		if n.Topic == tool.TopicTools {
			if err := c.Learn(ctx); err != nil {
				return err
			}
		}
		switch data, ok := understood(n); {
		case ok && n.Topic == tool.TopicVault:
			bus.Announce(n.Topic, data)
		case ok:
			bus.Publish(n.Topic, data, n.Final)
		}
	}
	return errGone
}

// understood gives the news the type that readers in this process know it by.
// A question has to have its own: by it is decided who may hear of it.
func understood(n news) (data any, ok bool) {
	switch n.Topic {
	case tool.TopicAsked, tool.TopicAnswered, tool.TopicOver:
		return as[tool.Question](n.Data)
	case tool.TopicCall:
		return as[tool.Finished](n.Data)
	case change.TopicFiles:
		return as[change.Files](n.Data)
	case tool.TopicVault:
		return as[tool.VaultState](n.Data)
	case tool.TopicNotice:
		return as[tool.Notice](n.Data)
	}
	return n.Data, true
}

func as[T any](data json.RawMessage) (any, bool) {
	var v T
	err := json.Unmarshal(data, &v)
	return v, err == nil
}

// IsGone reports whether an error says that the holder is no longer there.
func IsGone(err error) bool { return errors.Is(err, errGone) }
