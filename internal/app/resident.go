package app

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"lore/internal/beacon"
	"lore/internal/event"
	"lore/internal/home"
	"lore/internal/peer"
	"lore/internal/surface/cli"
	"lore/internal/surface/page"
	"lore/internal/tool"
	"lore/internal/vault"
)

// A resident is a process that stays with a vault. Behind its door stands the
// vault itself while this process holds it, and else the process that does;
// when that one goes, this one takes over, or follows the next.
type resident struct {
	app  *app
	g    cli.Globals
	log  *slog.Logger
	door *peer.Later
	bus  *event.Bus
	dir  string                  // of the vault
	data atomic.Pointer[string]  // its data folder, once it is known
	mark string                  // of the settings that what stands behind the door was opened with
	open atomic.Pointer[session] // what stands behind the door, while it does
}

// resident describes the tools as the settings want them, bound to nothing, and
// refuses at once what cannot work.
func (a *app) resident(g cli.Globals) (*resident, error) {
	r := &resident{app: a, g: g, bus: event.NewBus()}
	c, log, dir, err := a.begin(g)
	if err != nil {
		return nil, err
	}
	r.log = log
	v, err := vault.Open(dir, vault.Options{Log: r.log, Now: a.now})
	if err != nil {
		return nil, err
	}
	r.dir = v.Dir()
	if err := v.Close(); err != nil {
		return nil, err
	}
	s := &session{app: a, log: r.log}
	if _, s.off, err = a.policyOf(&c, r.dir); err != nil {
		return nil, err
	}
	s.instruct = c.Instructions
	shelf := tool.NewRegistry(tool.Deps{Now: a.now}, catalogue())
	r.door = peer.NewLater(shelf)
	return r, s.furnish(shelf)
}

// where is the page of the server of this vault on which a person can answer a
// question, or "" when no server runs.
func (r *resident) where(id string) string {
	if data := r.data.Load(); data != nil {
		if address := beacon.Find(context.Background(), *data); address != "" {
			return address + page.Path(id)
		}
	}
	return ""
}

// A stay is one time in which the same thing stands behind the door.
type stay struct {
	s    *session
	face *cli.Session
}

// enter opens the vault, or finds who holds it.
func (r *resident) enter(ctx context.Context, o cli.OpenOptions) (stay, error) {
	o.Stay, o.Bus = true, r.bus
	r.mark = r.app.config().Mark()
	s, face, err := r.app.openFace(ctx, r.g, o)
	if err != nil {
		return stay{}, r.app.explain(err)
	}
	r.data.Store(&s.dir)
	if s.link != nil {
		// Its tools have to be known before it is shown to anyone.
		if err := s.link.Learn(ctx); err != nil {
			return stay{}, errors.Join(err, s.close())
		}
	}
	r.open.Store(s)
	r.door.Open(face.Door, nil)
	return stay{s, face}, nil
}

// again is how long to wait before another try to hold the vault or to find its
// holder.
const again = 2 * time.Second

// follow stays until ctx ends or what stands behind the door goes.
func (r *resident) follow(ctx context.Context, st stay) error {
	defer r.door.Shut()
	switch {
	case st.s.writes:
		same, stop := context.WithCancel(ctx)
		go r.untilSettings(same, st.s.renew, stop)
		if sc := st.s.scratch; sc != nil {
			go r.untilWritable(same, sc.data, stop)
		}
		if err := st.face.Follow(same); err != nil && same.Err() == nil {
			r.log.Error("the vault is no longer followed", "error", err)
			<-same.Done() // what is there can still be used
		}
		stop()
	case st.s.link != nil:
		if err := r.lean(ctx, st.s.link); err != nil {
			r.log.Warn("the process that holds the vault cannot be followed", "error", err)
			r.pause(ctx)
		}
	default:
		// Nobody answers. What is there can be read until somebody does.
		for r.pause(ctx) && !st.s.vacant(ctx) {
		}
	}
	r.door.Shut()
	enough, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer cancel()
	err := r.door.Drain(enough)
	r.open.Store(nil)
	return errors.Join(err, st.s.close())
}

