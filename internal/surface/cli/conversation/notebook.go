package conversation

import (
	"context"
	"fmt"
	"io"
	"strings"

	"lore/internal/agent/chat/notebook"
	"lore/internal/note/summarize"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool/access"
)

func (s *Session) book() notebook.Book {
	return notebook.Book{Store: s.Agent.Store, Door: s.Door, ID: s.Agent.ID}
}

// fromNote goes on with the conversation of a note, and begins to answer what the
// person wrote there last. What the note proposes is shown first, and asked about.
func (o *options) fromNote(ctx context.Context, s *Session, t Terminal, path string) (string, error) {
	n, err := s.book().Open(ctx, access.Terminal(), path)
	if err == nil {
		err = o.propose(ctx, s, t, n)
	}
	if err == nil {
		err = o.adjust(ctx, s, n.Chat.ID)
	}
	if err != nil || n.Unanswered == "" {
		return n.Chat.ID, err
	}
	q := o.request(n.Unanswered)
	q.Outside = true
	_, err = s.Agent.Start(ctx, n.Chat.ID, q)
	return n.Chat.ID, err
}

// propose asks the person about the model and the instructions that a note wants.
func (o *options) propose(ctx context.Context, s *Session, t Terminal, n notebook.Opened) error {
	p := n.Proposal
	if o.given("model") { // the person chose already
		p.Model = ""
	}
	if p == (notebook.Proposal{}) {
		return nil
	}
	fmt.Fprintf(t.Err, "%s suggests:\n", draw.OneLine(n.Chat.Page))
	if p.Model != "" {
		fmt.Fprintf(t.Err, "  Model: %s\n", draw.OneLine(p.Model))
	}
	if p.System != "" {
		fmt.Fprintf(t.Err, "  Instructions: %s\n", draw.OneLine(summarize.Clip(p.System, 2000)))
	}
	if !t.AtTerminal {
		fmt.Fprintln(t.Err, "Not used: only you can accept a note's suggestions. Run this in a terminal, or pass --model.")
		return nil
	}
	fmt.Fprint(t.Err, "Use them in this chat? [y/N] ")
	if word := strings.ToLower(strings.TrimSpace(readLine(t.In))); word != "y" && word != "yes" {
		return nil
	}
	_, err := s.book().Accept(ctx, n.Chat.ID, p)
	return err
}

// readLine reads one line and not a byte more: what follows is for whoever reads
// the terminal next.
func readLine(in io.Reader) string {
	var line []byte
	for one := make([]byte, 1); in != nil && len(line) < 1000; {
		n, err := in.Read(one)
		if err != nil || n == 1 && one[0] == '\n' {
			break
		}
		line = append(line, one[:n]...)
	}
	return string(line)
}

// toNote writes a conversation into its note. To ask for it was to allow it.
func (t Terminal) toNote(ctx context.Context, s *Session, id string) error {
	c, err := s.Agent.Store.Get(ctx, id)
	if err != nil {
		return err
	}
	res, err := s.book().Save(ctx, access.Terminal(), c)
	if err == nil && res.Message != "" {
		fmt.Fprintln(t.Err, t.Notice.Dim(draw.OneLine(res.Message)))
	}
	return err
}
