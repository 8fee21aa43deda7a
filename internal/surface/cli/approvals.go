package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lore/internal/access"
	"lore/internal/fault"
	"lore/internal/policy"
	"lore/internal/surface/draw"
	"lore/internal/tool"
)

func (p *program) approvalsCommand() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error {
		return p.withRegistry(cmd.Context(), func(s *Session) error { return p.listApprovals(cmd.Context(), s) })
	}
	cmd := &cobra.Command{
		Use: "approvals", Short: "See and answer what waits for a person", Args: noWords, RunE: list,
		Long: `Whatever changes a note is shown to a person before it happens. What nobody has
answered yet waits here, for a day. An id may be shortened as long as it is clear,
and left out when only one question waits.

Answering needs a terminal, on which you confirm. A program cannot answer what it
asked for itself. With a PIN (lore approvals pin), every approval asks for it.`,
		Example: "lore approvals\nlore approvals show pending-k3f9\nlore approvals approve pending-k3f9\nlore approvals deny pending-k3f9 --word \"not in this folder\"",
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List what waits", Args: noWords, RunE: list},
		&cobra.Command{
			Use: "show [ID]", Short: "Show one with its diff", Args: words(0, 1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return p.withRegistry(cmd.Context(), func(s *Session) error {
					q, err := theQuestion(cmd.Context(), s, args)
					if err != nil {
						return err
					}
					if p.g.JSON {
						return p.encode(q)
					}
					fmt.Fprintf(p.out, "%s  %s\n", q.ID, q.State)
					p.showQuestion(p.out, p.screen, q, true, len(q.Changes))
					return nil
				})
			},
		},
		p.approveCommand(), p.denyCommand(), p.editCommand(), p.rulesCommand(), p.pinCommand(),
	)
	return cmd
}

// withRegistry opens the vault for a command that asks no question of it.
func (p *program) withRegistry(ctx context.Context, f func(*Session) error) error {
	return p.withSession(ctx, OpenOptions{Share: true, Patient: true}, f)
}

func (p *program) listApprovals(ctx context.Context, s *Session) error {
	list, err := s.Door.Questions(ctx, tool.Pending, tool.Approved, tool.Running)
	if err != nil {
		return err
	}
	if p.g.JSON {
		if list == nil {
			list = []tool.Question{}
		}
		return p.encode(struct {
			Approvals []tool.Question `json:"approvals"`
		}{list})
	}
	if len(list) == 0 {
		p.say("nothing waits for an answer")
		return nil
	}
	var rows [][]string
	for _, q := range list {
		rows = append(rows, []string{shortID(q.ID), string(q.State), string(q.Who.Kind), string(q.Risk), q.Asked.Local().Format("15:04"), q.Preview.Summary})
	}
	var b strings.Builder
	p.screen.Table(&b, []string{"id", "state", "asked by", "risk", "at", "what"}, rows)
	_, err = io.WriteString(p.out, b.String())
	return err
}

func (p *program) approveCommand() *cobra.Command {
	var files, hunks []string
	var always string
	var days int
	cmd := &cobra.Command{
		Use: "approve [ID]", Short: "Let it happen, exactly as it was shown", Args: words(0, 1),
		Example: "lore approvals approve pending-k3f9\nlore approvals approve pending-k3f9 --file Tea.md --file Coffee.md\nlore approvals approve pending-k3f9 --hunks 1,3\nlore approvals approve pending-k3f9 --always 'Journal/**'",
		RunE: func(cmd *cobra.Command, args []string) error {
			a := tool.Answer{Approve: true, Paths: files}
			return p.answer(cmd, args, func(q tool.Question) (tool.Answer, error) {
				var err error
				if a.Hunks, err = hunksOf(q, hunks); err != nil {
					return a, err
				}
				if always != "" {
					a.Always = &policy.Rule{Paths: always, Until: time.Now().AddDate(0, 0, days)}
				}
				return a, nil
			})
		},
	}
	cmd.Flags().StringArrayVar(&files, "file", nil, "only the edits of this file; may stand several times")
	cmd.Flags().StringSliceVar(&hunks, "hunks", nil, "only these places of the diff: 1,3 or Tea.md:1,3")
	cmd.Flags().StringVar(&always, "always", "", "from now on, allow this tool on paths that fit the pattern")
	cmd.Flags().IntVar(&days, "days", 30, "how long --always holds")
	return cmd
}

