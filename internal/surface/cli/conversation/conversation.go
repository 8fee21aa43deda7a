// Package conversation holds the commands by which a person talks with a mind at a
// terminal: ask, run and chat, and those that list and try minds. It shows what happens and lets the person answer;
// the work is the agent's.
package conversation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/agent"
	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/note/summarize"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/policy"
)

// A Session is an open vault with a mind.
type Session struct {
	Agent *agent.Agent
	Door  tool.Door
	// Allow makes a rule that holds for one run.
	Allow func(ctx context.Context, r policy.Rule) error
	// Attend carries out what is approved elsewhere, until ctx ends.
	Attend func(ctx context.Context)
	// Hear takes what is else written to standard error, until the function that
	// it returns is called; may be nil.
	Hear  func(tell func(line string)) (end func())
	Close func() error
}

// A Terminal is where a person sits.
type Terminal struct {
	draw.Terminal
	// Lines are what the person types.
	Lines func() <-chan string
	// In is where the person types, and Providers are the models to choose from.
	In        io.Reader
	Providers func() (llm.Providers, error)
	// Decide lets the person answer a question, and returns what became of it.
	Decide func(ctx context.Context, q tool.Question) (tool.Result, error)
	// Pending ends a command that waits for a person, Denied one that was refused,
	// and Undone one whose task is not done, which was told.
	Pending, Denied, Undone error
}

// Commands are those of this package. term is asked when one runs.
func Commands(open func(ctx context.Context, cmd *cobra.Command) (*Session, Terminal, error)) []*cobra.Command {
	return []*cobra.Command{askCommand(open), runCommand(open), chatCommand(open)}
}

type opener = func(ctx context.Context, cmd *cobra.Command) (*Session, Terminal, error)

// options are the flags that all commands have.
type options struct {
	model string
	note  string
	sets  []string
	limit chat.Limits
	tools bool
	think bool
	given func(flag string) bool // the person gave it
}

func (o *options) define(cmd *cobra.Command) {
	f := cmd.Flags()
	o.given = f.Changed
	f.StringVarP(&o.model, "model", "m", "", "model to use: provider/name, or \"quote\" to use no model")
	f.StringVar(&o.note, "note", "", "note to use as context")
	f.StringSliceVar(&o.sets, "toolsets", nil, "tools for the model: usual, all, or toolsets as listed by lore tools")
	f.BoolVar(&o.tools, "tools", true, "let the model use tools")
	f.BoolVar(&o.think, "think", false, "let the model think before it answers, if it supports that; applies to new chats")
	f.IntVar(&o.limit.Steps, "steps", 0, "maximum number of steps; 0 uses the setting chats.steps (default 25)")
	f.DurationVar(&o.limit.Time, "time", 0, "maximum working time, such as 90s; waiting for you does not count; 0s uses the setting chats.time (default 10m)")
	f.IntVar(&o.limit.Tokens, "tokens", 0, "maximum number of tokens; 0 uses the setting chats.tokens (default 200000)")
	f.Float64Var(&o.limit.Cost, "cost", 0, "maximum cost in US dollars, if the price is known; 0 uses the setting chats.cost (default 1)")
}

// begin makes a chat with the options.
func (o *options) begin(ctx context.Context, s *Session, first string) (string, error) {
	id := s.Agent.ID("chat")
	c := chat.Chat{ID: id, Created: s.Agent.Now(), Title: summarize.Title(first, 80), Model: o.model, Sets: o.sets, NoTools: !o.tools, Think: o.think}
	return id, s.Agent.Store.Put(ctx, c)
}

// adjust changes a conversation that goes on to what the person gave this time.
func (o *options) adjust(ctx context.Context, s *Session, resume string) error {
	c, err := find(ctx, s, resume)
	if err != nil || c.ID == "" || !o.given("tools") && !o.given("toolsets") && !o.given("think") {
		return err
	}
	_, err = s.Agent.Store.Change(ctx, c.ID, func(c *chat.Chat) {
		if o.given("tools") {
			c.NoTools = !o.tools
		}
		if o.given("toolsets") {
			c.Sets = o.sets
		}
		if o.given("think") {
			c.Think = o.think
		}
	})
	return err
}

func (o *options) request(text string) agent.Request {
	return agent.Request{Text: text, Model: o.model, Note: o.note, Limits: o.limit}
}

func askCommand(open opener) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: "ask QUESTION", Short: "Ask a question about your notes", GroupID: "models", Args: argv.Between(1, argv.Any),
		Long: `Asks a model one question about your notes. The answer cites the notes that it is
based on. Without a model, Lore quotes the best matching passages.`,
		Example: "lore ask 'how hot should the water be for sencha?'\nlore ask --model ollama/qwen3:8b 'what did we decide about the pump?'\nlore ask --model quote 'sencha'       quote passages, without a model",
	}
	o.define(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return with(cmd, open, func(ctx context.Context, s *Session, t Terminal) error {
			text := strings.Join(args, " ")
			id, err := o.begin(ctx, s, text)
			if err != nil {
				return err
			}
			_, err = converse(ctx, s, t, id, o.request(text))
			return err
		})
	}
	return cmd
}

// with runs something in an open vault.
func with(cmd *cobra.Command, open opener, do func(context.Context, *Session, Terminal) error) error {
	ctx := cmd.Context()
	s, t, err := open(ctx, cmd)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, s, t), s.Close())
}

