//go:build !conformance

package app

import (
	"context"

	"lore/internal/surface/cli"
	"lore/internal/workspace"
)

// Only a program that is built to be judged by conformance suites has what they
// ask for.
func (a *app) conformanceClient() cli.ConformanceClient { return nil }

func addFixtures(*workspace.Session, cli.ServeOptions) error { return nil }

func (s *server) serveFixtures(context.Context, cli.ServeOptions) error { return nil }
