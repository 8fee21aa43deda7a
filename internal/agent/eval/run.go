package eval

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/vault/sample"
)

// A Vault is an open one with an agent.
type Vault struct {
	Agent *agent.Agent
	Door  tool.Door
	Close func() error
}

// A Runner tries cases, one after the other.
type Runner struct {
	// Open opens the vault in a folder; all else that belongs to it goes into
	// another, its own.
	Open func(ctx context.Context, vault, own string) (*Vault, error)
	// Folder is where the folders of cases are looked for.
	Folder string
	// Runs is how often each case is tried.
	Runs int
	// Told hears of every try; may be nil.
	Told func(model string, c *Case, n int, r Run)
}

// deaf is how many tries in a row may end before the model said a word: then it
// is not there, and each further try would only wait for it.
const deaf = 3

// Try tries all cases with one model. When ctx ends, or the model is not there,
// it stops, and the score is that of what was tried.
func (r *Runner) Try(ctx context.Context, model string, cases []Case) (Score, error) {
	tried := make([]Tried, 0, len(cases))
	silent := 0
	for i := range cases {
		c := &cases[i]
		tried = append(tried, Tried{ID: c.ID, Kind: c.Kind})
		for n := range max(r.Runs, 1) {
			o, err := r.once(ctx, model, c)
			if err != nil {
				return NewScore(model, tried), err
			}
			run := NewRun(c, &o)
			tried[i].Add(run)
			if r.Told != nil {
				r.Told(model, c, n+1, run)
			}
			if silent++; run.Failed == "" || run.Steps > 0 {
				silent = 0
			}
			if silent == deaf {
				s := NewScore(model, tried)
				s.GaveUp = run.Failed
				return s, nil
			}
		}
	}
	return NewScore(model, tried), nil
}

// once tries a case in a fresh copy of its vault.
func (r *Runner) once(ctx context.Context, model string, c *Case) (o Outcome, err error) {
	dir, err := os.MkdirTemp("", "lore-eval-")
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	vault := filepath.Join(dir, "vault")
	if err := r.makeVault(vault, c); err != nil {
		return o, err
	}
	before, err := sums(vault)
	if err != nil {
		return o, err
	}
	v, err := r.Open(ctx, vault, filepath.Join(dir, "own"))
	if err != nil {
		return o, err
	}
	start := time.Now()
	o, err = v.answer(ctx, model, c)
	o.Took = time.Since(start)
	if err := errors.Join(err, v.Close()); err != nil {
		return o, err
	}
	return o, o.look(vault, before, c)
}

// makeVault makes the vault of a case.
func (r *Runner) makeVault(dir string, c *Case) error {
	var err error
	if c.Vault == "" {
		err = sample.Copy(dir)
	} else {
		from := c.Vault
		if !filepath.IsAbs(from) {
			from = filepath.Join(r.Folder, filepath.FromSlash(from))
		}
		if _, err := os.Stat(from); err != nil {
			return fault.New(fault.NotFound, "the vault for case %s cannot be read: %v", c.ID, err)
		}
		err = os.CopyFS(dir, os.DirFS(from))
	}
	if err != nil {
		return err
	}
	for name, text := range c.Add {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sums are the hashes of the files of a folder. What begins with a dot belongs
// to programs.
func sums(dir string) (map[string][sha256.Size]byte, error) {
	out := map[string][sha256.Size]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		out[name] = sha256.Sum256(b)
		return err
	})
	return out, err
}

