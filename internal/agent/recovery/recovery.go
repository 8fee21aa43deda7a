// Package recovery finds out what became of the work of processes that ended: the
// change or the approval that a call left behind, and whether a process is still
// running.
package recovery

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"lore/internal/agent"
	"lore/internal/tool/access"
	"lore/internal/tool/approval"
	"lore/internal/tool/history"
)

// Traces are where calls leave something behind.
type Traces struct {
	History *history.Store
	Asked   *approval.Store
}

// Made finds what a call of a run left behind. A run makes one change at a time,
// so the newest record of the tool since then is of that call.
func (s Traces) Made(ctx context.Context, run, name string, _ json.RawMessage, since time.Time) (agent.Trace, error) {
	calls, err := s.History.Calls(ctx, history.Filter{Run: run, Kind: access.Agent, Tool: name, Since: since.Add(-time.Second), Limit: 1})
	if err != nil {
		return agent.Trace{}, err
	}
	for _, c := range calls {
		if c.Operation != "" {
			return agent.Trace{Operation: c.Operation}, nil
		}
	}
	asked, err := s.Asked.List(ctx)
	if err != nil {
		return agent.Trace{}, err
	}
	var newest agent.Trace
	var at time.Time
	for _, q := range asked {
		if q.Who.Kind == access.Agent && q.Who.ID == run && q.Tool == name && !q.Asked.Before(since.Add(-time.Second)) && q.Asked.After(at) {
			newest, at = agent.Trace{Question: q.ID}, q.Asked
		}
	}
	return newest, nil
}

// self is this process among all that had or will have its number: in a container
// that is started anew, every process has the same.
var self = fmt.Sprintf("%d-%s-", os.Getpid(), rand.Text())

// Holder names somebody in this process among those that work on runs.
func Holder() string { return self + rand.Text() }

// HasEnded reports that the process that a holder's name begins with is no more.
func HasEnded(holder string) bool {
	pid, err := strconv.Atoi(strings.SplitN(holder, "-", 2)[0])
	switch {
	case err != nil || pid <= 0 || strings.HasPrefix(holder, self):
		return false
	case pid == os.Getpid():
		return true // it had the number before us
	}
	return !alive(pid)
}
