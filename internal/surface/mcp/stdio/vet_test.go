package stdio

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestVet(t *testing.T) {
	long := strings.Repeat("m", MaxName+1)
	one := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for in, want := range map[string]string{
		one: "",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"path":"x","PATH":"y"}}}`:                          "", // the tool refuses it
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"content":"` + strings.Repeat("x", 1<<20) + `"}}}`: "",
		`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`:                                                                "",
		`{"jsonrpc":"2.0","id":1,"method":"` + long + `"}`:                                                         "method has 201 bytes, the limit is 200",
		`{"jsonrpc":"2.0","id":"` + long + `","method":"ping"}`:                                                    "id has 201 bytes",
		`{"jsonrpc":"2.0","id":1` + strings.Repeat("0", 300) + `,"method":"ping"}`:                                 "id is a number of 301 digits",
		`{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`:                                                       `"method" occurs twice`,
		`{"jsonrpc":"2.0","id":1,"method":"a","Method":"b"}`:                                                       `"Method" occurs twice`,
		`{"jsonrpc":"2.0","id":1,"method":"a","m\u0065thod":"b"}`:                                                  `"method" occurs twice`,
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"x","nAme":"y"}}`:                                   `"nAme" occurs twice`,
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"uris":1,"uri\u017f":2}}`:                                  `occurs twice`,
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"a":1,"A":2}}}`:                                   `"A" occurs twice`,
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"` + long + `"}}`:                                   "params.name has 201 bytes",
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"uri":"` + strings.Repeat("u", 9000) + `"}}`:               "params.uri has 9000 bytes",
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"` + strings.Repeat("u", 30000) + `"}}`:                "params.x has 30000 bytes",
		`{"jsonrpc":"2.0","id":1,"method":"a","params":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`: "nested more than 64 deep",
		`[` + one + strings.Repeat(","+one, MaxBatch-1) + `]`:                                                      "",
		`[` + one + strings.Repeat(","+one, MaxBatch) + `]`:                                                        "more than 50 messages",
		`[` + one + `,{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}]`:                                         `message 2: the key "method" occurs twice`,
	} {
		got := Vet([]byte(in))
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%.120s: got %q, want %q", in, got, want)
		}
	}
}

// FuzzVet: whatever valid JSON comes, nothing panics, and what is let through has
// no key twice where it is decoded.
func FuzzVet(f *testing.F) {
	for _, s := range []string{`{"a":1,"A":2}`, `[{"id":1}]`, `{"params":{"arguments":{"a":1,"a":2}}}`, `"x"`, `{"a":[{"b":{}}]}`, `{"id":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		why := Vet(data)
		if len(why) > 1000 {
			t.Fatalf("%q: %q", data, why)
		}
		var m map[string]json.RawMessage
		if why == "" && json.Unmarshal(data, &m) == nil {
			seen := map[string]bool{}
			for k := range m {
				if seen[strings.ToLower(k)] {
					t.Fatalf("%q has twins", data)
				}
				seen[strings.ToLower(k)] = true
			}
		}
	})
}
