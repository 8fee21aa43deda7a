package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A wire is a connection over real pipes, seen from the client.
type wire struct {
	t    *testing.T
	conn sdk.Connection
	in   *os.File // what the client writes to
	out  *bufio.Reader
}

func newWire(t *testing.T) *wire {
	t.Helper()
	serverIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, serverOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := New(serverIn, serverOut).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range []io.Closer{in, conn, out, serverOut} {
			_ = c.Close() // may be closed already
		}
	})
	return &wire{t: t, conn: conn, in: in, out: bufio.NewReader(out)}
}

func (w *wire) say(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, text); err != nil {
		w.t.Fatal(err)
	}
}

// hear reads a line that the client gets.
func (w *wire) hear() string {
	w.t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

// read is the method of the next request that arrives.
func (w *wire) read() string {
	w.t.Helper()
	msg, err := w.conn.Read(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		w.t.Fatalf("%T arrived", msg)
	}
	return req.Method
}

// ends expects that nothing more arrives, in good order.
func (w *wire) ends() {
	w.t.Helper()
	if msg, err := w.conn.Read(w.t.Context()); !errors.Is(err, io.EOF) {
		w.t.Errorf("after the end: %v, %v", msg, err)
	}
}

func request(id any, method string) string {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": map[string]any{"a": 1}})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestLines(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	go func() {
		w.say(request(1, "one")[:20])
		w.say(request(1, "one")[20:] + "\n" + request("x", "two") + "\r\n\r\n \n\n" + request(3, "three"))
		_ = w.in.Close() // the last line has no end
	}()
	for _, want := range []string{"one", "two", "three"} {
		if got := w.read(); got != want {
			t.Errorf("%s arrived, want %s", got, want)
		}
	}
	w.ends()
}

// TestWhatIsNoMessage: each is answered, and what comes after it arrives.
func TestWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line, id string
		code           int
	}{
		{"words", `hello there`, `null`, -32700},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"on`, `null`, -32700},
		{"two in a line", `{"jsonrpc":"2.0","id":1,"method":"a"}{"jsonrpc":"2.0","id":2,"method":"b"}`, `null`, -32700},
		{"a word of JSON", `true`, `null`, -32600},
		{"a number", `17`, `null`, -32600},
		{"an object", `{}`, `null`, -32600},
		{"null", `null`, `null`, -32600},
		{"another version", `{"jsonrpc":"1.0","id":"a\nb","method":"a"}`, `"a\nb"`, -32600},
		{"no version", `{"id":7,"method":"a"}`, `7`, -32600},
		{"a method that is a number", `{"jsonrpc":"2.0","id":7,"method":1}`, `7`, -32600},
		{"another case", `{"jsonrpc":"2.0","ID":7,"Method":"a"}`, `null`, -32600},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"a"}`, `null`, -32600},
		{"nested too deep", `{"jsonrpc":"2.0","id":7,"method":"a","params":{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}}`, `7`, -32600},
		{"an empty batch", `[]`, `null`, -32600},
		{"a batch of numbers", `[1,2]`, `null`, -32600},
		{"an id twice in a batch", `[` + request(1, "a") + `,` + request(1, "b") + `]`, `null`, -32600},
		{"too long", strings.Repeat(" ", maxLine+1), `null`, -32600},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			go func() {
				w.say(c.line + "\n" + request(1, "after") + "\n" + c.line)
				_ = w.in.Close()
			}()
			if got := w.read(); got != "after" {
				t.Errorf("%s arrived", got)
			}
			w.ends()
			for range 2 {
				var got struct {
					JSONRPC string
					ID      json.RawMessage
					Error   jsonrpc.Error
				}
				line := w.hear()
				if err := json.Unmarshal([]byte(line), &got); err != nil || got.JSONRPC != "2.0" || string(got.ID) != c.id || got.Error.Code != int64(c.code) || got.Error.Message == "" {
					t.Errorf("answered with %s", line)
				}
			}
		})
	}
}

// TestAnswersAreNotAnswered: two that refuse each other's refusals would never end.
func TestAnswersAreNotAnswered(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	go func() {
		w.say(string(refuse(nil, jsonrpc.CodeParseError, "no")) + "\n" + `{"id":1,"result":{}}` + "\nno\n" + request(1, "after") + "\n")
	}()
	if got := w.read(); got != "after" {
		t.Errorf("%s arrived", got)
	}
	if got := w.hear(); !strings.Contains(got, "-32700") {
		t.Errorf("the first answer is %s", got)
	}
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	frame := func(n int) string {
		head, tail := `{"jsonrpc":"2.0","id":1,"method":"long","params":{"arguments":{"a":"`, `"}}}`
		return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
	}
	sizes := []int{100, usual - 1, usual, usual + 1, 3*usual + 5, maxLine, 100}
	go func() {
		for _, n := range sizes {
			w.say(frame(n) + "\r\n")
		}
		w.say(frame(maxLine+1) + "\n" + request(1, "after") + "\n")
	}()
	for _, n := range sizes {
		msg, err := w.conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want, err := jsonrpc.DecodeMessage([]byte(frame(n)))
		if err != nil || !reflect.DeepEqual(msg, want) {
			t.Errorf("a line of %d bytes is another one (%v)", n, err)
		}
	}
	if got := w.read(); got != "after" {
		t.Errorf("%s arrived", got)
	}
	if got := w.hear(); !strings.Contains(got, "longer") {
		t.Errorf("a line that is too long is answered with %s", got)
	}
}

// TestMessagesAreTheirOwn: one that is kept does not change with the next line.
func TestMessagesAreTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	go func() {
		for i := range 100 {
			w.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"i%d","method":"m%d","params":{"n":%d}}`+"\n", i, i, i))
		}
	}()
	var kept []jsonrpc.Message
	for range 100 {
		msg, err := w.conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, msg)
	}
	for i, msg := range kept {
		req := msg.(*jsonrpc.Request)
		if req.ID.Raw() != fmt.Sprintf("i%d", i) || req.Method != fmt.Sprintf("m%d", i) || string(req.Params) != fmt.Sprintf(`{"n":%d}`, i) {
			t.Errorf("message %d became %v %s %s", i, req.ID.Raw(), req.Method, req.Params)
		}
	}
}

