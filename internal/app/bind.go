package app

import (
	"context"

	"lore/internal/agent/chat"
	"lore/internal/doctor"
	"lore/internal/note"
	"lore/internal/outside/egress"
	"lore/internal/outside/websearch"
	"lore/internal/search"
	"lore/internal/tool"
	"lore/internal/tools/automation"
	"lore/internal/tools/clock"
	"lore/internal/tools/explore"
	"lore/internal/tools/files"
	"lore/internal/tools/knowledge"
	"lore/internal/tools/notes"
	"lore/internal/tools/organize"
	"lore/internal/tools/task"
	"lore/internal/tools/web"
	"lore/internal/tools/work"
	"lore/internal/workspace"
	"lore/internal/workspace/settings"
)

// opener opens vaults for this program.
func (a *app) opener() *workspace.Opener {
	return &workspace.Opener{
		Now: a.now, Env: a.env, Log: a.logger, Catalog: catalogue, Model: a.model, Bind: a.bind,
		Connect: func(s *workspace.Session, r *tool.Registry) (workspace.Servers, error) {
			hub, err := a.serverAdmin().Hub(s.Vault.Dir(), s.Log, r, s.Bus, s.Off)
			if err != nil {
				return nil, err
			}
			return a.withOwnTools(s, r, hub), nil
		},
	}
}

// bind binds every toolset to an open vault.
func (a *app) bind(ctx context.Context, s *workspace.Session, deps *tool.Deps) [][]*tool.Tool {
	deps.Warn = (&doctor.Adviser{Vault: s.Vault, Store: s.Store}).Warn
	parse := s.Dialect(ctx)
	finder := a.searcher(s)
	return [][]*tool.Tool{
		notes.Tools(notes.Env{
			Vault: s.Vault, Store: s.Index, Search: finder, Fresh: s.Gate.Fresh, Now: a.now, Parse: parse, Version: s.History.Image,
		}),
		explore.Tools(explore.Env{Vault: s.Vault, Store: s.Index, Search: finder, Fresh: s.Gate.Fresh}),
		organize.Tools(organize.Env{Vault: s.Vault, Store: s.Index, Parse: parse, Now: a.now}),
		files.Tools(files.Env{Vault: s.Vault, Store: s.Index, Fresh: s.Gate.Fresh, Folder: s.FilesFolder, PictureText: files.Tesseract}),
		knowledge.Tools(a.knowledge(s, finder, parse)),
		work.Tools(work.Env{
			History: s.History, Questions: s.Approvals, Vault: s.Vault, Now: a.now, Chats: chat.New(s.State, a.now), Folder: s.ChatFolder,
			Look: s.CompareIndex, Accept: s.Accept, Store: s.Index, Parse: parse,
			Tools: func() (all, on []*tool.Tool) { return s.Registry.All(), s.Registry.On() },
		}),
		web.Tools(web.Env{Vault: s.Vault, Search: a.searchEngine, Client: a.webClient}),
		task.Tools(task.Env{}),
		clock.Tools(clock.Env{Now: a.now, Timer: timerOf(s)}),
		automation.Tools(a.automation(s)),
	}
}

func (a *app) searcher(s *workspace.Session) *search.Searcher {
	return &search.Searcher{Store: s.Index, Model: s.Model, Now: a.now}
}

// knowledge is what the tools of the knowledge graph may touch. The settings of
// the web are read when it is asked: a mistake in them stops nothing else.
func (a *app) knowledge(s *workspace.Session, finder *search.Searcher, parse note.Options) knowledge.Env {
	return knowledge.Env{
		Vault: s.Vault, Store: s.Index, Search: finder, Fresh: s.Gate.Fresh, Parse: parse, Folder: s.NodeFolder, Judge: a.judge(s.Log),
		Web: a.searchEngine,
	}
}

// searchEngine is the one that the settings name, nil when they name none.
func (a *app) searchEngine() (websearch.Searcher, error) {
	c, err := a.config().Read()
	if err != nil {
		return nil, err
	}
	return websearch.FromSettings(func(key string) (string, error) { return a.config().Get(&c, key) }, a.env)
}

// webClient reaches the public web, and the hosts that the settings name.
func (a *app) webClient() (*egress.Client, error) {
	c, err := a.config().Read()
	if err != nil {
		return nil, err
	}
	allow, err := a.config().Get(&c, "web.allow")
	if err != nil {
		return nil, err
	}
	return egress.New(egress.Options{Allow: settings.Hosts(allow)})
}
