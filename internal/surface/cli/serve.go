package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
	"lore/internal/surface/http/serve"
	"lore/internal/tool/access"
	"lore/internal/tool/token"
	"lore/internal/workspace/process"
)

// ServeOptions say how a vault is served.
type ServeOptions struct {
	Listen  string
	Expose  bool
	Hosts   []string
	Version string
	Hold    time.Duration // how long an MCP call waits for a person
	// Ready is told the address once requests are answered. Link makes a one-time
	// sign-in link; without a call there is none.
	Ready func(address string, link func() (string, error)) error
	// Progress shows what goes on before that; may be nil.
	Progress func(*event.Bus) (stop func())
	// Fixtures is told where the fixtures of conformance suites are served,
	// without a token; nil serves none.
	Fixtures func(address string) error
}

// Serve serves a vault until ctx ends.
type Serve func(ctx context.Context, g Globals, o ServeOptions) error

// defaultListen is on this machine alone.
const defaultListen = "127.0.0.1:7777"

func (p *program) serveCommand() *cobra.Command {
	o := ServeOptions{Version: p.host.Version, Ready: p.serving}
	var fixtures bool
	cmd := &cobra.Command{
		Use: "serve [FOLDER]", Short: "Run the web page, REST API and MCP server", Args: argv.Between(0, 1),
		Long: `Runs the web page, the REST API (/api/v1) and an MCP server over HTTP, and keeps the
index up to date, until interrupted.

In a terminal, it prints a one-time sign-in link for a browser; lore login prints
another one. Programs need a token (lore token create).

Only this computer can connect. With --expose, other computers can too, under the host
names given with --host; put a TLS proxy in front of it.`,
		Example: "lore serve                                     serve the current vault\nlore serve ~/notes --listen 127.0.0.1:8080     serve another one\nlore serve --listen 0.0.0.0:7777 --expose --host notes.example",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if p.g.Vault != "" {
					return fault.Field("vault", "give the folder once", "the vault is given twice")
				}
				p.g.Vault = args[0]
			}
			checked := serve.Options{Listen: o.Listen, Expose: o.Expose, Hosts: o.Hosts}
			if fixtures {
				checked.Anyone, o.Fixtures = &access.Principal{}, p.servingFixtures
			}
			if err := checked.Check(); err != nil {
				return err
			}
			if p.host.Serve == nil {
				return fault.New(fault.Unavailable, "this build of Lore does not include the server")
			}
			o.Progress = p.progress()
			return p.host.Serve(cmd.Context(), p.g, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", defaultListen, "address to listen on; port 0 picks a free port")
	f.DurationVar(&o.Hold, "hold", defaultHold, "how long an MCP call waits for approval before it reports that it is pending; 0s to not wait")
	f.BoolVar(&o.Expose, "expose", false, "accept connections from other computers; requires --host")
	f.StringArrayVar(&o.Hosts, "host", nil, "additional host name to accept (repeatable)")
	if p.host.ConformanceClient != nil {
		f.BoolVar(&fixtures, fixturesFlag, false, "serve what conformance suites ask for at a further address, without a token")
		_ = f.MarkHidden(fixturesFlag) // it exists: see above
	}
	return cmd
}

// serving tells where to go. A sign-in link makes whoever opens it the person: it
// is printed only where a person reads it, on a terminal, and stands in no log.
func (p *program) serving(address string, link func() (string, error)) error {
	if p.g.JSON {
		return p.encode(map[string]string{"address": address, "api": address + "/api/v1"})
	}
	if !p.screen.Terminal {
		p.say("Serving " + address + ". To sign in a browser, run lore login in a terminal.")
		return nil
	}
	login, err := link()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s\n", login)
	p.say("Serving " + address + ". Open the one-time link above in a browser to sign in. Press Ctrl-C to stop.")
	return err
}

// loginCommand signs one more browser in.
func (p *program) loginCommand() *cobra.Command {
	return &cobra.Command{
		Use: "login", Short: "Print a one-time sign-in link for lore serve", Args: argv.None,
		Long: `Prints a one-time sign-in link for this vault's server (lore serve). The first browser
to open the link within ten minutes is signed in as you, so keep it secret. You
confirm this in the terminal. Run lore sessions to list signed-in browsers.`,
		Example: "lore login                     sign in to the current vault\nlore login --vault ~/notes     sign in to another one",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				address := s.Server(cmd.Context())
				if address == "" {
					return fault.Fix(fault.Unavailable, "start one with lore serve", "no server is running for this vault")
				}
				if err := p.askPerson(cmd.Context(), "Print a sign-in link? Anyone who opens it can do everything you can."); err != nil {
					return err
				}
				code, err := s.Tokens.NewCode(cmd.Context(), process.Own())
				if err != nil {
					return err
				}
				login := address + serve.LoginPath + code
				if p.g.JSON {
					return p.encode(map[string]string{"address": address, "login": login})
				}
				_, err = fmt.Fprintln(p.out, login)
				return err
			})
		},
	}
}

