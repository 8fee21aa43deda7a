package judge

import (
	"container/list"
	"crypto/sha256"
	"io"
	"strconv"
	"sync"

	"lore/internal/llm"
)

// A Memory keeps what a model answered, so that the same question is paid for
// once, and so that a plan that is made again for an approval is the plan that
// was shown. It forgets what was asked longest ago.
type Memory struct {
	mu    sync.Mutex
	at    map[[32]byte]*list.Element
	order list.List // of *memory, the newest first
}

type memory struct {
	key   [32]byte
	value any
}

// remembered is how many answers are kept.
const remembered = 512

// keyOf names a request to a model. The words of a question depend on nothing
// but what is asked.
func keyOf(model string, r *llm.Request) [32]byte {
	h := sha256.New()
	for _, s := range []string{model, r.System, string(r.Format), r.Messages[0].Parts[0].Text} {
		_, _ = io.WriteString(h, strconv.Itoa(len(s))+":"+s)
	}
	return [32]byte(h.Sum(nil))
}

func (m *Memory) get(key [32]byte) (any, bool) {
	if m == nil {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.at[key]
	if e == nil {
		return nil, false
	}
	m.order.MoveToFront(e)
	return e.Value.(*memory).value, true
}

func (m *Memory) put(key [32]byte, value any) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at == nil {
		m.at = map[[32]byte]*list.Element{}
	}
	if e := m.at[key]; e != nil {
		e.Value.(*memory).value = value
		m.order.MoveToFront(e)
		return
	}
	m.at[key] = m.order.PushFront(&memory{key, value})
	for m.order.Len() > remembered {
		last := m.order.Back()
		delete(m.at, last.Value.(*memory).key)
		m.order.Remove(last)
	}
}
