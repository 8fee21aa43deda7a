package conversation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/agent/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
)

func chatCommand(open opener) *cobra.Command {
	var o options
	var resume, from string
	var list, plain, save bool
	cmd := &cobra.Command{
		Use: "chat", Short: "Chat with your notes", GroupID: "models", Args: argv.None,
		Long: `Opens a full-screen chat with a model about your notes. Type /help there to see the
keys. You can continue a chat later.

With --plain, in a pipe, or on a terminal that cannot move the cursor, the chat runs
line by line: empty lines are ignored, /help lists the commands, and /quit or the
end of input ends it.

Without a model, Lore quotes matching passages, and a line that starts with / runs a
tool.`,
		Example: "lore chat                                       start a chat\nlore chat --model anthropic/claude-sonnet-4-5   choose the model\nlore chat --continue last                       continue the last chat\nlore chat --from Chats/Tea.md --save            continue a chat saved as a note",
	}
	o.define(cmd)
	cmd.Flags().StringVar(&resume, "continue", "", "continue a chat, by ID; last for the last one")
	cmd.Flags().StringVar(&from, "from", "", "continue a chat stored in a note (ChatGPT MD's format works too); its last unanswered message is sent")
	cmd.Flags().BoolVar(&save, "save", false, "save the chat to its note at the end")
	cmd.MarkFlagsMutuallyExclusive("continue", "from")
	cmd.Flags().BoolVar(&list, "list", false, "list your chats")
	cmd.Flags().BoolVar(&plain, "plain", false, "run line by line, for screen readers")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return with(cmd, open, func(ctx context.Context, s *Session, t Terminal) error {
			switch {
			case list:
				return t.chats(ctx, s)
			case t.JSON:
				return fault.Fix(fault.Invalid, "use lore ask or lore run with --json", "lore chat cannot print JSON")
			}
			if from != "" {
				var err error
				if resume, err = o.fromNote(ctx, s, t, from); err != nil {
					return err
				}
			} else if err := o.adjust(ctx, s, resume); err != nil {
				return err
			}
			talk := o.talk
			if !plain && t.whole() {
				talk = o.onScreen
			}
			id, err := talk(ctx, s, t, resume)
			if save && id != "" {
				err = errors.Join(err, t.toNote(context.WithoutCancel(ctx), s, id))
			}
			return err
		})
	}
	return cmd
}

// chats lists conversations.
func (t Terminal) chats(ctx context.Context, s *Session) error {
	all, err := s.Agent.Store.List(ctx, 50, 0)
	if err != nil {
		return err
	}
	if t.JSON {
		return t.Encode(struct {
			Chats []chat.Chat `json:"chats"`
		}{append([]chat.Chat{}, all...)})
	}
	var rows [][]string
	for _, c := range all {
		rows = append(rows, []string{c.ID, c.Changed.Local().Format("2006-01-02 15:04"), draw.OneLine(c.Title), c.Model})
	}
	var b strings.Builder
	t.Screen.Table(&b, []string{"id", "changed", "title", "model"}, rows)
	_, err = fmt.Fprint(t.Out, b.String())
	return err
}

// talk reads lines until the person has had enough.
func (o *options) talk(ctx context.Context, s *Session, t Terminal, resume string) (string, error) {
	id, err := o.join(ctx, s, t, resume)
	if err != nil {
		return id, err
	}
	lines := t.Lines()
	for {
		fmt.Fprint(t.Err, t.Notice.Bold("> "))
		var line string
		var ok bool
		select {
		case <-ctx.Done():
			fmt.Fprintln(t.Err)
			return id, nil
		case line, ok = <-lines:
		}
		text := strings.TrimSpace(line)
		switch {
		case !ok, text == "/quit", text == "/exit":
			fmt.Fprintln(t.Err)
			return id, nil
		case text == "":
			continue
		}
		done, err := o.slash(ctx, s, t, id, text)
		switch {
		case ctx.Err() != nil:
			return id, nil
		case errors.Is(err, t.Pending):
			return id, err
		case err != nil:
			fmt.Fprintln(t.Err, t.Notice.Red("lore:")+" "+draw.Harmless(err.Error()))
			continue
		case done:
			continue
		}
		if id == "" {
			if id, err = o.begin(ctx, s, text); err != nil {
				return id, err
			}
		}
		_, err = converse(ctx, s, t, id, o.request(text))
		switch {
		case ctx.Err() != nil:
			return id, nil
		case errors.Is(err, t.Pending), errors.Is(err, t.Denied):
			return id, err
		case err != nil:
			fmt.Fprintln(t.Err, t.Notice.Red("lore:")+" "+draw.Harmless(err.Error()))
		}
	}
}

// find is the conversation that somebody wants to go on with, none for "".
func find(ctx context.Context, s *Session, resume string) (chat.Chat, error) {
	switch resume {
	case "":
		return chat.Chat{}, nil
	case "last":
		all, err := s.Agent.Store.List(ctx, 1, 0)
		if err == nil && len(all) == 0 {
			err = fault.Fix(fault.NotFound, "start one with lore chat", "there are no chats yet")
		}
		if err != nil {
			return chat.Chat{}, err
		}
		return all[0], nil
	}
	c, err := s.Agent.Store.Get(ctx, resume)
	if err != nil {
		return c, fault.Rename(err, "", "continue")
	}
	return c, nil
}

// join shows a conversation that goes on, and finishes what is open in it.
func (o *options) join(ctx context.Context, s *Session, t Terminal, resume string) (string, error) {
	c, err := find(ctx, s, resume)
	if err != nil || c.ID == "" {
		return "", err
	}
	messages, err := s.Agent.Store.Messages(ctx, c.ID)
	if err != nil {
		return "", err
	}
	for _, m := range messages[max(0, len(messages)-12):] {
		switch text := draw.Harmless(strings.TrimSpace(textOf(&m))); {
		case text == "" || m.Marker != "":
		case m.Role == llm.User:
			fmt.Fprintln(t.Err, t.Notice.Bold("> ")+text)
		case m.Role == llm.Assistant:
			fmt.Fprintln(t.Out, text)
		}
	}
	runs, err := s.Agent.Store.Runs(ctx, c.ID)
	if err != nil {
		return "", err
	}
	if n := len(runs); n > 0 && !runs[n-1].Status.Over() {
		if _, err := carryOn(ctx, s, t, runs[n-1].ID); err != nil {
			return "", err
		}
	}
	return c.ID, nil
}
