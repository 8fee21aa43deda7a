package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/agent/choose"
	"lore/internal/agent/recovery"
	"lore/internal/graph/judge"
	"lore/internal/llm/retry"
	"lore/internal/machine/keys"
	"lore/internal/machine/state"
	"lore/internal/surface/cli"
	"lore/internal/surface/cli/conversation"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/approval"
	"lore/internal/tool/history"
	"lore/internal/tool/policy"
	"lore/internal/vault/visibility"
	"lore/internal/workspace"
	"lore/internal/workspace/peer"
)

// newAgent makes an agent that works through a door. What it keeps lies in a file of
// its own, whatever comes to stand behind the door.
func (a *app) newAgent(file *state.File, door tool.Door, log *slog.Logger, vault string, shares sharesFunc) *agent.Agent {
	left := recovery.Traces{History: history.New(file, history.Options{Now: a.now}), Asked: approval.New(file, a.now)}
	return &agent.Agent{
		Store: chat.New(file, a.now), Door: door, Now: a.now, Log: log, Model: a.models().Finder(), Made: left.Made, Prefs: a.models().Prefs, Shares: shares,
		Has: func(name string) bool {
			_, err := os.Stat(filepath.Join(vault, name))
			return err == nil
		},
		ID:     func(word string) string { return word + "-" + strings.ToLower(rand.Text()) },
		Holder: recovery.Holder(), Gone: recovery.HasEnded,
		// Everything but what belongs to persons: policy asks about the rest.
		Scopes: []access.Scope{access.Read, access.Write, access.Destroy, access.Model, access.Egress, access.Exec},
	}
}

// A sharesFunc says what of the vault a recipient may get.
type sharesFunc func(ctx context.Context, who access.Principal) (visibility.Limit, error)

// How often, and after which pause, rules are asked for while nobody holds the
// vault.
const (
	goneTries = 50
	goneWait  = 100 * time.Millisecond
)

// sharing is what of a vault somebody may get, as its paths are written.
func (a *app) sharing(ctx context.Context, door tool.Door, vault string, who access.Principal) (visibility.Limit, error) {
	c, err := a.config().Read()
	if err != nil {
		return visibility.Limit{}, err
	}
	p, _, err := a.opener().Policy(&c, vault)
	if err != nil {
		return visibility.Limit{}, err
	}
	rules, err := door.Rules(ctx)
	for range goneTries { // the vault passes to another process, or is opened with new settings
		if !peer.IsGone(err) || ctx.Err() != nil {
			break
		}
		time.Sleep(goneWait)
		rules, err = door.Rules(ctx)
	}
	if err != nil {
		return visibility.Limit{}, err
	}
	for _, choice := range who.Shared {
		rules = append(rules, policy.Rule{Verdict: policy.Allow, Tool: "*", To: who.Recipient(), Paths: policy.FolderPattern(choice)})
	}
	s := p.Sharing(who.Recipient(), who.Client, who.ID, rules, a.now())
	if s.Verdict != policy.Allow {
		return visibility.Limit{}.Only(nil)
	}
	return s.Limit, nil
}

// sharesOf is [app.sharing] for an open vault.
func (a *app) sharesOf(s *workspace.Session, door tool.Door) sharesFunc {
	return func(ctx context.Context, who access.Principal) (visibility.Limit, error) {
		limit, err := a.sharing(ctx, door, s.Vault.Dir(), who)
		return limit.Through(s.Vault.Real), err
	}
}

// talk is a session for somebody who talks with a model.
func (a *app) talk(ctx context.Context, s *workspace.Session, c *cli.Session) (*conversation.Session, error) {
	err := s.Learn(ctx)
	if peer.IsGone(err) { // the door finds who comes next, and learns from it
		_, err = c.Door.Questions(ctx, tool.Pending)
	}
	if err != nil {
		return nil, err
	}
	file, _ := a.opener().OpenRecords(s.Dir, s.Log)
	door := cli.BesideScreen(c)
	t := &conversation.Session{
		Agent: a.newAgent(file, door, s.Log, s.Vault.Dir(), a.sharesOf(s, door)), Door: door, Allow: approval.New(file, a.now).AddRule, Attend: c.Attend,
		Close: func() error { return errors.Join(c.Close(), file.Close()) },
	}
	if v, ok := a.errOut.(*draw.Messages); ok {
		t.Hear = v.Redirect
	}
	return t, nil
}

// models are the models that can be talked with.
func (a *app) models() *choose.Models {
	dir, err := a.home().Config()
	kept := keys.Store{Dir: dir, Ring: keys.System{}}
	if err != nil || a.env("LORE_KEYRING") == "off" {
		kept.Ring = nil
	}
	return &choose.Models{
		Settings: a.config(), Env: a.env, Keys: kept, Now: a.now,
		Told: func(w retry.Wait) {
			fmt.Fprintf(a.errOut, "retrying the model in %s (%d of %d): %v\n", w.For.Round(time.Second/10), w.Next, w.Of, draw.OneLine(w.Err.Error()))
		},
	}
}

// judge judges with the model that the settings name, if it is one.
func (a *app) judge(log *slog.Logger) judge.Judge {
	j := judge.Judge{Log: log, Memory: &judge.Memory{}}
	if m := a.models().Late(); m != nil {
		j.Model, j.MaySend = m, a.models().Gate(tool.MaySend)
	}
	return j
}
