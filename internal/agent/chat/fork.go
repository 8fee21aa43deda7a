package chat

import (
	"context"
	"database/sql"
	"slices"

	"lore/internal/fault"
)

// Fork makes a chat with the messages of another up to one, to go on from there.
// Zero takes none of them.
func (s *Store) Fork(ctx context.Context, from, id string, after int) (Chat, error) {
	old, err := s.Get(ctx, from)
	if err != nil {
		return Chat{}, err
	}
	messages, err := s.Messages(ctx, from)
	if err != nil {
		return Chat{}, err
	}
	if after < 0 || after > len(messages) {
		return Chat{}, fault.Field("after", "give the number of one of its messages", "chat %s has no message %d (number of messages: %d)", from, after, len(messages))
	}
	c := old
	c.ID, c.Parent, c.Fork, c.Page, c.Created = id, old.ID, after, "", s.now()
	err = s.tx(ctx, func(tx *sql.Tx) error {
		if err := s.put(ctx, tx, &c); err != nil {
			return err
		}
		return s.say(ctx, tx, c.ID, slices.Clone(messages[:after]))
	})
	return c, err
}
