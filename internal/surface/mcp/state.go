package mcp

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"lore/internal/tool"
	"lore/internal/tool/access"
)

// stateLives is how long a client may take to bring the answer. The question
// itself waits longer, and can be answered elsewhere.
const stateLives = 10 * time.Minute

// A state is what a client carries from our question to its answer. It holds
// nothing that the stored question does not, so it can only fail to fit.
type state struct {
	Question string      `json:"q"`
	Revision int         `json:"r"`
	Plan     string      `json:"p"`
	Tool     string      `json:"t"`
	Args     string      `json:"a"`
	Kind     access.Kind `json:"k"`
	Who      string      `json:"w"`
	Asked    string      `json:"m"` // by a form, or by our page
	Expires  int64       `json:"e"`
}

var errState = errors.New("requestState: not made here, not for this call, or too old; call again without it")

// seal makes the state of a question, with a code that only we can make.
func (s *Server) seal(q tool.Question, args json.RawMessage, asked string) (string, error) {
	b, err := json.Marshal(state{
		Question: q.ID, Revision: q.Revision, Plan: q.Plan, Tool: q.Tool, Args: digest(args),
		Kind: s.opts.Who.Kind, Who: s.opts.Who.ID, Asked: asked, Expires: s.opts.Now().Add(stateLives).Unix(),
	})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b) + "." + base64.RawURLEncoding.EncodeToString(s.code(b)), nil
}

// unseal believes a state when it can be verified and the call is the same.
func (s *Server) unseal(text, name string, args json.RawMessage) (state, error) {
	st, err := s.verify(text)
	if err != nil || st.Asked == cardName || st.Tool != name || st.Args != digest(args) {
		return state{}, errState
	}
	return st, nil
}

// verify believes a state when the code is ours, the caller is the same, and it is
// not too old.
func (s *Server) verify(text string) (state, error) {
	body, code, ok := strings.Cut(text, ".")
	b, err := base64.RawURLEncoding.Strict().DecodeString(body)
	mac, err2 := base64.RawURLEncoding.Strict().DecodeString(code)
	if !ok || err != nil || err2 != nil || !hmac.Equal(mac, s.code(b)) {
		return state{}, errState
	}
	var st state
	if err := json.Unmarshal(b, &st); err != nil {
		return state{}, errState
	}
	who := s.opts.Who
	if st.Kind != who.Kind || st.Who != who.ID || s.opts.Now().Unix() >= st.Expires {
		return state{}, errState
	}
	return st, nil
}

func (s *Server) code(b []byte) []byte {
	mac := hmac.New(sha256.New, s.opts.Key)
	mac.Write([]byte("lore mcp request state\x00"))
	mac.Write(b)
	return mac.Sum(nil)
}

// digest is the same for arguments that say the same: a client may write them
// anew, with other spaces and in another order.
func digest(args json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil {
		if b, err := json.Marshal(v); err == nil {
			args = b
		}
	}
	sum := sha256.Sum256(args)
	return hex.EncodeToString(sum[:])
}
