// Package web holds the tools that reach the web: search it, read a page, read what is
// said in a video. One file is one tool. They are off until a person turns them on, each
// call is asked about, and everything that they return is text from outside.
package web

import (
	"time"

	"lore/internal/outside/egress"
	"lore/internal/outside/websearch"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault"
)

//go:generate go run lore/internal/tool/tooldoc/gendoc

// Env is what these tools may touch.
type Env struct {
	Vault *vault.Vault
	// Search is the search engine of the settings; nil when there is none.
	Search func() (websearch.Searcher, error)
	// Client goes out to the web.
	Client func() (*egress.Client, error)
	// YouTube is where videos are; "" is the usual place.
	YouTube string
}

// Tools returns every tool of this package, bound to env.
func Tools(env Env) []*tool.Tool {
	outside := []tool.Option{tool.Needs(access.Egress), tool.Untrusted(), tool.OffByDefault(), tool.Rate(20, time.Minute), tool.Within(time.Minute)}
	with := func(more ...tool.Option) []tool.Option { return append(outside[:len(outside):len(outside)], more...) }
	return tool.Toolset("web", docs,
		tool.Act[WebSearch](env, with(tool.Drawn(tool.Text), tool.Alias("webSearch"))...),
		tool.Act[DownloadUrl](env, with(tool.Drawn(tool.Text), tool.Short("download"), tool.Alias("downloadUrl"))...),
		tool.Act[YoutubeTranscription](env, with(tool.Drawn(tool.Text), tool.Short("transcript"), tool.Alias("youtubeTranscription"))...),
	)
}
