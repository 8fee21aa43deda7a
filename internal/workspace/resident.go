package workspace

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/tool"
	"lore/internal/vault"
	"lore/internal/workspace/endpoint"
	"lore/internal/workspace/peer"
	"lore/internal/workspace/settings"
)

// A Resident is a process that stays with a vault. Its door leads to the vault
// itself while this process holds it, and else to the process that does; when
// that one goes, this one takes over, or follows the next.
type Resident struct {
	Log  *slog.Logger
	Door *peer.Deferred
	Bus  *event.Bus
	Dir  string // of the vault

	opener *Opener
	flags  settings.Flags
	data   atomic.Pointer[string]  // the data folder of the vault, once it is known
	mark   string                  // of the settings that the session was opened with
	open   atomic.Pointer[Session] // what is behind the door, while something is
}

// Reside describes the tools as the settings want them, bound to nothing, and
// refuses at once what cannot work. It opens no index.
func (op *Opener) Reside(f settings.Flags) (*Resident, error) {
	c, log, dir, err := op.begin(f)
	if err != nil {
		return nil, err
	}
	v, err := vault.Open(dir, vault.Options{Log: log, Now: op.Now})
	if err != nil {
		return nil, err
	}
	r := &Resident{Log: log, Bus: event.NewBus(), Dir: v.Dir(), opener: op, flags: f}
	if err := v.Close(); err != nil {
		return nil, err
	}
	_, off, err := op.Policy(&c, r.Dir)
	if err != nil {
		return nil, err
	}
	shelf := tool.NewRegistry(tool.Deps{Now: op.Now}, op.Catalog())
	r.Door = peer.NewDeferred(shelf)
	return r, configureTools(shelf, off, c.Instructions)
}

// Server is the address of the HTTP server of this vault, or "" when none runs.
func (r *Resident) Server() string {
	if data := r.data.Load(); data != nil {
		return endpoint.Find(context.Background(), *data)
	}
	return ""
}