// hunksOf reads "1", "3" for the only file, or "Tea.md:1", "3".
func hunksOf(q tool.Question, list []string) (map[string][]int, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := map[string][]int{}
	file := ""
	if len(q.Changes) == 1 {
		file = q.Changes[0].Path
	}
	for _, h := range list {
		if name, n, ok := strings.Cut(h, ":"); ok {
			file, h = name, n
		}
		n, err := strconv.Atoi(strings.TrimSpace(h))
		if err != nil || file == "" {
			return nil, fault.Field("hunks", "write 1,3 or Tea.md:1,3", "%q names no place", h)
		}
		out[file] = append(out[file], n)
	}
	return out, nil
}

func (p *program) denyCommand() *cobra.Command {
	var word string
	cmd := &cobra.Command{
		Use: "deny [ID]", Short: "Say no; nothing changes", Args: words(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.answer(cmd, args, func(tool.Question) (tool.Answer, error) { return tool.Answer{Word: word}, nil })
		},
	}
	cmd.Flags().StringVar(&word, "word", "", "what to tell the one who asked")
	return cmd
}

func (p *program) editCommand() *cobra.Command {
	var raw string
	var yes bool
	cmd := &cobra.Command{
		Use: "edit [ID]", Short: "Change the arguments, look at the new plan, and approve it", Args: words(0, 1),
		Long: `Opens the arguments in $EDITOR, or takes them from --args, shows what they would
do, and asks. With --yes the new plan is not shown first; it is carried out, unless
it destroys more than what was asked for.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.answer(cmd, args, func(q tool.Question) (tool.Answer, error) {
				a := tool.Answer{Approve: true, Args: json.RawMessage(raw)}
				if raw == "" {
					edited, err := p.inEditor(cmd.Context(), q.Args)
					if err != nil {
						return a, err
					}
					if edited == nil {
						return a, fault.New(fault.Cancelled, "the arguments were not changed; it still waits")
					}
					a.Args = edited
				}
				a.Revision = q.Revision
				var err error
				a.Plan, err = p.confirmed(cmd, q, a, yes)
				return a, err
			})
		},
	}
	cmd.Flags().StringVar(&raw, "args", "", "the new arguments, as one JSON object")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask again")
	return cmd
}

// confirmed shows what edited arguments would do and asks about it. It returns
// the plan that was agreed to, nothing with --yes.
func (p *program) confirmed(cmd *cobra.Command, q tool.Question, a tool.Answer, yes bool) (string, error) {
	if yes {
		return "", nil
	}
	if !draw.AtTerminal(cmd.InOrStdin()) {
		return "", fault.Fix(fault.Invalid, "add --yes", "there is no terminal to show the new plan on")
	}
	next, err := p.session.Door.Rehearse(cmd.Context(), access.Terminal(), q.ID, a)
	if err != nil {
		return "", err
	}
	p.showQuestion(p.err, p.notice, next, true, shownFiles)
	if ok, there := p.yes(cmd.Context(), p.typed(cmd.InOrStdin()), "With these arguments?"); !ok || !there {
		return "", fault.New(fault.Cancelled, "not answered; it still waits")
	}
	return next.Plan, nil
}

// theQuestion is the one that the words name, or the only one that waits.
func theQuestion(ctx context.Context, s *Session, args []string) (tool.Question, error) {
	if len(args) > 0 {
		return s.Door.Question(ctx, args[0])
	}
	list, err := s.Door.Questions(ctx, tool.Pending)
	switch {
	case err != nil:
		return tool.Question{}, err
	case len(list) == 0:
		return tool.Question{}, fault.New(fault.NotFound, "nothing waits for an answer")
	case len(list) > 1:
		return tool.Question{}, fault.Fix(fault.Ambiguous, "name one; lore approvals lists them", "%d questions wait", len(list))
	}
	return list[0], nil
}

// answer gives an answer to a question and shows what came of it.
func (p *program) answer(cmd *cobra.Command, args []string, make func(tool.Question) (tool.Answer, error)) error {
	ctx := cmd.Context()
	return p.withRegistry(ctx, func(s *Session) error {
		p.session = s
		q, err := theQuestion(ctx, s, args)
		if err != nil {
			return err
		}
		a, err := make(q)
		if err != nil {
			return err
		}
		if err := p.askPerson(ctx, answerPrompt(q, a)); err != nil {
			return err
		}
		a.Revision = q.Revision
		res, err := s.Door.Answer(ctx, access.Terminal(), q.ID, a)
		if err != nil {
			return err
		}
		if !a.Approve {
			if p.g.JSON {
				return p.encode(res)
			}
			p.say("denied; nothing was changed")
			return nil
		}
		return p.conclude(ctx, s, cmd.InOrStdin(), res)
	})
}

// answerPrompt is what a person confirms on the terminal, whatever else the
// command prints and to whom.
func answerPrompt(q tool.Question, a tool.Answer) string {
	verb := "Deny"
	if a.Approve {
		verb = "Approve"
	}
	text := fmt.Sprintf("%s: %s", verb, draw.OneLine(q.Preview.Summary))
	if a.Always != nil {
		text += fmt.Sprintf(", and from now on everything that %s does on %s", q.Tool, cmp.Or(a.Always.Paths, "every note"))
	}
	return text + "?"
}

func (p *program) rulesCommand() *cobra.Command {
	var forget string
	cmd := &cobra.Command{
		Use: "rules", Short: "List the standing answers, or take one back", Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				if forget != "" {
					if err := p.askPerson(cmd.Context(), "Remove the rule "+draw.OneLine(forget)+"?"); err != nil {
						return err
					}
					return s.Door.Forget(cmd.Context(), access.Terminal(), forget)
				}
				return p.listRules(cmd.Context(), s)
			})
		},
	}
	cmd.Flags().StringVar(&forget, "forget", "", "the id of the answer to take back")
	return cmd
}

func (p *program) listRules(ctx context.Context, s *Session) error {
	rules, err := s.Door.Rules(ctx)
	if err != nil {
		return err
	}
	if p.g.JSON {
		if rules == nil {
			rules = []policy.Rule{}
		}
		return p.encode(struct {
			Rules []policy.Rule `json:"rules"`
		}{rules})
	}
	if len(rules) == 0 {
		p.say("there are no standing answers")
		return nil
	}
	var rows [][]string
	for _, r := range rules {
		rows = append(rows, []string{shortID(r.ID), string(r.Verdict), r.Tool, r.Paths, r.Until.Local().Format(time.DateOnly)})
	}
	var b strings.Builder
	p.screen.Table(&b, []string{"id", "answer", "tool", "paths", "until"}, rows)
	_, err = io.WriteString(p.out, b.String())
	return err
}

func (p *program) auditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Check the record of everything that was done", Args: noWords,
		Long: `Every call is written to a log in which each entry is sealed together with the
one before it. Whoever changes, removes or reorders an entry breaks the chain.
Verifying also compares the log with the records in state.db, in both
directions. Someone who has the key of the log and can write all files can
forge all of them.`,
	}
	cmd.AddCommand(&cobra.Command{
		Use: "verify", Short: "Walk the whole log and name the first bad entry", Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				v, err := s.Verify(cmd.Context())
				if err != nil {
					return err
				}
				if p.g.JSON {
					out := map[string]any{"success": true, "entries": v.Entries}
					if !v.Accepted.IsZero() {
						out["loss_accepted"] = v.Accepted
					}
					return p.encode(out)
				}
				fmt.Fprintf(p.out, "%s, all of them sound\n", plural(v.Entries, "entry", "entries"))
				if !v.Accepted.IsZero() {
					fmt.Fprintf(p.out, "A loss of records was accepted on %s\n", v.Accepted.Local().Format("2006-01-02 15:04"))
				}
				return nil
			})
		},
	})
	cmd.AddCommand(p.acceptCommand())
	return cmd
}

// acceptCommand is for the person at the terminal alone: whoever runs commands
// for a model cannot say yes.
func (p *program) acceptCommand() *cobra.Command {
	return &cobra.Command{
		Use: "accept", Short: "Accept that records were lost", Args: noWords,
		Long: `After state.db was lost, or replaced by an older copy, verifying fails: the log
knows of records that are gone. If you know why they are gone, accept the loss.
It is written to the log, and verifying passes from then on. A log or a record
that was changed cannot be accepted.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.g.JSON || !p.notice.Terminal || !draw.AtTerminal(cmd.InOrStdin()) {
				return fault.Fix(fault.Denied, "run it in a terminal", "accepting a loss needs a person at a terminal")
			}
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				if _, err := s.Verify(cmd.Context()); err != nil {
					fmt.Fprintln(p.out, err)
				}
				fmt.Fprint(p.out, "Type yes to accept the loss: ")
				answer, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n') // without an answer it is no
				if strings.TrimSpace(answer) != "yes" {
					return fault.New(fault.Denied, "the loss was not accepted")
				}
				n, err := s.AcceptLoss(cmd.Context())
				if err != nil {
					return err
				}
				fmt.Fprintf(p.out, "Accepted the loss of %s\n", plural(n, "record", "records"))
				return nil
			})
		},
	}
}

// plural is [count] for words that do not take an s.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
