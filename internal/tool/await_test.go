package tool_test

import (
	"context"
	"testing"

	"lore/internal/change"
	"lore/internal/tool"
)

// TestWhoeverWaitsMayLeave: an approved change that a waiting caller carries out
// is made whole, also when the caller goes in the middle of it.
func TestWhoeverWaitsMayLeave(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	b := open(t, func(d *tool.Deps) {
		apply := d.Apply
		d.Apply = func(inner context.Context, op string, set change.Set) error {
			leave()
			return apply(inner, op, set)
		}
	})
	q := *b.call(t, agent, "jot", `{"path":"a.md","line":"two"}`).Question
	// Another process takes the answer, and leaves it to whoever holds the vault.
	q.State, q.Answer = tool.Approved, &tool.Answer{Approve: true, By: person}
	if ok, err := b.at.Questions.Update(t.Context(), q, tool.Pending, q.Revision); err != nil || !ok {
		t.Fatal(ok, err)
	}
	res, err := b.reg.Await(ctx, q.ID, q.Revision)
	if err != nil || !res.Success || b.read(t, "a.md") != "one\ntwo\n" {
		t.Errorf("%+v, %v, %q", res, err, b.read(t, "a.md"))
	}
}
