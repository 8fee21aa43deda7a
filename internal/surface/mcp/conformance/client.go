package conformance

//lint:file-ignore SA1019 the suites ask for what is deprecated

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"lore/internal/fault"
)

// The variables by which a suite tells its client what to do.
const (
	scenarioVariable = "MCP_CONFORMANCE_SCENARIO"
	contextVariable  = "MCP_CONFORMANCE_CONTEXT"
)

// A play is one scenario that a suite judges a client in.
type play struct {
	version string
	url     string
	given   struct { // by the suite
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		ToolCalls    []struct {
			Name      string         `json:"name"`
			Arguments map[string]any `json:"arguments"`
		} `json:"toolCalls"`
	}
}

// Play plays the scenario that the environment names against the server of a
// suite.
func Play(ctx context.Context, version string, env func(string) string, url string) error {
	p := &play{version: version, url: url}
	if text := env(contextVariable); text != "" {
		if err := json.Unmarshal([]byte(text), &p.given); err != nil {
			return fault.New(fault.Invalid, "$%s: %v", contextVariable, err)
		}
	}
	name := env(scenarioVariable)
	scene, ok := p.scenes()[name]
	switch {
	case ok:
		return scene(ctx)
	case strings.HasPrefix(name, "auth/"):
		return p.authorized(ctx)
	}
	return fault.Fix(fault.Invalid, "the conformance suite sets this variable", "$%s: unknown scenario %q", scenarioVariable, name)
}

// scenes are those that need no authorization.
func (p *play) scenes() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"initialize":                          p.with(nil, p.list),
		"json-schema-ref-no-deref":            p.with(nil, p.list),
		"request-metadata":                    p.with(nil, func(context.Context, *sdk.ClientSession) error { return nil }),
		"tools_call":                          p.with(nil, calls("add_numbers", map[string]any{"a": 5, "b": 3})),
		"sse-retry":                           p.with(nil, calls("test_reconnection", map[string]any{})),
		"elicitation-sep1034-client-defaults": p.with(accepts(map[string]any{}), calls("test_client_elicitation_defaults", map[string]any{})),
		"sep-2322-client-request-state":       p.with(accepts(map[string]any{"confirmed": true}), callRounds),
		"http-standard-headers":               p.with(nil, useEverything),
		"http-custom-headers":                 p.with(nil, p.callGiven),
		"http-invalid-tool-headers":           p.with(nil, callAll),
		"json-schema-2020-12-preservation":    p.with(nil, echoSchema),
	}
}

// with connects and lets f speak.
func (p *play) with(o *sdk.ClientOptions, f func(context.Context, *sdk.ClientSession) error) func(context.Context) error {
	return func(ctx context.Context) error { return p.connected(ctx, o, nil, f) }
}

func (p *play) connected(ctx context.Context, o *sdk.ClientOptions, h auth.OAuthHandler, f func(context.Context, *sdk.ClientSession) error) error {
	c := sdk.NewClient(&sdk.Implementation{Name: "lore", Title: "Lore", Version: p.version}, o)
	s, err := c.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: p.url, OAuthHandler: h}, nil)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, s), s.Close())
}

// accepts says yes to every form.
func accepts(content map[string]any) *sdk.ClientOptions {
	return &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: content}, nil
		},
	}
}

func (p *play) list(ctx context.Context, s *sdk.ClientSession) error {
	_, err := s.ListTools(ctx, nil)
	return err
}

// calls looks a tool up and calls it.
func calls(name string, args map[string]any) func(context.Context, *sdk.ClientSession) error {
	return func(ctx context.Context, s *sdk.ClientSession) error {
		if _, err := find(ctx, s, name); err != nil {
			return err
		}
		_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
		return err
	}
}

func find(ctx context.Context, s *sdk.ClientSession, name string) (*sdk.Tool, error) {
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, t := range list.Tools {
		if t.Name == name {
			return t, nil
		}
	}
	return nil, fault.New(fault.NotFound, "the server has no tool %q", name)
}

