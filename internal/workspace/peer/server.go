package peer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lore/internal/event"
	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/tool"
	"lore/internal/tool/schema"
)

// Options say what a process that holds a vault offers to others.
type Options struct {
	// Dir is the data folder of the vault: who can read it may come in.
	Dir string
	// Spare makes a private folder with a short path, for a socket whose path
	// would be too long in Dir. May be nil.
	Spare func() (string, error)
	// Door is what callers reach; calls wait until it is open.
	Door *Deferred
	Bus  *event.Bus
	Log  *slog.Logger
}

// A Server answers other processes of the same user.
type Server struct {
	o      Options
	socket string
	http   *http.Server
	served chan struct{}
	going  chan struct{} // closed when this process is about to let the vault go
	once   sync.Once
	err    error // of closing
}

// Listen begins to answer. The caller holds the vault, and must Close before it
// lets it go.
func Listen(o Options) (*Server, error) {
	l, socket, err := listen(o)
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, socket: socket, served: make(chan struct{}), going: make(chan struct{})}
	s.http = &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	go func() {
		defer close(s.served)
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			o.Log.Warn("other processes can no longer connect", "error", err)
		}
	}()
	b, err := json.Marshal(cardText{protocol, socket, os.Getpid()})
	if err == nil {
		err = home.Replace(filepath.Join(o.Dir, card), b)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// longest is the longest path of a socket that every system takes.
const longest = 100

// listen opens the socket in the data folder, or, where that is too deep or no
// place for sockets, in the spare one.
func listen(o Options) (net.Listener, string, error) {
	socket := filepath.Join(o.Dir, "lore.sock")
	l, err := listenAt(socket)
	if err == nil || o.Spare == nil {
		return l, socket, err
	}
	dir, err2 := o.Spare()
	if err2 != nil {
		return nil, "", errors.Join(err, err2)
	}
	sum := sha256.Sum256([]byte(o.Dir))
	socket = filepath.Join(dir, hex.EncodeToString(sum[:8])+".sock")
	l, err2 = listenAt(socket)
	if err2 != nil {
		return nil, "", errors.Join(err, err2)
	}
	return l, socket, nil
}

func listenAt(socket string) (net.Listener, error) {
	if len(socket) > longest {
		return nil, fault.New(fault.Unavailable, "the socket path is too long: %s", socket)
	}
	// Only the holder of the vault comes here, so what lies there is left over.
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close lets no one in any more, sends away who only waits, and lets calls that
// run come to their end.
func (s *Server) Close() error {
	s.once.Do(func() {
		close(s.going)
		err := os.Remove(filepath.Join(s.o.Dir, card))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), parting)
		defer cancel()
		if e := s.http.Shutdown(ctx); e != nil {
			err = errors.Join(err, s.http.Close())
		}
		<-s.served
		s.err = err
	})
	return s.err
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	on := func(path string, f func(ctx context.Context, d tool.Door, in request) (reply, error)) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, f) })
	}
	mux.HandleFunc("POST "+pathHello, func(w http.ResponseWriter, _ *http.Request) {
		if s.isGoing() {
			http.Error(w, errGone.Error(), http.StatusServiceUnavailable)
			return
		}
		s.write(w, reply{Protocol: protocol})
	})
	mux.HandleFunc("POST "+pathEvents, s.events)
	on(pathTools, func(_ context.Context, d tool.Door, _ request) (reply, error) {
		out := reply{Tools: []tool.Description{}}
		for _, t := range d.On() {
			desc := tool.Describe(t)
			desc.Instructions = d.Instructions(t)
			out.Tools = append(out.Tools, desc)
		}
		return out, nil
	})
	on(pathCall, func(ctx context.Context, d tool.Door, in request) (reply, error) {
		return results(d.Call(ctx, in.Who, in.Tool, in.Args))
	})
	on(pathAnswer, func(ctx context.Context, d tool.Door, in request) (reply, error) {
		return results(d.Answer(ctx, in.Who, in.ID, in.Answer))
	})
	on(pathAwait, func(ctx context.Context, d tool.Door, in request) (reply, error) {
		return results(d.Await(ctx, in.ID, in.Revision))
	})
	on(pathQuestions, func(ctx context.Context, d tool.Door, in request) (reply, error) {
		list, err := d.Questions(ctx, in.States...)
		return reply{Questions: list}, err
	})
	on(pathQuestion, func(ctx context.Context, d tool.Door, in request) (reply, error) {
		q, err := d.Question(ctx, in.ID)
		return reply{Question: &q}, err
	})
	on(pathRehearse, func(ctx context.Context, d tool.Door, in request) (reply, error) {
		q, err := d.Rehearse(ctx, in.Who, in.ID, in.Answer)
		return reply{Question: &q}, err
	})
	on(pathCancel, func(ctx context.Context, d tool.Door, in request) (reply, error) {
		return reply{}, d.Cancel(ctx, in.Who, in.ID)
	})
	on(pathRules, func(ctx context.Context, d tool.Door, _ request) (reply, error) {
		list, err := d.Rules(ctx)
		return reply{Rules: list}, err
	})
	on(pathTaint, func(ctx context.Context, d tool.Door, in request) (reply, error) {
		return reply{}, d.Taint(ctx, in.Who)
	})
	on(pathForget, func(ctx context.Context, d tool.Door, in request) (reply, error) {
		return reply{}, d.Forget(ctx, in.Who, in.ID)
	})
	return mux
}

