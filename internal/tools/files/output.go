package files

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"lore/internal/tool"
	"lore/internal/tools/files/jail"
	"lore/internal/tools/toolkit"
)

// maxOutput is how much of a stream is kept: its beginning and its end.
const maxOutput = 128 << 10

// An output collects what a command writes, and passes it on as it comes.
type output struct {
	ctx   context.Context // of the call, which hears of the output
	parts map[jail.Stream]*ends
	both  ends
	total int
	lines map[jail.Stream]string // that are not at their end yet
}

func newOutput(ctx context.Context) *output {
	return &output{ctx: ctx, parts: map[jail.Stream]*ends{jail.Stdout: {}, jail.Stderr: {}}, lines: map[jail.Stream]string{}}
}

var streamNames = map[jail.Stream]string{jail.Stdout: "stdout", jail.Stderr: "stderr"}

// write takes what came. Whoever waits for the call hears of whole lines, with the
// stream that they came from.
func (o *output) write(s jail.Stream, b []byte) {
	o.parts[s].write(b)
	o.both.write(b)
	o.total += len(b)
	text := o.lines[s] + string(b)
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok {
			break
		}
		tool.Progress(o.ctx, o.total, 0, streamNames[s]+": "+toolkit.Truncate(strings.ToValidUTF8(line, "\uFFFD"), 500))
		text = rest
	}
	o.lines[s] = text[max(0, len(text)-4096):]
}

// into puts it into a result.
func (o *output) into(r *CommandResult) {
	for s, line := range o.lines {
		if line != "" {
			tool.Progress(o.ctx, o.total, 0, streamNames[s]+": "+toolkit.Truncate(strings.ToValidUTF8(line, "\uFFFD"), 500))
		}
	}
	out, errs := o.parts[jail.Stdout], o.parts[jail.Stderr]
	r.Stdout, r.Stderr = out.String(), errs.String()
	if out.size > 0 && errs.size > 0 {
		r.Output = o.both.String()
	}
	if lost := out.lost() + errs.lost(); lost > 0 {
		r.Cut = fmt.Sprintf("%d of %d bytes of output are left out", lost, o.total)
	}
}

// ends keep the beginning and the end of a text.
type ends struct {
	head, tail []byte
	size       int
}

func (e *ends) write(b []byte) {
	e.size += len(b)
	if room := maxOutput/2 - len(e.head); room > 0 {
		n := min(room, len(b))
		e.head, b = append(e.head, b[:n]...), b[n:]
	}
	e.tail = append(e.tail, b...)
	if len(e.tail) > maxOutput {
		e.tail = append([]byte(nil), e.tail[len(e.tail)-maxOutput/2:]...)
	}
}

func (e *ends) lost() int { return max(0, e.size-len(e.head)-min(len(e.tail), maxOutput/2)) }

// String is what is kept, with a mark where something is left out.
func (e *ends) String() string {
	tail := e.tail[max(0, len(e.tail)-maxOutput/2):]
	if lost := e.lost(); lost > 0 {
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
		return strings.ToValidUTF8(string(e.head), "\uFFFD") + fmt.Sprintf("\n… %d bytes left out …\n", lost) + strings.ToValidUTF8(string(tail), "\uFFFD")
	}
	return strings.ToValidUTF8(string(e.head)+string(tail), "\uFFFD")
}
