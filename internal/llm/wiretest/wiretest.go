// Package wiretest is a server for the tests of adapters alone: it answers with
// recorded bytes, judges every request to the letter, and breaks off wherever a
// connection can. It knows no provider.
package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lore/internal/llm"
)

// An Exchange is one request and its answer.
type Exchange struct {
	Path   string            // with the method before it: "POST /v1/chat/completions"
	Body   string            // JSON that the request must be; "": not looked at
	Has    map[string]string // headers that it must have
	Status int               // 0: 200
	Header map[string]string // of the answer
	Answer string
}

// Serve answers requests in their order, and fails the test over any that is
// not as written, is too many, or was never made. It gives its address.
func Serve(t *testing.T, exchanges ...Exchange) string {
	t.Helper()
	var mu sync.Mutex
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil || n >= len(exchanges) {
			t.Errorf("request %d: %s %s %s, %v", n+1, r.Method, r.URL, body, err)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		x := exchanges[n]
		n++
		x.judge(t, n, r, body)
		for k, v := range x.Header {
			w.Header().Set(k, v)
		}
		if x.Status != 0 {
			w.WriteHeader(x.Status)
		}
		_, _ = io.WriteString(w, x.Answer)
	}))
	t.Cleanup(func() {
		srv.Close()
		if n != len(exchanges) {
			t.Errorf("%d of %d requests were made", n, len(exchanges))
		}
	})
	return srv.URL
}

func (x *Exchange) judge(t *testing.T, n int, r *http.Request, body []byte) {
	t.Helper()
	if got := r.Method + " " + r.URL.RequestURI(); got != x.Path {
		t.Errorf("request %d: %s, want %s", n, got, x.Path)
	}
	for k, v := range x.Has {
		if r.Header.Get(k) != v {
			t.Errorf("request %d: header %s is %q, want %q", n, k, r.Header.Get(k), v)
		}
	}
	if x.Body != "" && !SameJSON(t, string(body), x.Body) {
		t.Errorf("request %d: body\n%s\nwant\n%s", n, body, x.Body)
	}
}

// SameJSON reports whether two texts are the same value.
func SameJSON(t *testing.T, got, want string) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatalf("the test's own JSON: %v\n%s", err, want)
	}
	return json.Unmarshal([]byte(got), &a) == nil && reflect.DeepEqual(a, b)
}

// Cut serves an answer that ends after each of its bytes, once as if that were
// the end and, at the ends of lines, once as if the connection broke. ask asks
// the server at base. Each time the answer must be whole, or an error that asking
// again may mend, with no part of it taken for whole. Short tests cut at some of
// the bytes only.
func Cut(t *testing.T, answer []byte, ask func(base string) (llm.Answer, error)) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.SplitN(r.URL.Path, "/", 4)
		n, err := strconv.Atoi(parts[2])
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = w.Write(answer[:n])
		if parts[1] == "break" {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	defer srv.Close()
	base := func(how string, n int) string { return srv.URL + "/" + how + "/" + strconv.Itoa(n) }
	want, err := ask(base("end", len(answer)))
	if err != nil {
		t.Fatal(err)
	}
	every := 1
	if testing.Short() {
		every = 17
	}
	broken := 0
	check := func(how string, n int) {
		got, err := ask(base(how, n))
		var e *llm.Error
		switch {
		case err == nil && (!sameParts(got.Parts, want.Parts) || got.Stop != want.Stop):
			t.Errorf("%s after %d: %+v", how, n, got)
		case err != nil && len(got.Parts) > 0:
			t.Errorf("%s after %d: %v, with parts %+v", how, n, err, got.Parts)
		case err != nil && !errors.Is(err, llm.ErrCut) && !(errors.As(err, &e) && e.Retryable()):
			t.Errorf("%s after %d: %v", how, n, err)
		case err != nil:
			broken++
		}
	}
	for n := range answer {
		line := n == 0 || answer[n-1] == '\n'
		if line || n%every == 0 {
			check("end", n)
		}
		if line {
			check("break", n)
		}
	}
	if last := bytes.LastIndexByte(bytes.TrimSpace(answer), '\n'); broken <= last/3/every {
		t.Errorf("of %d cuts only %d were seen", len(answer), broken)
	}
}

// sameParts compares parts; ids that adapters made up differ each time.
func sameParts(a, b []llm.Part) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if strings.HasPrefix(x.ID, "call_") && strings.HasPrefix(y.ID, "call_") {
			x.ID, y.ID = "", ""
		}
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}
