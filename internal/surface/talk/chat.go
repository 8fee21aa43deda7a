package talk

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/chat"
	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/surface/draw"
)

func chatCommand(open opener) *cobra.Command {
	var o options
	var resume, from string
	var list, plain, save bool
	cmd := &cobra.Command{
		Use: "chat", Short: "Talk with a mind about the notes", GroupID: "tools", Args: cobra.NoArgs,
		Long: `Talks on the whole terminal: /help there tells the keys. With --plain, in a pipe, or at a terminal without cursor it talks line by line: an empty line is
ignored, and /quit or the end of input ends it. It can be continued later. Without a model, passages are quoted, and a line that begins with / runs a tool.`,
		Example: "lore chat\nlore chat --model anthropic/claude-sonnet-4-5\nlore chat --list\nlore chat --continue chat-7k3f\nlore chat --from Chats/Tea.md --save",
	}
	o.define(cmd)
	cmd.Flags().StringVar(&resume, "continue", "", "go on with a conversation; last for the last one")
	cmd.Flags().StringVar(&from, "from", "", "go on with the conversation that a note holds, also one of ChatGPT MD; what you wrote there last is asked")
	cmd.Flags().BoolVar(&save, "save", false, "write the conversation into its note when it ends")
	cmd.MarkFlagsMutuallyExclusive("continue", "from")
	cmd.Flags().BoolVar(&list, "list", false, "list the conversations")
	cmd.Flags().BoolVar(&plain, "plain", false, "line by line, as screen readers like it")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return with(cmd, open, func(ctx context.Context, s *Session, t Terminal) error {
			switch {
			case list:
				return t.chats(ctx, s)
			case t.JSON:
				return fault.Fix(fault.Invalid, "use lore ask or lore run with --json", "a conversation is not written as JSON")
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
		if id == "" {
			if id, err = o.begin(ctx, s, text); err != nil {
				return id, err
			}
		}
		_, err := converse(ctx, s, t, id, o.request(text))
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
			err = fault.Fix(fault.NotFound, "begin one: lore chat", "there is no conversation yet")
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