// Enter opens the vault, or finds the process that holds it, and opens the door.
func (r *Resident) Enter(ctx context.Context, o Options) (*Session, error) {
	o.Mode, o.Bus = Stay, r.Bus
	r.mark = r.opener.Config().Mark()
	s, err := r.opener.Open(ctx, r.flags, o)
	if err != nil {
		return nil, Explain(err)
	}
	r.data.Store(&s.Dir)
	if s.link != nil {
		// Its tools have to be known before it is shown to anyone.
		if err := s.link.Learn(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	r.open.Store(s)
	r.Door.Open(s.Door, nil)
	return s, nil
}

// again is how long to wait before another try to hold the vault or to find its
// holder.
const again = 2 * time.Second

// follow stays until ctx ends or what is behind the door goes.
func (r *Resident) follow(ctx context.Context, s *Session) error {
	defer r.Door.Shut()
	switch {
	case s.holds:
		same, stop := context.WithCancel(context.WithoutCancel(ctx))
		go func() {
			r.untilOutdated(ctx, s)
			_ = r.leave(ctx, s) // first: who is answered needs the index as it is followed; what is wrong shows again below
			stop()
		}()
		if err := s.Follow(same); err != nil && same.Err() == nil {
			r.Log.Error("the vault is no longer watched", "error", err)
			<-same.Done() // what is there can still be used
		}
		stop()
	case s.link != nil:
		if err := r.followHolder(ctx, s.link); err != nil {
			r.Log.Warn("events from the process that has the vault open cannot be read", "error", err)
			r.pause(ctx)
		}
	default:
		// Nobody answers. What is there can be read until somebody does.
		for r.pause(ctx) && !s.vacant(ctx) {
		}
	}
	err := r.leave(ctx, s)
	r.open.Store(nil)
	return errors.Join(err, s.Close())
}

// leave lets nobody in any more, from this process or another one, and waits for
// who is behind the door.
func (r *Resident) leave(ctx context.Context, s *Session) error {
	r.Door.Shut()
	err := s.stopListening()
	enough, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer cancel()
	return errors.Join(err, r.Door.Drain(enough))
}

// untilOutdated waits until the vault has to be opened anew, or ctx ends.
func (r *Resident) untilOutdated(ctx context.Context, s *Session) {
	same, stop := context.WithCancel(ctx)
	defer stop()
	if c := s.copied; c != nil {
		go r.untilWritable(same, c.data, stop)
	}
	r.untilSettings(same, s.renew)
}

// ending is how long calls may take to end when what they run on is to go.
const ending = 10 * time.Second

// untilSettings waits until the settings are other ones: what the owner has
// just excluded or switched off must not be given away by a process that began
// before. A file that cannot be read is being written, and waited for.
// A call that found them changed does not let the others wait for the next look.
func (r *Resident) untilSettings(ctx context.Context, asked <-chan struct{}) {
	said := false
	for before := r.mark; r.pauseUntil(ctx, asked); {
		if r.opener.Config().Mark() == before {
			continue
		}
		if _, err := r.opener.Config().Read(); err == nil {
			r.Log.Info("the settings changed")
			return
		} else if !said {
			said = true
			r.Log.Warn("the changed settings cannot be read; the previous ones stay in effect", "error", err)
		}
	}
}

// untilWritable calls f when the data folder can be written again.
func (r *Resident) untilWritable(ctx context.Context, data string, f func()) {
	for r.pause(ctx) {
		if home.Unwritable(data) == nil {
			r.Log.Info("the data folder can be written again")
			f()
			return
		}
	}
}

// followHolder follows the process that holds the vault, until it goes, or until a call
// could not reach it: it has to be looked for again then, even if it is still
// there. The error is of one that can be reached and not be followed.
func (r *Resident) followHolder(ctx context.Context, link *peer.Client) error {
	following, stop := context.WithCancel(ctx)
	defer stop()
	left := r.Door.Left()
	go func() {
		select {
		case <-left:
			stop()
		case <-following.Done():
		}
	}()
	err := link.Follow(following, r.Bus, func() error {
		r.Bus.Publish(tool.TopicMissed, struct{}{}, true)
		r.Bus.Publish(tool.TopicTools, tool.Listed{Tools: len(link.On())}, true)
		return nil
	})
	if following.Err() != nil || peer.IsGone(err) {
		return nil
	}
	return err
}

// pause waits a little, and reports whether it is worth to go on.
func (r *Resident) pause(ctx context.Context) bool { return r.pauseUntil(ctx, nil) }

// pauseUntil is pause that somebody may end.
func (r *Resident) pauseUntil(ctx context.Context, asked <-chan struct{}) bool {
	t := time.NewTimer(again)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-asked:
		return true
	case <-t.C:
		return true
	}
}

// quiet is how long nobody asks before memory is given back.
const quiet = 10 * time.Second

// releaseMemoryWhenIdle gives memory back when nobody has asked for a while: such a
// process waits nearly all of its life, and there may be many of them.
func (r *Resident) releaseMemoryWhenIdle(ctx context.Context) {
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	for last, busy := r.Door.Calls(), true; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := r.Door.Calls()
		if now == last && busy {
			if s := r.open.Load(); s != nil {
				_ = s.releaseMemory(ctx) // what it keeps is not lost; what is wrong shows at the next call
			}
			debug.FreeOSMemory()
		}
		last, busy = now, now != last
	}
}

// Live follows s and whatever comes after it, until ctx ends. Without s it enters
// first.
func (r *Resident) Live(ctx context.Context, s *Session) {
	go r.releaseMemoryWhenIdle(ctx)
	said := ""
	for s != nil || ctx.Err() == nil {
		if s == nil {
			var err error
			if s, err = r.Enter(ctx, Options{}); err != nil {
				if ctx.Err() != nil {
					break
				}
				if peer.IsGone(err) { // between hello and the first question
					_ = home.Pause(ctx) // the loop sees when ctx ends
					continue
				}
				r.Door.Open(nil, err)
				if said != err.Error() {
					said = err.Error()
					r.Log.Error("the vault cannot be served", "error", err)
				}
				r.pause(ctx)
				r.Door.Shut()
				continue
			}
		}
		said = ""
		if s.link == nil {
			r.Bus.Publish(tool.TopicMissed, struct{}{}, true)
		}
		if err := r.follow(ctx, s); err != nil {
			r.Log.Warn("the vault could not be closed properly", "error", err)
		}
		s = nil
	}
}

// Hold is what is behind the door, and keeps it there until release is called.
// Where nothing is, something is about to be: the settings changed, or the holder
// is another one. That is waited for, not for ever.
func (r *Resident) Hold(ctx context.Context) (s *Session, release func(), err error) {
	soon, cancel := context.WithTimeout(ctx, ending)
	defer cancel()
	if release, err = r.Door.Hold(soon); err == nil {
		if s = r.open.Load(); s != nil {
			return s, release, nil
		}
		release()
	}
	if err == nil || ctx.Err() == nil && soon.Err() != nil {
		err = fault.New(fault.Busy, "the vault is being opened")
	}
	return nil, nil, err
}
