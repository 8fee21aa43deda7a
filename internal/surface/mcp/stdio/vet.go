package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lore/internal/tool/schema"
)

// What one message may have. The library has no limits of its own, repeats in
// its errors what it was sent, and takes the last of two keys, in whatever case.
const (
	// MaxName is how long a method, an id, or the name of a tool or prompt may be.
	MaxName = 200
	// MaxURI is how long the address of a resource may be.
	MaxURI = 8_000
	// MaxBatch is how many messages a batch may have, where there are batches.
	MaxBatch = 50
	// MaxDepth is how deep a message may be nested.
	MaxDepth = 64
	// maxPiece bounds every other text outside of the arguments of a call.
	maxPiece = 20_000
)

// Vet says why messages are refused before anything else reads them: one that is
// too large in some part, or that two readers could understand differently; ""
// when they are not. The data is one message or a batch, and valid JSON. What a
// tool is given is not looked at, except for its depth: the tool's own check says
// more about it.
func Vet(data []byte) string {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return ""
	}
	if schema.IsDeeper(data, MaxDepth) {
		return fmt.Sprintf("the message is nested more than %d deep", MaxDepth)
	}
	if data[0] != '[' {
		return vetOne(data)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	_, _ = d.Token() // the bracket
	for n := 1; d.More(); n++ {
		if n > MaxBatch {
			return fmt.Sprintf("the batch has more than %d messages", MaxBatch)
		}
		var one json.RawMessage
		if err := d.Decode(&one); err != nil {
			return "the batch cannot be read"
		}
		if why := vetOne(one); why != "" {
			return fmt.Sprintf("message %d: %s", n, why)
		}
	}
	return ""
}

func vetOne(data []byte) string {
	if len(data) == 0 || data[0] != '{' {
		return "" // the decoder of messages says what is wrong
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var r refused
	if err := vetValue(d, nil); errors.As(err, &r) {
		return string(r)
	}
	return ""
}

// refused is the reason for which a message is.
type refused string

func (r refused) Error() string { return string(r) }

// vetValue reads one value, at the place that the keys in at name.
func vetValue(d *json.Decoder, at []string) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case string:
		return vetText(t, at)
	case json.Number:
		if len(t) > MaxName {
			return refused(fmt.Sprintf("%s is a number of %d digits", strings.Join(at, "."), len(t)))
		}
	case json.Delim:
		if t == '{' {
			return vetObject(d, at)
		}
		for d.More() {
			if err := vetValue(d, at); err != nil {
				return err
			}
		}
		_, err := d.Token()
		return err
	}
	return nil
}

func vetObject(d *json.Decoder, at []string) error {
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if len(key) > maxPiece {
			return refused(fmt.Sprintf("a key has %d characters", len(key)))
		}
		plain := strings.Map(schema.Folded, key)
		if seen[plain] {
			return refused(fmt.Sprintf("the key %q occurs twice, ignoring case", cutKey(key)))
		}
		seen[plain] = true
		inside := append(at[:len(at):len(at)], key)
		if isArguments(inside) {
			var raw json.RawMessage
			err = d.Decode(&raw)
		} else {
			err = vetValue(d, inside)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// isArguments reports whether a key holds what a tool or prompt is given, or what
// somebody answered.
func isArguments(at []string) bool {
	return len(at) == 2 && at[0] == "params" && at[1] == "arguments" || len(at) == 1 && at[0] == "result"
}

func cutKey(key string) string {
	if len(key) <= 80 {
		return key
	}
	return strings.ToValidUTF8(key[:80], "") + "…"
}

func vetText(text string, at []string) error {
	most := maxPiece
	switch where := strings.Join(at, "."); {
	case where == "id", where == "method", where == "jsonrpc", strings.HasSuffix(where, ".name"), where == "params.taskId", where == "params.requestId":
		most = MaxName
	case strings.HasSuffix(where, ".uri"):
		most = MaxURI
	case strings.HasSuffix(where, ".cursor"), strings.HasSuffix(where, ".value"):
		most = schema.MaxQuery
	}
	if len(text) <= most {
		return nil
	}
	return refused(fmt.Sprintf("%s has %d bytes, the limit is %d", strings.Join(at, "."), len(text), most))
}

// Refuse is the answer to a message that is refused, without its id: one that is
// refused is not repeated, in no part.
func Refuse(why string) []byte { return refuse(nil, invalidRequest, why) }

const invalidRequest = -32600

// HasBatches reports whether a version of the protocol knows batches.
func HasBatches(version string) bool { return version < noBatches }