// A result is what a program reads.
type result struct {
	Success bool        `json:"success"`
	Chat    string      `json:"chat_id"`
	Run     string      `json:"run_id"`
	Status  chat.Status `json:"status"`
	Reason  string      `json:"reason,omitempty"`
	Model   string      `json:"model"`
	// Instructions are those of the vault, and whether the model got them.
	Instructions *chat.Instructions `json:"instructions,omitempty"`
	Answer       string             `json:"answer"`
	Citations    []chat.Citation    `json:"citations,omitempty"`
	Quotes       []chat.Quote       `json:"quotes,omitempty"`
	Uncited      []chat.Passage     `json:"uncited,omitempty"`
	Steps        int                `json:"steps"`
	In           int                `json:"tokens_in"`
	Out          int                `json:"tokens_out"`
	Cost         *float64           `json:"cost_usd"`
	Calls        []callLine         `json:"calls,omitempty"`
}

type callLine struct {
	Tool      string         `json:"tool"`
	State     chat.CallState `json:"state"`
	Summary   string         `json:"summary,omitempty"`
	Operation string         `json:"operation_id,omitempty"`
	Question  string         `json:"pending_operation_id,omitempty"`
}

// converse answers one request, asking the person on the way.
func converse(ctx context.Context, s *Session, t Terminal, chatID string, q agent.Request) (chat.Run, error) {
	r, err := s.Agent.Start(ctx, chatID, q)
	if err != nil {
		return r, err
	}
	return carryOn(ctx, s, t, r.ID)
}

// carryOn works on a run until it is over, or waits for somebody who is not
// here.
func carryOn(ctx context.Context, s *Session, t Terminal, id string) (chat.Run, error) {
	v := &view{t: t, shown: map[int]chat.CallState{}}
	// Whoever breaks off here is a person, who has read what there was.
	working, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(agent.ErrStopped) })()
	for {
		r, err := s.Agent.Work(working, id, v.tell)
		v.line()
		if err != nil {
			return r, stopped(ctx, s, id, err)
		}
		if r.Status != chat.WaitingApproval || t.JSON || !t.AtTerminal {
			return r, conclude(ctx, s, t, r)
		}
		if err := decide(ctx, s, t, id); err != nil {
			return r, stopped(ctx, s, id, err)
		}
	}
}

// stopped ends a run that the person broke off.
func stopped(ctx context.Context, s *Session, id string, err error) error {
	if ctx.Err() == nil {
		return err
	}
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(fault.New(fault.Cancelled, "stopped"), s.Agent.Cancel(lasting, id))
}

// decide lets the person answer what the run asks, one after the other.
func decide(ctx context.Context, s *Session, t Terminal, id string) error {
	calls, err := s.Agent.Store.Calls(ctx, id)
	if err != nil {
		return err
	}
	for _, c := range calls {
		if c.State != chat.Asked {
			continue
		}
		q, err := s.Door.Question(ctx, c.Question)
		if err != nil {
			return err
		}
		for !q.State.Over() {
			res, err := t.Decide(ctx, q)
			if err != nil {
				return err
			}
			if res.Question == nil {
				break
			}
			q = *res.Question
		}
	}
	return nil
}

// conclude tells how a run ended.
func conclude(ctx context.Context, s *Session, t Terminal, r chat.Run) error {
	if t.JSON {
		if err := t.report(ctx, s, r); err != nil {
			return err
		}
	}
	switch r.Status {
	case chat.Done:
		if answer, err := answerOf(ctx, s, &r); err == nil && answer != nil && !t.JSON {
			t.sources(answer)
		}
	case chat.WaitingApproval:
		if !t.JSON {
			fmt.Fprintf(t.Err, "Waiting for your approval. Review it with lore approvals, then continue with lore chat --continue %s\n", r.Chat)
		}
		return t.Pending
	case chat.Failed:
		return fault.New(fault.Internal, "%s", r.Reason)
	case chat.Limited, chat.WaitingUser:
		if !t.JSON {
			fmt.Fprintln(t.Err, t.Notice.Dim(r.Reason))
		}
		return nil
	case chat.Cancelled:
		return t.Denied
	}
	return nil
}

// answerOf is the last that the mind said in a run; nil when it said nothing.
func answerOf(ctx context.Context, s *Session, r *chat.Run) (*chat.Message, error) {
	messages, err := s.Agent.Store.Messages(ctx, r.Chat)
	for i := len(messages) - 1; i >= 0; i-- {
		if m := &messages[i]; m.Run == r.ID && m.Role == llm.Assistant {
			return m, err
		}
	}
	return nil, err
}

// report writes the end of a run for programs.
func (t Terminal) report(ctx context.Context, s *Session, r chat.Run) error {
	out := result{
		Success: r.Status == chat.Done, Chat: r.Chat, Run: r.ID, Status: r.Status, Reason: r.Reason, Model: r.Model, Instructions: r.Instructions, Steps: r.Steps, In: r.Usage.In, Out: r.Usage.Out,
	}
	if r.Priced {
		out.Cost = r.Usage.CostUSD
	}
	answer, err := answerOf(ctx, s, &r)
	if err != nil {
		return err
	}
	if answer != nil {
		out.Answer, out.Citations, out.Quotes, out.Uncited = textOf(answer), answer.Citations, answer.Quotes, answer.Uncited
	}
	calls, err := s.Agent.Store.Calls(ctx, r.ID)
	if err != nil {
		return err
	}
	for _, c := range calls {
		line := callLine{Tool: c.Tool, State: c.State, Summary: c.Summary, Operation: c.Operation}
		if c.State == chat.Asked {
			line.Question = c.Question
		}
		out.Calls = append(out.Calls, line)
	}
	return t.Encode(out)
}
