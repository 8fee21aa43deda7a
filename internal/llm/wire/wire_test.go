package wire_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"lore/internal/fault"
	"lore/internal/llm"
	"lore/internal/llm/wire"
)

const secret = "sk-very-secret"

func key() (string, error) { return secret, nil }

func TestRequest(t *testing.T) {
	t.Parallel()
	var got []http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header)
		body, _ := io.ReadAll(r.Body)
		_ = json.NewEncoder(w).Encode(r.Method + " " + r.URL.Path + " " + string(body))
	}))
	defer srv.Close()
	s := wire.Server{Base: srv.URL + "/v1/", Key: key, Headers: map[string]string{"X-Title": "Lore"}}
	var out string
	if err := s.Post(t.Context(), "/chat", map[string]string{"a": "<&>"}, &out); err != nil || out != `POST /v1/chat {"a":"<&>"}` {
		t.Fatal(out, err)
	}
	if err := s.Get(t.Context(), "/models", &out); err != nil || out != `GET /v1/models ` {
		t.Fatal(out, err)
	}
	s.KeyHeader = "X-Api-Key"
	if err := s.Post(t.Context(), "/", 1, &out); err != nil {
		t.Fatal(err)
	}
	if h := got[0]; h.Get("Authorization") != "Bearer "+secret || h.Get("X-Title") != "Lore" || h.Get("Content-Type") != "application/json" ||
		h.Get("Idempotency-Key") == "" || h.Get("Idempotency-Key") == got[2].Get("Idempotency-Key") {
		t.Error(h)
	}
	if h := got[1]; h.Get("Idempotency-Key") != "" {
		t.Error(h)
	}
	if h := got[2]; h.Get("Authorization") != "" || h.Get("X-Api-Key") != secret {
		t.Error(h)
	}
}

func TestErrorsNeverHoldTheKey(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			http.Error(w, "bad key "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		case "/moved":
			http.Redirect(w, r, "/else?key="+secret, http.StatusTemporaryRedirect)
		case "/else":
			t.Error("a key went where the server pointed")
		case "/gone":
			panic(http.ErrAbortHandler)
		case "/unknown":
			_, _ = io.WriteString(w, `{"error":"Unexpected endpoint or method. (POST /unknown)"}`)
		case "/garbage":
			_, _ = io.WriteString(w, "<html>")
		}
	}))
	defer srv.Close()
	s := wire.Server{Base: strings.Replace(srv.URL, "http://", "http://me:"+secret+"@", 1), Key: key}
	for path, kind := range map[string]llm.ErrorKind{"/echo": llm.Auth, "/moved": llm.BadRequest, "/gone": llm.Connection, "/garbage": llm.Server, "/unknown": llm.NotFound} {
		err := s.Post(t.Context(), path, 1, new(int))
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != kind || strings.Contains(err.Error(), secret) || e.Message == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
	srv.Close()
	err := s.Get(t.Context(), "/", new(int))
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Absent || strings.Contains(err.Error(), secret) || e.Retryable() || !strings.Contains(e.Message, "the server is running") {
		t.Error(err)
	}
	for _, bad := range []string{"", "localhost", "http://\x7f" + secret} {
		s := wire.Server{Base: bad}
		if err := s.Get(t.Context(), "/", new(int)); fault.Of(err) != fault.Invalid || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	s.Key = func() (string, error) { return "", fault.New(fault.NotFound, "no key") }
	if err := s.Get(t.Context(), "/", new(int)); fault.Of(err) != fault.NotFound {
		t.Error(err)
	}
}

// TestNobodyListens: a server that was not started is not waited for.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	s := wire.Server{Base: "http://" + l.Addr().String()}
	var bad *llm.Error
	if err := s.Get(t.Context(), "/", new(int)); !errors.As(err, &bad) || bad.Kind != llm.Absent || bad.Retryable() || !strings.Contains(bad.Message, "the server is running") {
		t.Errorf("%v", err)
	}
}

// TestAClosedConnectionIsNoError: a kept connection may be closed under a request,
// and only one that says it may be sent twice is sent again by the transport.
func TestAClosedConnectionIsNoError(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			br := bufio.NewReader(c)
			for i := 0; ; i++ {
				r, err := http.ReadRequest(br)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if n == 0 && i == 1 {
					break // the second request on the first connection
				}
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
			}
			_ = c.Close()
		}
	}()
	s := wire.Server{Base: "http://" + l.Addr().String(), Transport: &http.Transport{}}
	for range 3 {
		var out int
		if err := s.Post(t.Context(), "/", 1, &out); err != nil || out != 1 {
			t.Fatal(out, err)
		}
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{
		"http://localhost:11434": true, "http://127.0.0.1:1/v1": true, "http://127.3.0.1": true, "http://[::1]:80": true, "http://a.localhost": true,
		"http://127.evil.com": false, "http://localhost.evil.com": false, "https://api.openai.com/v1": false, "http://192.168.0.2": false, "": false, "http://\x7f": false,
	} {
		s := wire.Server{Base: base}
		if s.Local() != want {
			t.Error(base)
		}
	}
}

// pipe is a transport whose answers a test writes.
type pipe struct {
	answer func(*http.Request) (*http.Response, error)
}

func (p pipe) RoundTrip(r *http.Request) (*http.Response, error) { return p.answer(r) }

// body fails a read when the request ends, as the real one does.
func body(r *http.Request) (io.Reader, *io.PipeWriter) {
	pr, pw := io.Pipe()
	context.AfterFunc(r.Context(), func() { _ = pw.CloseWithError(r.Context().Err()) })
	return pr, pw
}

