package stdio

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// decodeLine understands one line, which is not empty. Unless the bytes are the
// message's own they are copied.
func decodeLine(line []byte, own bool) arrival {
	if !json.Valid(line) {
		var raw json.RawMessage
		err := json.Unmarshal(line, &raw)
		return arrival{refusal: refuse(nil, jsonrpc.CodeParseError, "this line is not JSON: "+err.Error())}
	}
	if why := Vet(line); why != "" {
		id, wanted := whose(line)
		if !wanted {
			return arrival{}
		}
		if len(id) > MaxName {
			id = nil
		}
		return arrival{refusal: refuse(id, jsonrpc.CodeInvalidRequest, why)}
	}
	if line[0] == '[' {
		return decodeBatch(line)
	}
	msg, err := decodeMessage(line, own)
	if err != nil {
		id, wanted := whose(line)
		if !wanted {
			return arrival{}
		}
		return arrival{refusal: refuse(id, jsonrpc.CodeInvalidRequest, "this is not a message of JSON-RPC 2.0: "+err.Error())}
	}
	return arrival{msg: msg}
}

// decodeBatch understands all messages of a batch or none.
func decodeBatch(line []byte) arrival {
	bad := func(why string) arrival { return arrival{refusal: refuse(nil, jsonrpc.CodeInvalidRequest, why)} }
	var parts []json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil {
		return bad(err.Error())
	}
	if len(parts) == 0 {
		return bad("this batch is empty")
	}
	var a arrival
	for i, p := range parts {
		msg, err := decodeMessage(p, true)
		if err != nil {
			return bad("message " + strconv.Itoa(i+1) + " of this batch is not one of JSON-RPC 2.0: " + err.Error())
		}
		a.batch = append(a.batch, msg)
	}
	return a
}

// decodeMessage makes a message of valid JSON. The library's decoder judges
// whatever is not a plain request, so that odd ones mean the same to both.
func decodeMessage(data []byte, own bool) (jsonrpc.Message, error) {
	if req := plainRequest(data, own); req != nil {
		return req, nil
	}
	return jsonrpc.DecodeMessage(data)
}

// plainRequest decodes a request as clients write it: each member once, by its
// exact name, and nothing escaped in what is read here. It is nil for others.
func plainRequest(data []byte, own bool) *jsonrpc.Request {
	var version, id, method, params []byte
	ok := members(data, func(key, value []byte) bool {
		var field *[]byte
		switch string(key) {
		case "jsonrpc":
			field = &version
		case "id":
			field = &id
		case "method":
			field = &method
		case "params":
			field = &params
		case "result", "error":
			return false
		default:
			return bytes.IndexByte(key, '\\') < 0 // could be one of the above
		}
		if *field != nil {
			return false
		}
		*field = value
		return true
	})
	if !ok || string(version) != `"2.0"` {
		return nil
	}
	name, ok := plainString(method)
	if !ok || params != nil && params[0] != '{' {
		return nil
	}
	req := &jsonrpc.Request{Method: name}
	if id != nil {
		if req.ID, ok = plainID(id); !ok {
			return nil
		}
	}
	if req.Params = params; !own {
		req.Params = bytes.Clone(params)
	}
	return req
}

// plainID is an identifier that no decoder can take for another one: a number
// that a float holds exactly, or plain text.
func plainID(value []byte) (jsonrpc.ID, bool) {
	var v any
	if s, ok := plainString(value); ok {
		v = s
	} else if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && len(value) <= 15 {
		v = float64(n)
	} else {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil
}

// plainString is the text of a JSON string of ASCII in which nothing is escaped.
func plainString(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	value = value[1 : len(value)-1]
	for _, b := range value {
		if b >= 0x80 || b == '\\' {
			return "", false
		}
	}
	return string(value), true
}

// whose is the id of a request that is refused, as it stands there, and whether
// somebody waits for an answer: nobody does who sent an answer. To answer those
// could go on for ever.
func whose(line []byte) (id []byte, wanted bool) {
	answer, asks := false, false
	members(line, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			if id = nil; value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9' {
				id = value
			}
		case "method":
			asks = true
		case "result", "error":
			answer = true
		}
		return true
	})
	return id, asks || !answer
}

// deepest is how deep the library lets JSON be nested.
const deepest = 1000

// members calls f with each key of an object, without its quotes and as it is
// written, and its value, until f says no. It reports whether it saw all of it.
// The data is valid JSON.
func members(data []byte, f func(key, value []byte) bool) bool {
	if data[0] != '{' {
		return false
	}
	for i := skipSpace(data, 1); data[i] != '}'; {
		end := skipValue(data, i)
		if end < 0 {
			return false
		}
		key := data[i+1 : end-1]
		i = skipSpace(data, skipSpace(data, end)+1) // over the colon
		if end = skipValue(data, i); end < 0 || !f(key, data[i:end]) {
			return false
		}
		if i = skipSpace(data, end); data[i] == ',' {
			i = skipSpace(data, i+1)
		}
	}
	return true
}

func skipSpace(data []byte, i int) int {
	for data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n' {
		i++
	}
	return i
}

// skipValue is where the value that begins at i ends; -1 is nested too deep.
func skipValue(data []byte, i int) int {
	for depth := 1; i < len(data); i++ { // one is the object around it
		switch data[i] {
		case '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if depth == 1 {
				return i + 1
			}
		case '{', '[':
			if depth++; depth > deepest {
				return -1
			}
		case '}', ']':
			if depth--; depth == 0 {
				return i // it was a word or a number, and the object around it ends
			} else if depth == 1 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 1 {
				return i
			}
		}
	}
	return len(data)
}

// refuse is the answer to what is no request. The library cannot write one whose
// id is null, which is what an unknown one has to be.
func refuse(id []byte, code int64, why string) []byte {
	if id == nil {
		id = []byte("null")
	}
	b, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: code, Message: why}})
	if err != nil {
		panic(err) // the id was part of valid JSON
	}
	return b
}

// appendMessage adds a message in its one form. A result was encoded just now,
// by the library, and is not read and written once more.
func appendMessage(b []byte, msg jsonrpc.Message) ([]byte, error) {
	if res, ok := msg.(*jsonrpc.Response); ok && res.Error == nil && len(res.Result) > 0 && bytes.IndexByte(res.Result, '\n') < 0 {
		if id, ok := res.ID.Raw().(int64); ok {
			b = append(b, `{"jsonrpc":"2.0","id":`...)
			b = strconv.AppendInt(b, id, 10)
			b = append(b, `,"result":`...)
			b = append(b, res.Result...)
			return append(b, '}'), nil
		}
	}
	data, err := jsonrpc.EncodeMessage(msg)
	return append(b, data...), err
}

// appendBatch adds the answers to a batch.
func appendBatch(b []byte, all []*jsonrpc.Response) ([]byte, error) {
	sep := byte('[')
	for _, res := range all {
		var err error
		if b, err = appendMessage(append(b, sep), res); err != nil {
			return nil, err
		}
		sep = ','
	}
	return append(b, ']'), nil
}
