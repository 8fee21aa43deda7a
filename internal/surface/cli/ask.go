package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"lore/internal/fault"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/access"
)

const askHelp = `  y  yes, apply exactly this change
  n  no, change nothing
  s  select which files or parts to apply
  e  edit the arguments and review the new change
  d  show the full diff (in $PAGER, if set)
  ?  show this help`

// ask shows a question to the person at the terminal and waits for the answer,
// from here or from anywhere else.
func (p *program) ask(ctx context.Context, s *Session, in io.Reader, q tool.Question) (tool.Result, error) {
	p.showQuestion(p.err, p.notice, q, true, shownFiles)
	elsewhere, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer func() {
		stop()
		wg.Wait()
	}()
	type answered struct {
		res tool.Result
		err error
	}
	other := make(chan answered, 1)
	go func() {
		res, err := s.Door.Await(elsewhere, q.ID, q.Revision)
		other <- answered{res, err}
	}()
	wg.Go(func() { s.Attend(elsewhere) }) // this process holds the vault
	lines := p.typed(in)
	for {
		fmt.Fprintf(p.err, "%s %s ", p.notice.Dim(draw.OneLine(q.Preview.Summary)), p.notice.Bold("Apply? [y/n/s/e/d/?]"))
		select {
		case a := <-other:
			if ctx.Err() != nil {
				return tool.Result{}, p.withdraw(s, q)
			}
			word := "Answered elsewhere"
			if a.err == nil && a.res.Question != nil {
				word = "The plan changed; review it again"
			}
			fmt.Fprintln(p.err, "\n"+p.notice.Dim(word))
			return a.res, a.err
		case <-ctx.Done():
			return tool.Result{}, p.withdraw(s, q)
		case line, ok := <-lines:
			if !ok {
				return tool.Result{}, p.withdraw(s, q)
			}
			answer, err := p.read(ctx, s, lines, q, line)
			if err != nil {
				fmt.Fprintln(p.err, p.notice.Red(draw.Harmless(err.Error())))
				continue
			}
			if answer != nil {
				stop()
				<-other // only one of the two may carry it out
				answer.Revision = q.Revision
				return s.Door.Answer(ctx, access.Terminal(), q.ID, *answer)
			}
		}
	}
}

// withdraw ends a question whose person went away, so that it does not wait for
// nobody.
func (p *program) withdraw(s *Session, q tool.Question) error {
	fmt.Fprintln(p.err)
	if err := s.Door.Cancel(context.Background(), access.Terminal(), q.ID); err != nil {
		return err
	}
	return fault.New(fault.Cancelled, "interrupted; nothing was changed")
}

// typed hands out what is typed, line by line. There is one reader for the
// whole run: two would take each other's lines.
func (p *program) typed(in io.Reader) <-chan string {
	draw.Flush(in) // what was typed before the question is no answer to it
	if p.lines == nil {
		p.lines = make(chan string)
		go func() {
			defer close(p.lines)
			sc := bufio.NewScanner(in)
			for sc.Scan() {
				p.lines <- sc.Text()
			}
		}()
		return p.lines
	}
	select {
	case <-p.lines: // a line that was typed ahead
	default:
	}
	return p.lines
}

// read understands one line. nil without an error means: ask again.
func (p *program) read(ctx context.Context, s *Session, lines <-chan string, q tool.Question, line string) (*tool.Answer, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch strings.ToLower(word) {
	case "y", "yes":
		return &tool.Answer{Approve: true}, nil
	case "n", "no":
		return &tool.Answer{Word: strings.TrimSpace(rest)}, nil
	case "s", "select":
		return p.choose(ctx, lines, q)
	case "e", "edit":
		return p.editArgs(ctx, s, lines, q)
	case "d", "diff":
		return nil, p.showAll(ctx, q)
	}
	fmt.Fprintln(p.err, askHelp)
	return nil, nil
}