func (p *program) tokenCommand() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error {
		return p.withRegistry(cmd.Context(), func(s *Session) error { return p.listTokens(cmd.Context(), s) })
	}
	cmd := &cobra.Command{
		Use: "token", Short: "Manage tokens for programs", Args: argv.None, RunE: list,
		Long: `Manages the tokens that programs use to call this vault's tools over HTTP. A
token's scopes limit what it can do. A token is printed once, and Lore stores
only a hash.

Tokens cannot approve changes; those wait for you. The one exception is the scope
confirm, which lets an MCP app show approval dialogs for its own calls. Anyone who
controls the app can then approve, and the audit log names the app's dialog.`,
		Example: "lore token create --name \"reading list\" --scope read\nlore token list                         list all tokens\nlore token revoke \"reading list\"        revoke one",
	}
	cmd.AddCommand(p.tokenCreateCommand(), &cobra.Command{Use: "list", Short: "List tokens", Args: argv.None, RunE: list}, p.tokenRevokeCommand())
	return cmd
}

func (p *program) tokenRevokeCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "revoke NAME", Short: "Revoke a token, by name or ID", Args: argv.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				if err := p.askUnless(cmd.Context(), yes, "Revoke the token "+draw.OneLine(args[0])+"?"); err != nil {
					return err
				}
				t, err := s.Tokens.Revoke(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if p.g.JSON {
					return p.encode(t)
				}
				p.say(fmt.Sprintf("Revoked the token %s (%s)", t.Name, t.ID))
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

// day is what --days counts.
const day = 24 * time.Hour

func (p *program) tokenCreateCommand() *cobra.Command {
	var name string
	var scopes []string
	var days int
	var yes bool
	cmd := &cobra.Command{
		Use: "create", Short: "Create a token and print it once", Args: argv.None,
		Long: `Creates a token and prints it to standard output. It cannot be shown again. Scopes:
read, write, destroy, egress (use the network), exec (run commands) and confirm.

With confirm, the app may show approval dialogs itself, and anyone who controls the
app can approve. This scope is never granted by default, and always needs your
confirmation in a terminal. For other scopes, --yes skips the question, for scripts.`,
		Example: "lore token create --name backup --scope read\nlore token create --name editor --scope read,write --days 30",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var rights []access.Scope
			for _, s := range scopes {
				rights = append(rights, access.Scope(strings.TrimSpace(s)))
			}
			if err := token.Check(name, rights); err != nil {
				return err
			}
			if err := p.askUnless(cmd.Context(), yes && !slices.Contains(rights, access.Confirm), tokenPrompt(name, rights)); err != nil {
				return err
			}
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				t, secret, err := s.Tokens.Create(cmd.Context(), name, rights, time.Duration(days)*day)
				if err != nil {
					return err
				}
				if p.g.JSON {
					return p.encode(struct {
						token.Token
						Secret string `json:"token"`
					}{t, secret})
				}
				if _, err := fmt.Fprintln(p.out, secret); err != nil {
					return err
				}
				p.say("Copy the token now: it is not shown again. " + lasts(t))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the program that uses the token")
	cmd.Flags().StringSliceVar(&scopes, "scope", []string{string(access.Read)}, "scopes of the token")
	cmd.Flags().IntVar(&days, "days", 90, "days until the token expires; 0 for never")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

// tokenPrompt says what a person gives away with a token.
func tokenPrompt(name string, rights []access.Scope) string {
	text := fmt.Sprintf("Create the token %q with %s?", draw.OneLine(name), joined(rights))
	if slices.Contains(rights, access.Confirm) {
		text += " The app may show approval dialogs itself. Anyone who controls the app can approve."
	}
	return text
}

func joined(rights []access.Scope) string {
	var out []string
	for _, s := range rights {
		out = append(out, string(s))
	}
	return strings.Join(out, ", ")
}

func lasts(t token.Token) string {
	if t.Expires.IsZero() {
		return "It does not expire."
	}
	return "It expires on " + t.Expires.Local().Format(time.DateOnly) + "."
}

func (p *program) listTokens(ctx context.Context, s *Session) error {
	list, err := s.Tokens.List(ctx)
	if err != nil {
		return err
	}
	if p.g.JSON {
		return p.encode(struct {
			Tokens []token.Token `json:"tokens"`
		}{append([]token.Token{}, list...)})
	}
	if len(list) == 0 {
		p.say("No tokens. Run lore token create to create one.")
		return nil
	}
	now := time.Now()
	var rows [][]string
	for _, t := range list {
		var rights []string
		for _, s := range t.Scopes {
			rights = append(rights, string(s))
		}
		rows = append(rows, []string{t.Name, t.ID, strings.Join(rights, ","), stateOf(t, now), date(t.Created), date(t.Used), date(t.Expires)})
	}
	var b strings.Builder
	p.screen.Table(&b, []string{"name", "id", "scopes", "state", "created", "last used", "expires"}, rows)
	_, err = io.WriteString(p.out, b.String())
	return err
}

func stateOf(t token.Token, now time.Time) string {
	switch {
	case !t.Revoked.IsZero():
		return "revoked"
	case !t.InForce(now):
		return "expired"
	}
	return "active"
}

func date(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateOnly)
}