func results(res tool.Result, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	packed, err := pack(res)
	return reply{Result: packed}, err
}

// maxRequest is how large a request may be, in bytes: what any surface takes fits.
const maxRequest = 64 << 20

// answer runs one method. What only waits is sent away when this process goes;
// the caller then finds the next one.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, f func(context.Context, tool.Door, request) (reply, error)) {
	var in request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	waits := r.URL.Path == pathAwait
	left := make(chan struct{})
	defer close(left)
	var turn sync.Once // begins the call, or sends it away: never both
	begun := false
	go func() {
		select {
		case <-s.going:
			if waits {
				cancel()
			}
			turn.Do(cancel)
		case <-left:
		}
	}()
	door, err := s.o.Door.Wait(ctx)
	if err == nil {
		turn.Do(func() { begun = true })
		if err = errGone; begun {
			var out reply
			told, hush := s.telling(ctx, w)
			out, err = f(told, door, in)
			hush()
			if err == nil {
				s.write(w, out)
				return
			}
		}
	}
	if errors.Is(err, ErrOutdated) {
		http.Error(w, errGone.Error(), http.StatusServiceUnavailable)
		return
	}
	// What began may have done something, so that nobody is told to try again.
	if s.isGoing() && (!begun || waits) && r.Context().Err() == nil && (errors.Is(err, errGone) || errors.Is(err, context.Canceled)) {
		http.Error(w, errGone.Error(), http.StatusServiceUnavailable)
		return
	}
	failure := tool.NewFailure(err)
	s.write(w, reply{Failure: &failure})
}

// telling is the context of a call that lets its caller hear how far it is, now
// and then, until hush.
func (s *Server) telling(ctx context.Context, w http.ResponseWriter) (told context.Context, hush func()) {
	var mu sync.Mutex
	last, over := time.Now(), false
	told = tool.WithProgress(ctx, func(done, total int, message string) {
		mu.Lock()
		defer mu.Unlock()
		if over || time.Since(last) < pace {
			return
		}
		last = time.Now()
		s.write(w, reply{Progress: &progress{done, total, message}})
		_ = http.NewResponseController(w).Flush() // who is gone does not miss it
	})
	return told, func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

func (s *Server) isGoing() bool {
	select {
	case <-s.going:
		return true
	default:
		return false
	}
}

func (s *Server) write(w http.ResponseWriter, v reply) {
	b, err := marshal(v)
	if err != nil {
		failure := tool.NewFailure(err)
		b, _ = marshal(reply{Failure: &failure}) // a struct of strings
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // who is gone does not miss it
}

// events streams the news, one object a line, until either end goes.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	sub := s.o.Bus.Subscribe()
	defer sub.Close()
	stop := make(chan struct{})
	defer close(stop)
	list := make(chan event.Event)
	go func() {
		for {
			e, ok := sub.Next(stop)
			if !ok {
				return
			}
			select {
			case list <- e:
			case <-stop:
				return
			}
		}
	}()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	line := []byte("\n") // the first says that nothing is missed from here on
	for {
		if _, err := w.Write(line); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.going:
			return
		case <-tick.C:
			line = []byte("\n")
		case e := <-list:
			data, err := marshal(e.Data)
			if err == nil {
				line, err = marshal(news{e.Topic, data, e.Final})
			}
			if err != nil {
				s.o.Log.Warn("an event could not be forwarded", "topic", e.Topic, "error", err)
				line = nil
			}
			line = append(line, '\n')
		}
	}
}

// marshal writes JSON without changing a byte of the text in it.
func marshal(v any) ([]byte, error) {
	b, err := schema.Marshal(v)
	return bytes.TrimRight(b, "\n"), err
}