// showAll shows every file of a question, a page at a time where there is a
// pager.
func (p *program) showAll(ctx context.Context, q tool.Question) error {
	words := strings.Fields(os.Getenv("PAGER"))
	if len(words) == 0 {
		p.showQuestion(p.err, p.notice, q, true, len(q.Changes))
		return nil
	}
	var text strings.Builder
	p.showQuestion(&text, draw.Screen{Width: p.notice.Width}, q, true, len(q.Changes))
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text.String()), os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fault.New(fault.Unavailable, "pager %q failed: %v", words[0], err)
	}
	return nil
}

// choose asks about every file, or about every place of the only one.
func (p *program) choose(ctx context.Context, lines <-chan string, q tool.Question) (*tool.Answer, error) {
	a := &tool.Answer{Approve: true}
	if len(q.Changes) == 1 {
		c := q.Changes[0]
		hunks := splitHunks(c.Diff)
		if len(hunks) < 2 {
			return nil, fault.New(fault.Invalid, "this change has only one part: answer y or n")
		}
		var keep []int
		for i, h := range hunks {
			var b strings.Builder
			p.notice.Diff(&b, h)
			yes, ok := p.yes(ctx, lines, fmt.Sprintf("%sApply part %d of %d?", b.String(), i+1, len(hunks)))
			if !ok {
				return nil, nil
			}
			if yes {
				keep = append(keep, i+1)
			}
		}
		if len(keep) == 0 {
			return &tool.Answer{}, nil
		}
		a.Hunks = map[string][]int{c.Path: keep}
		return a, nil
	}
	for i, c := range q.Changes {
		var b strings.Builder
		p.notice.Change(&b, c, true)
		yes, ok := p.yes(ctx, lines, fmt.Sprintf("%sApply file %d of %d?", b.String(), i+1, len(q.Changes)))
		if !ok {
			return nil, nil
		}
		if yes {
			a.Paths = append(a.Paths, c.Path)
		}
	}
	if len(a.Paths) == 0 {
		return &tool.Answer{}, nil
	}
	return a, nil
}

// yes asks for y or n; ok is false when nobody answers.
func (p *program) yes(ctx context.Context, lines <-chan string, text string) (yes, ok bool) {
	for {
		fmt.Fprintf(p.err, "%s %s ", text, p.notice.Bold("[y/n]"))
		var line string
		select {
		case <-ctx.Done():
			return false, false
		case line, ok = <-lines:
			if !ok {
				return false, false
			}
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, true
		case "n", "no":
			return false, true
		}
	}
}

// splitHunks cuts a unified diff at its places.
func splitHunks(diff string) []string {
	var out []string
	for line := range strings.SplitAfterSeq(diff, "\n") {
		if strings.HasPrefix(line, "@@") {
			out = append(out, "")
		}
		if len(out) > 0 {
			out[len(out)-1] += line
		}
	}
	return out
}

// editArgs lets the person change the arguments in an editor, shows what would
// become of them, and asks.
func (p *program) editArgs(ctx context.Context, s *Session, lines <-chan string, q tool.Question) (*tool.Answer, error) {
	args, err := p.inEditor(ctx, q.Args)
	if err != nil || args == nil {
		return nil, err
	}
	a := &tool.Answer{Approve: true, Args: args, Revision: q.Revision}
	next, err := s.Door.Rehearse(ctx, access.Terminal(), q.ID, *a)
	if err != nil {
		return nil, err
	}
	a.Plan = next.Plan
	p.showQuestion(p.err, p.notice, next, true, shownFiles)
	if yes, ok := p.yes(ctx, lines, "Apply with these arguments?"); !ok || !yes {
		return nil, nil
	}
	return a, nil
}

// inEditor opens JSON in the person's editor; nil means that nothing changed.
func (p *program) inEditor(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		return nil, fault.Fix(fault.Unavailable, "set $EDITOR, or run: lore approvals edit ID --args JSON", "no editor is configured")
	}
	f, err := os.CreateTemp("", "lore-*.json")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it holds nothing that is not in state.db
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		return nil, err
	}
	pretty, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(append(pretty, '\n')); err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	words := strings.Fields(editor)
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], f.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fault.New(fault.Unavailable, "editor %q failed: %v", editor, err)
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(b)) == string(pretty) {
		return nil, nil
	}
	return b, nil
}
