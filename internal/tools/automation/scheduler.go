package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"lore/internal/change"
	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tools/automation/workflow"
)

// A Scheduler runs workflows by themselves: those that a person added, as long as
// their text is the one that was shown. One process has it at a time.
type Scheduler struct {
	// Open returns the vault as it is now, until release is called.
	Open func(ctx context.Context) (env Env, release func(), err error)
	Door tool.Door
	Bus  *event.Bus
	Log  *slog.Logger
	Now  func() time.Time
	// Every is how often it looks for workflows that are due.
	Every time.Duration
	// Changed reports whether workflows that run by themselves have changed files
	// since a time: one job ("" is any), one path ("" is any).
	Changed func(ctx context.Context, job, path string, since time.Time) (bool, error)
}

// ownChange is how long a change counts as one that a workflow made: it triggers none.
const ownChange = time.Minute

// Follow looks for due workflows and follows the files, until ctx ends.
func (s *Scheduler) Follow(ctx context.Context) {
	news := s.Bus.Subscribe(change.TopicFiles)
	defer news.Close()
	events := make(chan change.Files)
	go func() {
		for e, ok := news.Next(ctx.Done()); ok; e, ok = news.Next(ctx.Done()) {
			if f, isFiles := e.Data.(change.Files); isFiles {
				select {
				case events <- f:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	tick := time.NewTicker(s.Every)
	defer tick.Stop()
	for first := true; ; first = false {
		if err := s.runDue(ctx, first); err != nil && ctx.Err() == nil {
			s.Log.Warn("schedules cannot be looked at", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case f := <-events:
			if err := s.handleFiles(ctx, f); err != nil && ctx.Err() == nil {
				s.Log.Warn("hooks cannot be looked at", "error", err)
			}
		}
	}
}

// A due is a workflow that is on.
type due struct {
	workflowFile
	since time.Time // it is on
}

// on are the workflows that a person lets run by themselves.
func (s *Scheduler) on(ctx context.Context) ([]due, Jobs, error) {
	env, release, err := s.Open(ctx)
	if err != nil {
		return nil, Jobs{}, err
	}
	list, err := env.triggered(ctx)
	release()
	if err != nil || len(list) == 0 {
		return nil, env.Jobs, err
	}
	rules, err := s.Door.Rules(ctx)
	if err != nil {
		return nil, env.Jobs, err
	}
	var out []due
	for _, w := range list {
		if state, since := w.state(rules); state == "on" {
			out = append(out, due{w, since})
		}
	}
	return out, env.Jobs, nil
}

// runDue runs what is due. Runs that were missed are made up for once. At the start,
// a run that was interrupted is made again, unless its changes were made.
func (s *Scheduler) runDue(ctx context.Context, start bool) error {
	list, jobs, err := s.on(ctx)
	if err != nil {
		return err
	}
	for _, w := range list {
		st := jobs.read()[w.path]
		if start && st.isInterrupted() {
			done, err := s.Changed(ctx, w.job().ID, "", st.Last)
			if err != nil {
				return err
			}
			if done {
				st.Finished, st.Result = s.Now(), "done before the program was stopped"
				if err := s.remember(jobs, w.path, st); err != nil {
					return err
				}
			} else if len(w.On.Times) > 0 {
				if err := s.run(ctx, jobs, w, nil); err != nil {
					return err
				}
				continue
			}
		}
		after := w.since
		if st.Last.After(after) {
			after = st.Last
		}
		if next := w.On.Next(after); next.IsZero() || next.After(s.Now()) {
			continue
		}
		if err := s.run(ctx, jobs, w, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scheduler) remember(jobs Jobs, path string, st jobState) error {
	all := jobs.read()
	all[path] = st
	return jobs.write(all)
}

// run makes one run and remembers it: that it begins before it begins.
func (s *Scheduler) run(ctx context.Context, jobs Jobs, w due, inputs map[string]any) error {
	now := s.Now()
	st := jobs.read()[w.path]
	if day := now.Format("2006-01-02"); st.Day != day {
		st.Day, st.Runs = day, 0
	}
	st.Last = now
	why, err := s.skips(ctx, w, st)
	if err != nil {
		return err
	}
	if why != "" {
		st.Finished, st.Result = now, why
		return s.remember(jobs, w.path, st)
	}
	st.Runs++
	if err := s.remember(jobs, w.path, st); err != nil {
		return err // what cannot be remembered would run again and again
	}
	s.Log.Info("scheduled run started", "workflow", w.path)
	st.Result = s.call(ctx, w, inputs)
	if ctx.Err() != nil {
		return ctx.Err() // it is made again at the next start
	}
	st.Finished = s.Now()
	s.Log.Info("scheduled run ended", "workflow", w.path, "result", st.Result)
	return s.remember(jobs, w.path, st)
}

// skips says why a workflow does not run now; "" when it does.
func (s *Scheduler) skips(ctx context.Context, w due, st jobState) (string, error) {
	if st.Runs >= w.Allow.Runs {
		return fmt.Sprintf("not run: it ran %d times today, which is its limit", st.Runs), nil
	}
	waiting, err := s.Door.Questions(ctx, tool.Pending)
	if err != nil {
		return "", err
	}
	for _, q := range waiting {
		if q.Who.Kind == access.Schedule && q.Who.ID == w.job().ID {
			return "not run: an earlier run waits for approval", nil
		}
	}
	return "", nil
}

// call runs the workflow through the door, as the job.
func (s *Scheduler) call(ctx context.Context, w due, inputs map[string]any) string {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	args, err := json.Marshal(RunWorkflow{Workflow: w.path, Inputs: inputs})
	if err != nil {
		return "failed: " + err.Error()
	}
	res, err := s.Door.Call(ctx, w.job(), "run_workflow", args)
	switch {
	case err != nil:
		return "failed: " + err.Error()
	case res.Question != nil:
		return "waits for approval"
	}
	return "done: " + res.Message
}

// handleFiles runs the workflows that files trigger. Changes that workflows made
// by themselves trigger none, so that no two of them go on for ever.
func (s *Scheduler) handleFiles(ctx context.Context, f change.Files) error {
	if f.Many {
		s.Log.Warn("too many files changed at once; no workflow was triggered")
		return nil
	}
	list, jobs, err := s.on(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	for _, h := range happenings(f) {
		for _, w := range list {
			if !w.On.Fits(h.event, h.path) {
				continue
			}
			own, err := s.Changed(ctx, "", h.path, s.Now().Add(-ownChange))
			if err != nil {
				return err
			}
			if own {
				break
			}
			if err := s.run(ctx, jobs, w, w.inputsOf(h)); err != nil {
				return err
			}
		}
	}
	return nil
}

// A happening is what happened to one file.
type happening struct {
	event      workflow.Event
	path, from string
}

// happenings tells news of files apart. One file that left and one that came are
// the same file, renamed.
func happenings(f change.Files) []happening {
	if len(f.Added) == 1 && len(f.Removed) == 1 {
		out := []happening{{workflow.Renamed, f.Added[0], f.Removed[0]}}
		return append(out, happenings(change.Files{Changed: f.Changed})...)
	}
	var out []happening
	for e, list := range map[workflow.Event][]string{workflow.Created: f.Added, workflow.Changed: f.Changed, workflow.Deleted: f.Removed} {
		for _, p := range list {
			out = append(out, happening{event: e, path: p})
		}
	}
	return out
}

// inputsOf are the inputs that tell a workflow what happened, where it takes them.
func (w workflowFile) inputsOf(h happening) map[string]any {
	all := map[string]any{"path": h.path, "event": string(h.event), "from": h.from}
	out := map[string]any{}
	for _, in := range w.Inputs {
		if v, ok := all[in.Name]; ok {
			out[in.Name] = v
		}
	}
	return out
}

// withinAllowance refuses a run by itself that changes more files than the workflow
// allows itself.
func (w workflowFile) withinAllowance(ctx context.Context, files int) error {
	if tool.Caller(ctx).Kind == access.Schedule && files > w.Allow.Files {
		return fault.Fix(fault.TooLarge, "raise files: under allow:", "the run would change %d files; the workflow allows itself %d", files, w.Allow.Files)
	}
	return nil
}