func TestManyWrite(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	const writers, each = 8, 50
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for j := range each {
				id, _ := jsonrpc.MakeID(float64(i*each + j))
				text := strings.Repeat(string(rune('a'+i)), (j+1)*700)
				if err := w.conn.Write(t.Context(), &jsonrpc.Response{ID: id, Result: json.RawMessage(`"` + text + `"`)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	seen := map[int]bool{}
	for range writers * each {
		var got struct {
			ID     int
			Result string
		}
		if err := json.Unmarshal([]byte(w.hear()), &got); err != nil {
			t.Fatal(err)
		}
		if want := strings.Repeat(string(rune('a'+got.ID/each)), (got.ID%each+1)*700); seen[got.ID] || got.Result != want {
			t.Errorf("answer %d is not whole", got.ID)
		}
		seen[got.ID] = true
	}
	wg.Wait()
}

func TestHangingUp(t *testing.T) {
	t.Parallel()
	begun := func(w *wire, ctx context.Context) <-chan error {
		out := make(chan error, 1)
		go func() {
			_, err := w.conn.Read(ctx)
			out <- err
		}()
		return out
	}
	t.Run("we close", func(t *testing.T) {
		w := newWire(t)
		ended := begun(w, t.Context())
		for range 2 {
			if err := w.conn.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := <-ended; !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
	t.Run("we are told to stop", func(t *testing.T) {
		w := newWire(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := begun(w, ctx)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := w.conn.Write(ctx, &jsonrpc.Request{Method: "a"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("the client goes", func(t *testing.T) {
		w := newWire(t)
		ended := begun(w, t.Context())
		_ = w.in.Close()
		if err := <-ended; !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
}

func answer(t *testing.T, w *wire, id any, result string) {
	t.Helper()
	i, err := jsonrpc.MakeID(id)
	if err == nil {
		err = w.conn.Write(t.Context(), &jsonrpc.Response{ID: i, Result: json.RawMessage(result)})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	note := `{"jsonrpc":"2.0","method":"note"}`
	w.say("[" + request(1, "a") + "," + note + "," + request("x", "b") + "," + note + "]\n[" + note + "]\n")
	for _, want := range []string{"a", "note", "b", "note", "note"} {
		if got := w.read(); got != want {
			t.Errorf("%s arrived, want %s", got, want)
		}
	}
	answer(t, w, "x", `{"of":"b"}`)
	answer(t, w, float64(9), `{}`) // of no batch
	if got, want := w.hear(), `{"jsonrpc":"2.0","id":9,"result":{}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	answer(t, w, float64(1), `{"of":"a"}`)
	if got, want := w.hear(), `[{"jsonrpc":"2.0","id":1,"result":{"of":"a"}},{"jsonrpc":"2.0","id":"x","result":{"of":"b"}}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	// Later versions of the protocol have none.
	for _, c := range []struct {
		version string
		refused bool
	}{{"2025-03-26", false}, {"2025-06-18", true}, {"2025-11-25", true}} {
		w.say(request(2, "initialize") + "\n")
		w.read()
		answer(t, w, float64(2), `{"protocolVersion":"`+c.version+`"}`)
		w.hear()
		w.say("[" + note + "]\n" + request(3, "after") + "\n")
		if got := w.read(); (got == "after") != c.refused {
			t.Errorf("%s: %s arrived", c.version, got)
		}
		if !c.refused {
			w.read()
		} else if got := w.hear(); !strings.Contains(got, "-32600") || !strings.Contains(got, c.version) {
			t.Errorf("%s: a batch is answered with %s", c.version, got)
		}
	}
}

// TestEncoding: what is written here is what the library writes.
func TestEncoding(t *testing.T) {
	t.Parallel()
	one, _ := jsonrpc.MakeID(float64(-1))
	word, _ := jsonrpc.MakeID("a\"b")
	for _, msg := range []jsonrpc.Message{
		&jsonrpc.Response{ID: one, Result: json.RawMessage(`{"a":"<b>"}`)},
		&jsonrpc.Response{ID: one, Result: json.RawMessage("{\n\"a\": 1}")},
		&jsonrpc.Response{ID: one},
		&jsonrpc.Response{ID: word, Result: json.RawMessage(`{}`)},
		&jsonrpc.Response{ID: one, Error: &jsonrpc.Error{Code: 7, Message: "no"}},
		&jsonrpc.Response{ID: one, Error: errors.New("no"), Result: json.RawMessage(`{}`)},
		&jsonrpc.Request{ID: one, Method: "a", Params: json.RawMessage(`{}`)},
		&jsonrpc.Request{Method: "a"},
	} {
		want, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := appendMessage([]byte("x"), msg); err != nil || string(got) != "x"+string(want) {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

// FuzzDecode: a message means here what it means to the library, or both refuse
// it.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		request(1, "a"), request("x", "tools/call"), `{"jsonrpc":"2.0","method":"a"}`, `{"jsonrpc":"2.0","id":null,"method":"a","params":null}`,
		`{"jsonrpc":"2.0","Method":"a","method":"b","id":1,"ID":2}`, `{"jsonrpc":"2.0","method":"a","method":"b","id":1,"id":2,"params":{},"params":[]}`,
		`{"jsonrpc":"2.0","m\u0065thod":"a","id":"\u0061"}`, `{"jsonrpc":"2.0","id":1,"result":{"a":[1,{"b":"}"}]}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"Message":"x"}}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"a"}`, `{"jsonrpc":"2.0","id":-0,"method":"a"}`, `{"jsonrpc":"2.0","id":1e3,"method":"a"}`, `{"jsonrpc":"2.0","id":12345678901234567890,"method":"a"}`,
		" { \"jsonrpc\" : \"2.0\" ,\t\"id\" : 1 , \"method\" : \"a\" , \"params\" : { \"a\" : [ \"\\\"\" ] } , \"x\" : true } ", `{"jsonrpc":"2.0","method":"\ud800","id":"é"}`,
		`{"jsonrpc":"2.0","method":"a","error":null}`, `{"jsonrpc":"1.0","method":"a"}`, `{}`, `[]`, `null`, `{"jsonrpc":"2.0","method":"a","params":[1]}`, `{"jsonrpc":"2.0","method":null}`,
		`{"jsonrpc":"2.0","method":"a","m\u0065thod":"b"}`, `{"jsonrpc":"2.0","id":1,"method":"a","\u0069d":2}`, `{"jsonrpc":"2.0","method":"a","method":1}`, "{\"jsonrpc\":\"2.0\",\"method\":\"a\xff\",\"id\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.Trim(data, " \t\r\n")
		if !json.Valid(data) || bytes.IndexByte(data, '\n') >= 0 {
			if len(data) > 0 && !json.Valid(data) {
				if a := decodeLine(data, true); a.refusal == nil || !json.Valid(a.refusal) {
					t.Errorf("what is not JSON is not refused: %+v", a)
				}
			}
			return
		}
		want, wantErr := jsonrpc.DecodeMessage(data)
		got, err := decodeMessage(data, true)
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nis  %#v, %v\nnot %#v, %v", data, got, err, want, wantErr)
		}
		a := decodeLine(bytes.Clone(data), false)
		if a.refusal != nil && (!json.Valid(a.refusal) || bytes.IndexByte(a.refusal, '\n') >= 0) {
			t.Errorf("refused with %s", a.refusal)
		}
		if Vet(data) != "" {
			if a.msg != nil || a.batch != nil {
				t.Errorf("%s is let through", data)
			}
			return
		}
		if data[0] != '[' && err == nil && !reflect.DeepEqual(a.msg, want) {
			t.Errorf("%s\nis  %#v\nnot %#v", data, a.msg, want)
		}
	})
}
