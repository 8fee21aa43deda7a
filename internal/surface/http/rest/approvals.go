package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lore/internal/fault"
	"lore/internal/surface/http/serve"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
)

// Approvals is a list of questions.
type Approvals struct {
	Approvals []tool.Question `json:"approvals"`
}

// Rules is a list of standing answers.
type Rules struct {
	Rules []policy.Rule `json:"rules"`
}

// states that a list shows unless told: those in which something can happen.
func states(word string) ([]tool.State, error) {
	switch word {
	case "":
		return []tool.State{tool.Pending, tool.Approved, tool.Running}, nil
	case "all":
		return nil, nil
	}
	all := []tool.State{tool.Pending, tool.Approved, tool.Running, tool.Done, tool.Failed, tool.Denied, tool.Cancelled, tool.Expired}
	var out []tool.State
	for w := range strings.SplitSeq(word, ",") {
		found := false
		for _, s := range all {
			if string(s) == w {
				out, found = append(out, s), true
			}
		}
		if !found {
			return nil, fault.Field("state", "use all, or any of pending, approved, running, done, failed, denied, cancelled, expired", "unknown state %q", w)
		}
	}
	return out, nil
}

func (a *API) listApprovals(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	in, err := states(r.URL.Query().Get("state"))
	if err != nil {
		return err
	}
	list, err := a.o.Door.Questions(r.Context(), in...)
	if err != nil {
		return err
	}
	out := Approvals{Approvals: []tool.Question{}}
	for _, q := range list {
		if !sees(who, q) {
			continue
		}
		seen, err := a.visible(r.Context(), who, q)
		if err != nil {
			return err
		}
		out.Approvals = append(out.Approvals, seen)
	}
	return serve.JSON(w, http.StatusOK, out)
}

// question finds the one that the path names. One of somebody else is not there
// for a program, and the beginning of an id finds nothing: guessing must not
// help.
func (a *API) question(r *http.Request, who access.Principal) (tool.Question, error) {
	id := r.PathValue("id")
	q, err := a.o.Door.Question(r.Context(), id)
	if who.Kind == access.Person {
		return q, err
	}
	switch kind := fault.Of(err); {
	case err != nil && kind != fault.NotFound && kind != fault.Ambiguous && kind != fault.Invalid:
		return tool.Question{}, err
	case err != nil, q.ID != id, !sees(who, q):
		return tool.Question{}, fault.New(fault.NotFound, "there is no approval %q", id)
	}
	return a.visible(r.Context(), who, q)
}

// visible is a question as a principal may know it now. A program that gets text
// from outside with it is tainted before it gets it.
func (a *API) visible(ctx context.Context, who access.Principal, q tool.Question) (tool.Question, error) {
	out := q.VisibleTo(who)
	if who.Recipient() != "" && len(q.Outcome) > 0 && !q.IsShared(a.limitOf(ctx, who)) {
		out.Outcome, out.Value, out.Edits, out.Files = nil, nil, nil, nil
	}
	if who.Kind != access.Person && out.ShowsOutside() {
		if err := a.o.Door.Taint(ctx, who); err != nil {
			return tool.Question{}, err
		}
	}
	return out, nil
}

func (a *API) showApproval(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	q, err := a.question(r, who)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, q)
}

func (a *API) answer(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	var said tool.Answer
	if err := Decode(r.Body, &said); err != nil {
		return err
	}
	if err := a.checkUnlocked(r.Context(), who, said); err != nil {
		return err
	}
	// The answer of a person who then closes the page is an answer.
	res, err := a.o.Door.Answer(context.WithoutCancel(r.Context()), who, r.PathValue("id"), said)
	if err != nil {
		return err
	}
	return a.result(w, res)
}

// checkUnlocked refuses an approval until the PIN was given, where one is set. To
// deny needs none.
func (a *API) checkUnlocked(ctx context.Context, who access.Principal, said tool.Answer) error {
	if !said.Approve && said.Always == nil {
		return nil
	}
	return NeedPIN(ctx, a.o.Unlocked, who, "approvals need your PIN")
}

// NeedPIN refuses until the PIN was given, where one is set; unlocked is as in
// [Options].
func NeedPIN(ctx context.Context, unlocked func(context.Context, string) (bool, error), who access.Principal, why string) error {
	if unlocked == nil {
		return nil
	}
	ok, err := unlocked(ctx, who.ID)
	if err != nil || ok {
		return err
	}
	return &fault.Report{Kind: fault.Denied, Field: "pin", Message: why, Fix: "enter it, and try again"}
}

func (a *API) rehearse(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	var said tool.Answer
	if err := Decode(r.Body, &said); err != nil {
		return err
	}
	q, err := a.o.Door.Rehearse(r.Context(), who, r.PathValue("id"), said)
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, q)
}

// How long a request waits for a person, unless told, and at the most: many
// programs in between give up after a minute.
const (
	awaitSeconds = 25
	awaitMost    = 50
)

func (a *API) await(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	q, err := a.question(r, who)
	if err != nil {
		return err
	}
	revision, err := Number(r, "revision", q.Revision, 0, 1<<30)
	if err != nil {
		return err
	}
	seconds, err := Number(r, "seconds", awaitSeconds, 0, awaitMost)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	go func() {
		select {
		case <-a.o.Closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	res, err := a.o.Door.Await(ctx, q.ID, revision)
	switch {
	case err != nil && ctx.Err() != nil && r.Context().Err() == nil && isOver(err):
		return a.result(w, tool.Result{Question: &q, Message: q.Preview.Summary, Notices: q.Notices}) // it still waits
	case err != nil:
		return err
	}
	return a.result(w, res)
}

func isOver(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Number reads a parameter of the address.
func Number(r *http.Request, name string, unless, least, most int) (int, error) {
	word := r.URL.Query().Get(name)
	if word == "" {
		return unless, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < least || n > most {
		return 0, fault.Field(name, "give a number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most), "%q is not valid", word)
	}
	return n, nil
}

func (a *API) cancel(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	q, err := a.question(r, who)
	if err != nil {
		return err
	}
	if err := a.o.Door.Cancel(r.Context(), who, q.ID); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *API) listRules(w http.ResponseWriter, r *http.Request, _ access.Principal) error {
	list, err := a.o.Door.Rules(r.Context())
	if err != nil {
		return err
	}
	return serve.JSON(w, http.StatusOK, Rules{append([]policy.Rule{}, list...)})
}

func (a *API) forget(w http.ResponseWriter, r *http.Request, who access.Principal) error {
	if err := NeedPIN(r.Context(), a.o.Unlocked, who, "changes to approval rules need your PIN"); err != nil {
		return err
	}
	if err := a.o.Door.Forget(r.Context(), who, r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
