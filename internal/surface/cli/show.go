package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
)

// encode prints a value as JSON for programs.
func (p *program) encode(v any) error {
	text, err := successful(v)
	if err != nil {
		return err
	}
	_, err = p.out.Write(text)
	return err
}

// successful is an answer as indented JSON. Every object says whether the command
// worked: what does not say so itself did.
func successful(v any) ([]byte, error) {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	text := plain.Bytes()
	var keys struct {
		Success *bool `json:"success"`
	}
	if text[0] == '{' && json.Unmarshal(text, &keys) == nil && keys.Success == nil {
		rest := bytes.TrimSpace(text[1:])
		head := `{"success":true,`
		if rest[0] == '}' {
			head = `{"success":true`
		}
		text = append([]byte(head), rest...)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(text), "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
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
		p.say(strings.ReplaceAll(v.Foot, "call again with offset ", "next: --offset "))
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
