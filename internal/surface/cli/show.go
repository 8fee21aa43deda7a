package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"lore/internal/surface/draw"
	"lore/internal/tool"
)

// encode prints a value as JSON for programs.
func (p *program) encode(v any) error {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// show prints a result: as JSON for programs, drawn for people.
func (p *program) show(r tool.Result, dir string) error {
	if p.g.JSON {
		return p.encode(r)
	}
	for _, n := range r.Notices {
		p.say(n)
	}
	switch {
	case r.DryRun:
		return p.showPlan(r)
	case r.Refused != "":
		p.say(strings.TrimSuffix(r.Refused+": "+r.Feedback, ": "))
		return nil
	}
	v := r.View()
	var b strings.Builder
	if v.Text != "" {
		text := v.Text
		if p.screen.Terminal {
			// A pipe or a file gets the bytes as they are.
			text = draw.Harmless(text)
		}
		b.WriteString(text)
		if !strings.HasSuffix(text, "\n") && p.screen.Terminal {
			b.WriteByte('\n')
		}
	}
	for i, it := range v.Items {
		p.screen.Item(&b, i, it, dir)
	}
	if p.noHead {
		v.Head, v.Foot = nil, ""
	}
	p.screen.Table(&b, v.Head, v.Rows)
	p.screen.Pairs(&b, v.Pairs)
	if _, err := io.WriteString(p.out, b.String()); err != nil {
		return err
	}
	if v.Foot != "" {
		// What is said about the answer is no part of it: a pipe gets the answer.
		// Tools speak to callers; a person at a terminal types a flag.
		p.say(strings.ReplaceAll(v.Foot, "call again with offset ", "go on with --offset "))
	}
	return nil
}

// say tells something about an answer on standard error.
func (p *program) say(text string) {
	lines := []string{draw.OneLine(text)}
	if p.notice.Terminal {
		lines = p.notice.Wrap(lines[0], "")
	}
	for _, l := range lines {
		fmt.Fprintln(p.err, p.notice.Dim(l))
	}
}