func TestWatchdog(t *testing.T) {
	t.Parallel()
	silent := func(t *testing.T, err error, want string, cut bool) {
		t.Helper()
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.Connection || !strings.Contains(e.Message, want) || errors.Is(err, llm.ErrCut) != cut {
			t.Errorf("%v, want %q", err, want)
		}
	}
	t.Run("no headers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := wire.Server{Base: "http://x", Transport: pipe{func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}}}
			begin := time.Now()
			_, err := s.Stream(t.Context(), "/", 1)
			silent(t, err, "no data arrived for 5m0s", false)
			if d := time.Since(begin); d != 5*time.Minute {
				t.Error(d)
			}
		})
	})
	t.Run("silence in the middle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := wire.Server{Base: "http://x", Transport: pipe{func(r *http.Request) (*http.Response, error) {
				pr, pw := body(r)
				go func() {
					for range 3 { // slow is not silent
						time.Sleep(119 * time.Second)
						_, _ = io.WriteString(pw, "data: 1\n\n")
					}
				}()
				return &http.Response{StatusCode: 200, Body: io.NopCloser(pr)}, nil
			}}}
			b, err := s.Stream(t.Context(), "/", 1)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			n := 0
			for _, err = range wire.Events(b) {
				if err == nil {
					n++
					time.Sleep(time.Hour) // a slow reader is not the server's silence
				}
			}
			if n != 3 {
				t.Error(n)
			}
			silent(t, err, "no data arrived for 2m0s", true)
		})
	})
}

// TestTooMuch: a server that never ends a line, or packs a flood into a few bytes,
// is not read to the end.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	flood := func(w io.Writer) {
		_, _ = io.WriteString(w, "data: ")
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for range 200 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	for name, h := range map[string]http.HandlerFunc{
		"plain": func(w http.ResponseWriter, _ *http.Request) { flood(w) },
		"packed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			flood(z)
			_ = z.Close()
		},
	} {
		server := httptest.NewServer(h)
		s := wire.Server{Base: server.URL}
		b, err := s.Stream(t.Context(), "/", 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, err = range wire.Events(b) {
			if err == nil {
				t.Errorf("%s: an event came", name)
			}
		}
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.BadRequest || !strings.Contains(e.Message, "is larger than") {
			t.Errorf("%s: %v", name, err)
		}
		_ = b.Close()
		server.Close()
	}
}

func TestCancelClosesTheStream(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		stopped <- struct{}{}
	}))
	defer srv.Close()
	s := wire.Server{Base: srv.URL}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b, err := s.Stream(ctx, "/", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, err = range wire.Events(b) {
		cancel()
	}
	if err != context.Canceled {
		t.Error(err)
	}
	<-stopped
	if b, err = s.Stream(t.Context(), "/", 1); err != nil {
		t.Fatal(err)
	}
	_ = b.Close()
	<-stopped
}

func TestEvents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"data":                 {"data: {}\n\ndata:1\n\n", []string{" {}", " 1"}},
		"names":                {"event: ping\ndata: {}\n\ndata: 2\n\n", []string{"ping {}", " 2"}},
		"comments":             {": OPENROUTER PROCESSING\n\n: x\ndata: 1\n\n", []string{" 1"}},
		"CRLF":                 {"event: a\r\ndata: 1\r\n\r\n", []string{"a 1"}},
		"several lines":        {"data: a\ndata: b\n\n", []string{" a\nb"}},
		"any length":           {"data: " + long + "\n\n", []string{" " + long}},
		"done":                 {"data: [DONE]\n\n", []string{" [DONE]"}},
		"done without its end": {"data: [DONE]", []string{" [DONE]"}},
		"whole without end":    {`data: {"a":1}`, []string{` {"a":1}`}},
		"half":                 {`data: {"a":`, nil},
		"half of the mark":     {"data: [DON", nil},
		"other fields":         {"id: 3\nretry: 5\ndata: 1\n\n", []string{" 1"}},
		"nothing":              {"", nil},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			var got []string
			for e, err := range wire.Events(r) {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				got = append(got, e.Name+" "+string(e.Data))
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: %.200q, want %.200q", name, got, c.want)
			}
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("x", 200_000) + `"`
	for in, want := range map[string][]string{
		"{}\n{\"a\":1}\r\n\n1\n": {"{}", `{"a":1}`, "1"},
		"{}\n{\"a\":":            {"{}"},
		"{}\n{\"a\":1}":          {"{}", `{"a":1}`},
		long + "\n":              {long},
	} {
		var got []string
		for l, err := range wire.Lines(strings.NewReader(in)) {
			if err != nil {
				t.Error(err)
			}
			got = append(got, string(l))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%.100q: %.100q", in, got)
		}
	}
}

func TestBrokenReaders(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	r := func() io.Reader {
		return io.MultiReader(strings.NewReader("data: 1\n\ndata: 2"), iotest.ErrReader(broken))
	}
	var events, rows int
	var last error
	for _, err := range wire.Events(r()) {
		events, last = events+1, err
	}
	if events != 2 || last != broken {
		t.Error(events, last)
	}
	for _, err := range wire.Lines(r()) {
		rows, last = rows+1, err
	}
	if rows != 2 || last != broken {
		t.Error(rows, last)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: a\r\ndata: {\"b\":1}\n\n: c\ndata: [DONE]\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		read := func(r io.Reader) (out []wire.Event) {
			for e, err := range wire.Events(r) {
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, e)
			}
			return out
		}
		if a, b := read(bytes.NewReader(in)), read(iotest.OneByteReader(bytes.NewReader(in))); !reflect.DeepEqual(a, b) {
			t.Fatalf("%q, %q", a, b)
		}
	})
}
