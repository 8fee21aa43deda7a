package workspace

import (
	"context"
	"encoding/json"
	"fmt"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/workspace/peer"
	"lore/internal/workspace/settings"
)

// inForce is a door whose calls are judged by settings that are at least as new
// as the file was when the call began: a person who has just protected a path
// must not see it changed a moment later.
type inForce struct {
	tool.Door
	s *Session
}

func (d *inForce) Call(ctx context.Context, who access.Principal, name string, args json.RawMessage) (tool.Result, error) {
	if err := d.s.current(); err != nil {
		return tool.Result{}, err
	}
	return d.Door.Call(ctx, who, name, args)
}

func (d *inForce) Answer(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Result, error) {
	if err := d.s.current(); err != nil {
		return tool.Result{}, err
	}
	return d.Door.Answer(ctx, person, id, a)
}

func (d *inForce) Rehearse(ctx context.Context, person access.Principal, id string, a tool.Answer) (tool.Question, error) {
	if err := d.s.current(); err != nil {
		return tool.Question{}, err
	}
	return d.Door.Rehearse(ctx, person, id, a)
}

// rules are the settings that decide about calls, in one text that is equal when
// they are. Others, such as the model of conversations, are read when they are
// needed.
func (op *Opener) rules(c *settings.File, dir string) (string, error) {
	list := []any{c.Paths(dir), c.Tools, c.Instructions}
	for _, key := range []string{"approve.create", "approve.many", "approve.share", "limits.calls", "limits.changes", "limits.wait", "chats.folder", "nodes.folder"} {
		v, err := op.Config().Get(c, key)
		if err != nil {
			return "", err
		}
		list = append(list, v)
	}
	b, err := json.Marshal(list)
	return string(b), err
}

// current says why a call cannot be judged now: the settings are other ones than
// those that the vault was opened with. Looking costs two calls of the system. A
// file that cannot be read is being written, and the former settings hold.
func (s *Session) current() error {
	mark := s.opener.Config().Mark()
	s.mu.Lock()
	same := mark == s.seen || s.rules == ""
	s.mu.Unlock()
	if same {
		return nil
	}
	c, err := s.opener.Config().Read()
	if err != nil {
		return nil
	}
	now, err := s.opener.rules(&c, s.Vault.Dir())
	if err != nil {
		return fmt.Errorf("the changed settings are not valid: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now == s.rules {
		s.seen = mark
		return nil
	}
	if s.mark == "" {
		return fault.Fix(fault.Busy, "start the command again", "the settings changed since this command began")
	}
	select {
	case s.renew <- struct{}{}:
	default: // it is known
	}
	return peer.ErrOutdated
}