// look sees what became of the files.
func (o *Outcome) look(vault string, before map[string][sha256.Size]byte, c *Case) error {
	after, err := sums(vault)
	if err != nil {
		return err
	}
	for name, sum := range after {
		if old, had := before[name]; !had || old != sum {
			o.Changed = append(o.Changed, name)
		}
	}
	for name := range before {
		if _, has := after[name]; !has {
			o.Changed = append(o.Changed, name)
		}
	}
	slices.Sort(o.Changed)
	o.Files = map[string]string{}
	for name := range c.Files {
		if _, has := after[name]; !has {
			continue
		}
		b, err := os.ReadFile(filepath.Join(vault, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		o.Files[name] = string(b)
	}
	return nil
}

// answer lets a model answer, and is the person who is asked meanwhile. That the
// model fails is an outcome; an error is what keeps cases from being tried.
func (v *Vault) answer(ctx context.Context, model string, c *Case) (Outcome, error) {
	a := v.narrowed(c.Window)
	id := a.ID("chat")
	// It has a title, so that no model is asked for one.
	if err := a.Store.Put(ctx, chat.Chat{ID: id, Created: a.Now(), Title: c.ID, Titled: chat.ByPerson, Model: model, Sets: c.Toolsets}); err != nil {
		return Outcome{}, err
	}
	run, err := a.Start(ctx, id, agent.Request{Text: c.Prompt, Model: model, Note: c.Note})
	if err != nil {
		return Outcome{}, err
	}
	for {
		run, err = a.Work(ctx, run.ID, nil)
		if ctx.Err() != nil {
			return Outcome{}, ctx.Err()
		}
		if err != nil || run.Status != chat.WaitingApproval {
			break
		}
		if err := v.decide(ctx, run.ID, &c.Approve); err != nil {
			return Outcome{}, err
		}
	}
	o, e := v.outcome(ctx, &run)
	if err != nil {
		o.Failed = err.Error()
	}
	return o, e
}

// narrowed is the agent for a model that has a smaller window than it says.
func (v *Vault) narrowed(window int) *agent.Agent {
	a := *v.Agent
	if find := a.Model; window > 0 {
		a.Model = func(ctx context.Context, id string) (llm.Model, llm.Info, error) {
			m, info, err := find(ctx, id)
			if info.Context == 0 || info.Context > window {
				info.Context = window
			}
			return m, info, err
		}
	}
	return &a
}

// patience is how often a question that is computed again is answered again.
const patience = 5

// decide answers what a run asks, as the person of the case.
func (v *Vault) decide(ctx context.Context, run string, leave *Leave) error {
	person := access.Principal{Kind: access.Person, ID: "eval", Surface: "eval", Scopes: access.Scopes()}
	calls, err := v.Agent.Store.Calls(ctx, run)
	if err != nil {
		return err
	}
	for _, c := range calls {
		if c.State != chat.Asked {
			continue
		}
		q, err := v.Door.Question(ctx, c.Question)
		if err != nil {
			return err
		}
		for range patience {
			if q.State != tool.Pending {
				break
			}
			res, err := v.Door.Answer(ctx, person, q.ID, tool.Answer{Approve: leave.Allows(q.Tool), Revision: q.Revision})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			// That it was refused, or could not be done, the run hears itself.
			if err != nil || res.Question == nil {
				break
			}
			q = *res.Question
		}
	}
	return nil
}

// outcome reads what a run left behind.
func (v *Vault) outcome(ctx context.Context, run *chat.Run) (Outcome, error) {
	o := Outcome{Steps: run.Steps, In: run.Usage.In, Out: run.Usage.Out}
	if run.Priced {
		o.Cost = run.Usage.CostUSD
	}
	switch run.Status {
	case chat.Failed, chat.Cancelled, chat.Limited:
		o.Failed = run.Reason
	}
	calls, err := v.Agent.Store.Calls(ctx, run.ID)
	if err != nil {
		return o, err
	}
	for _, c := range calls {
		m := Made{Tool: c.Tool, Args: c.Args, Given: c.Attached, Mistaken: c.State != chat.Finished && c.State != chat.Refused}
		if t, err := v.Door.Find(c.Tool); err == nil {
			m.Tool = t.Name
			dry, _ := at(arguments(c.Args), tool.DryRun)
			m.Changes = t.Effect != access.Reads && dry != true
		}
		o.Calls = append(o.Calls, m)
	}
	messages, err := v.Agent.Store.Messages(ctx, run.Chat)
	if err != nil {
		return o, err
	}
	for _, m := range slices.Backward(messages) {
		if m.Run != run.ID || m.Role != llm.Assistant {
			continue
		}
		said := llm.Answer{Parts: m.Parts}
		o.Answer = said.Text()
		for _, c := range m.Citations {
			if c.State != chat.Unread {
				o.Cited = append(o.Cited, c.Path)
			}
		}
		break
	}
	return o, nil
}
