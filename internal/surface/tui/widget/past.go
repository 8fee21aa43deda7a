package widget

// A Past is what was sent before, to be sent again.
type Past struct {
	list  []string
	at    int
	draft string
}

// Add remembers what was sent.
func (p *Past) Add(text string) {
	if n := len(p.list); n == 0 || p.list[n-1] != text {
		p.list = append(p.list, text)
	}
	p.at, p.draft = len(p.list), ""
}

// Back puts what was sent before into the editor.
func (p *Past) Back(e *Editor) {
	if p.at == 0 {
		return
	}
	if p.at == len(p.list) {
		p.draft = e.Value()
	}
	p.at--
	e.Set(p.list[p.at])
}

// On puts what was sent after it into the editor, and in the end what was being
// written.
func (p *Past) On(e *Editor) {
	if p.at >= len(p.list) {
		return
	}
	if p.at++; p.at == len(p.list) {
		e.Set(p.draft)
		return
	}
	e.Set(p.list[p.at])
}
