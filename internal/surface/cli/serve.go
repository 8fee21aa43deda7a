package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/access"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/process"
	"lore/internal/surface/draw"
	"lore/internal/surface/serve"
	"lore/internal/token"
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
		Use: "serve [FOLDER]", Short: "Answer over HTTP, for programs and for a browser, until interrupted", Args: words(0, 1),
		Long: `Serves the vault at /api/v1 and keeps its index up to date. Programs bring a token
(lore token create). Started in a terminal, it prints a sign-in link for one
browser; elsewhere, lore login prints one.

Only this machine is answered. With --expose others are too, under the names that
--host gives; put something that speaks TLS in front of it.`,
		Example: "lore serve\nlore serve ~/notes --listen 127.0.0.1:8080\nlore serve --listen 0.0.0.0:7777 --expose --host notes.example",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if p.g.Vault != "" {
					return fault.Field("vault", "give the folder once", "it is named twice")
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
				return fault.New(fault.Unavailable, "this program cannot serve clients")
			}
			o.Progress = p.progress()
			return p.host.Serve(cmd.Context(), p.g, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", defaultListen, "where to listen; port 0 takes a free one")
	f.DurationVar(&o.Hold, "hold", defaultHold, "how long an MCP call waits for a person before it says that it waits; 0s not at all")
	f.BoolVar(&o.Expose, "expose", false, "let other machines in; needs --host")
	f.StringArrayVar(&o.Hosts, "host", nil, "a further name that requests may be sent to; may stand several times")
	f.BoolVar(&fixtures, fixturesFlag, false, "serve what conformance suites ask for at a further address, without a token")
	_ = f.MarkHidden(fixturesFlag) // it exists: see above
	return cmd
}

// serving tells where to go. A sign-in link makes whoever opens it the person: it
// is printed only where a person reads it, on a terminal, and stands in no log.
func (p *program) serving(address string, link func() (string, error)) error {
	if p.g.JSON {
		return p.encode(map[string]string{"address": address, "api": address + "/api/v1"})
	}
	if !p.screen.Terminal {
		p.say("serving " + address + "; to sign in a browser, run lore login in a terminal.")
		return nil
	}
	login, err := link()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s\n", login)
	p.say("serving " + address + "; open the line above in a browser, once. Ctrl-C ends it.")
	return err
}

// loginCommand signs one more browser in.
func (p *program) loginCommand() *cobra.Command {
	return &cobra.Command{
		Use: "login", Short: "Print a one-time sign-in link for lore serve", Args: noWords,
		Long: `Prints a sign-in link for the server that runs on this vault. The browser that
opens it first, within ten minutes, is signed in as you: keep it to yourself. You
confirm it in the terminal. lore sessions lists the browsers that are signed in.`,
		Example: "lore login --vault ~/notes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				address := s.Server(cmd.Context())
				if address == "" {
					return fault.Fix(fault.Unavailable, "start it with lore serve", "no server runs on this vault")
				}
				if err := p.askPerson(cmd.Context(), "Print a sign-in link? Whoever opens it can do everything that you can."); err != nil {
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
		Use: "token", Short: "Make, list and revoke the tokens that programs call with", Args: noWords, RunE: list,
		Long: `A token lets a program call the tools of this vault over HTTP, as far as its
scopes go. It is printed once and kept only as a hash. A token approves nothing:
changes wait for a person. The one exception is the scope confirm, which lets an MCP
app show approval dialogs for its own calls; anyone who controls the app can approve
then, and the record names the app's dialog.`,
		Example: "lore token create --name \"reading list\" --scope read\nlore token list\nlore token revoke \"reading list\"",
	}
	cmd.AddCommand(p.tokenCreateCommand(), &cobra.Command{Use: "list", Short: "List the tokens", Args: noWords, RunE: list}, p.tokenRevokeCommand())
	return cmd
}

func (p *program) tokenRevokeCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "revoke NAME", Short: "End a token, by its name or id, at once", Args: words(1, 1),
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
				p.say(fmt.Sprintf("%s (%s) opens nothing any more", t.Name, t.ID))
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
		Use: "create", Short: "Make a token and print it, once", Args: noWords,
		Long: `Makes a token and prints it to standard output; it cannot be shown again. Scopes:
read, write, destroy, egress (reach the network), exec (run commands) and confirm.

With confirm, the app may show approval dialogs itself. Anyone who controls the app
can approve. It is in no default, and always needs your confirmation in a terminal;
for other scopes --yes skips that, for scripts.`,
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
				p.say("keep it: it is not shown again. " + lasts(t))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what uses it")
	cmd.Flags().StringSliceVar(&scopes, "scope", []string{string(access.Read)}, "what it may do")
	cmd.Flags().IntVar(&days, "days", 90, "how long it holds; 0 for ever")
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
		return "It holds until it is revoked."
	}
	return "It holds until " + t.Expires.Local().Format(time.DateOnly) + "."
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
		p.say("there are no tokens; lore token create makes one")
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
	p.screen.Table(&b, []string{"name", "id", "scopes", "state", "made", "last used", "until"}, rows)
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
	return "in force"
}

func date(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateOnly)
}