// ending is how long calls may take to end when what they run on is to go.
const ending = 10 * time.Second

// untilSettings calls f when the settings are other ones: what the owner has
// just excluded or switched off must not be given away by a process that began
// before. A file that cannot be read is being written, and waited for.
// A call that found them changed does not let the others wait for the next look.
func (r *resident) untilSettings(ctx context.Context, asked <-chan struct{}, f func()) {
	said := false
	for before := r.mark; r.pauseUntil(ctx, asked); {
		if r.app.config().Mark() == before {
			continue
		}
		if _, err := r.app.config().Read(); err == nil {
			r.log.Info("the settings changed")
			f()
			return
		} else if !said {
			said = true
			r.log.Warn("the settings changed and cannot be read; the former ones are in force", "error", err)
		}
	}
}

// untilWritable calls f when the data folder can be written again.
func (r *resident) untilWritable(ctx context.Context, data string, f func()) {
	for r.pause(ctx) {
		if home.Unwritable(data) == nil {
			r.log.Info("the data folder can be written again")
			f()
			return
		}
	}
}

// lean follows the process that holds the vault, until it goes, or until a call
// could not reach it: it has to be looked for again then, even if it is still
// there. The error is of one that can be reached and not be followed.
func (r *resident) lean(ctx context.Context, link *peer.Client) error {
	following, stop := context.WithCancel(ctx)
	defer stop()
	left := r.door.Left()
	go func() {
		select {
		case <-left:
			stop()
		case <-following.Done():
		}
	}()
	err := link.Follow(following, r.bus, func() error {
		r.bus.Publish(tool.TopicMissed, struct{}{}, true)
		r.bus.Publish(tool.TopicTools, tool.Listed{Tools: len(link.On())}, true)
		return nil
	})
	if following.Err() != nil || peer.Gone(err) {
		return nil
	}
	return err
}

// pause waits a little, and reports whether it is worth to go on.
func (r *resident) pause(ctx context.Context) bool { return r.pauseUntil(ctx, nil) }

// pauseUntil is pause that somebody may end.
func (r *resident) pauseUntil(ctx context.Context, asked <-chan struct{}) bool {
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

// rest gives memory back when nobody has asked for a while: such a
// process waits nearly all of its life, and there may be many of them.
func (r *resident) rest(ctx context.Context) {
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	for last, busy := r.door.Calls(), true; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := r.door.Calls()
		if now == last && busy {
			if s := r.open.Load(); s != nil {
				_ = s.rest(ctx) // what it keeps is not lost; what is wrong shows at the next call
			}
			debug.FreeOSMemory()
		}
		last, busy = now, now != last
	}
}

// live follows st and whatever comes after it, until ctx ends. A zero st is
// still to be entered.
func (r *resident) live(ctx context.Context, st stay) error {
	go r.rest(ctx)
	said := ""
	for ctx.Err() == nil {
		if st.s == nil {
			var err error
			if st, err = r.enter(ctx, cli.OpenOptions{}); err != nil {
				if ctx.Err() != nil {
					break
				}
				if peer.Gone(err) { // between hello and the first question
					_ = home.Pause(ctx) // the loop sees when ctx ends
					continue
				}
				r.door.Open(nil, err)
				if said != err.Error() {
					said = err.Error()
					r.log.Error("the vault cannot be served", "error", err)
				}
				r.pause(ctx)
				r.door.Shut()
				continue
			}
		}
		said = ""
		if st.s.link == nil {
			r.bus.Publish(tool.TopicMissed, struct{}{}, true)
		}
		if err := r.follow(ctx, st); err != nil {
			r.log.Warn("the vault was not left in order", "error", err)
		}
		st = stay{}
	}
	if st.s == nil {
		return nil
	}
	return st.s.close()
}