// callRounds calls tools that ask back. Some answer what a client must refuse,
// so an error is no failure: the suite looks at what was sent.
func callRounds(ctx context.Context, s *sdk.ClientSession) error {
	for _, name := range []string{"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"} {
		_, _ = s.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: map[string]any{}})
	}
	return ctx.Err()
}

// callGiven makes the calls that the suite wants. The list tells which
// arguments go into headers.
func (p *play) callGiven(ctx context.Context, s *sdk.ClientSession) error {
	if err := p.list(ctx, s); err != nil {
		return err
	}
	for _, c := range p.given.ToolCalls {
		_, _ = s.CallTool(ctx, &sdk.CallToolParams{Name: c.Name, Arguments: c.Arguments}) // the suite judges what was sent
	}
	return ctx.Err()
}

// callAll calls every tool that was listed: those that must not be called are
// not among them.
func callAll(ctx context.Context, s *sdk.ClientSession) error {
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range list.Tools {
		_, _ = s.CallTool(ctx, &sdk.CallToolParams{Name: t.Name, Arguments: map[string]any{"region": "us-west1"}}) // as above
	}
	return ctx.Err()
}

// useEverything sends one request of every kind.
func useEverything(ctx context.Context, s *sdk.ClientSession) error {
	if list, err := s.ListTools(ctx, nil); err == nil && len(list.Tools) > 0 {
		_, _ = s.CallTool(ctx, &sdk.CallToolParams{Name: list.Tools[0].Name, Arguments: map[string]any{}}) // the suite judges what was sent
	}
	if list, err := s.ListResources(ctx, nil); err == nil && len(list.Resources) > 0 {
		_, _ = s.ReadResource(ctx, &sdk.ReadResourceParams{URI: list.Resources[0].URI})
	}
	if list, err := s.ListPrompts(ctx, nil); err == nil && len(list.Prompts) > 0 {
		_, _ = s.GetPrompt(ctx, &sdk.GetPromptParams{Name: list.Prompts[0].Name, Arguments: map[string]string{}})
	}
	return ctx.Err()
}

// echoSchema sends a schema back as it was understood.
func echoSchema(ctx context.Context, s *sdk.ClientSession) error {
	t, err := find(ctx, s, "json_schema_2020_12_tool")
	if err != nil {
		return err
	}
	_, err = s.CallTool(ctx, &sdk.CallToolParams{Name: "json_schema_echo", Arguments: map[string]any{"schema": t.InputSchema}})
	return err
}

// Addresses that the suites know; nothing is sent there.
const (
	redirect = "http://localhost:3000/callback"
	metadata = "https://conformance-test.local/client-metadata.json"
)

// authorized gets itself authorized, by whatever way the server offers, and
// calls a tool.
func (p *play) authorized(ctx context.Context) error {
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirect, AuthorizationCodeFetcher: fetchCode,
		ClientIDMetadataDocumentConfig:  &auth.ClientIDMetadataDocumentConfig{URL: metadata},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{redirect}}},
	}
	if id, secret := p.given.ClientID, p.given.ClientSecret; id != "" && secret != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: id, ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: secret}}
	}
	h, err := auth.NewAuthorizationCodeHandler(c)
	if err != nil {
		return err
	}
	return p.connected(ctx, nil, h, func(ctx context.Context, s *sdk.ClientSession) error {
		if err := p.list(ctx, s); err != nil {
			return err
		}
		_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "test-tool", Arguments: map[string]any{}})
		return err
	})
}

// fetchCode stands for the person in the browser: the suite's server sends them
// back at once, with the code in the address.
func fetchCode(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := browser.Do(req)
	if err != nil {
		return nil, err
	}
	if err := res.Body.Close(); err != nil {
		return nil, err
	}
	back, err := url.Parse(res.Header.Get("Location"))
	if err != nil {
		return nil, err
	}
	q := back.Query()
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}
