package talk

import (
	"context"
	"fmt"

	"lore/internal/access"
	"lore/internal/chat/notebook"
	"lore/internal/surface/draw"
)

func (s *Session) book() notebook.Book {
	return notebook.Book{Store: s.Agent.Store, Door: s.Door, ID: s.Agent.ID}
}

// fromNote goes on with the conversation of a note, and begins to answer what the
// person wrote there last.
func (o *options) fromNote(ctx context.Context, s *Session, path string) (string, error) {
	c, unanswered, err := s.book().Open(ctx, access.Terminal(), path)
	if err == nil {
		err = o.adjust(ctx, s, c.ID)
	}
	if err != nil || unanswered == "" {
		return c.ID, err
	}
	_, err = s.Agent.Start(ctx, c.ID, o.request(unanswered))
	return c.ID, err
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
