package cli

import (
	"context"

	"lore/internal/surface/cli/argv"

	"github.com/spf13/cobra"
)

// fixturesFlag is for the tests that judge Lore from outside, and for nobody
// else: it is in no help.
const fixturesFlag = "conformance-fixtures"

// servingFixtures tells where the fixtures are.
func (p *program) servingFixtures(address string) error {
	if p.g.JSON {
		return p.encode(map[string]string{"fixtures": address})
	}
	p.say("fixtures of conformance suites, open to every program on this computer: " + address)
	return nil
}

// conformanceClientCommand plays the scenarios in which suites judge a client.
func (p *program) conformanceClientCommand() *cobra.Command {
	return &cobra.Command{
		Use: "mcp-conformance-client URL", Short: "Play one scenario of a conformance suite", Args: argv.Between(1, 1), Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.host.ConformanceClient(cmd.Context(), args[0])
		},
	}
}

// A ConformanceClient plays the scenario that the environment names against the
// server at an address.
type ConformanceClient func(ctx context.Context, url string) error
