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

	"lore/internal/fault"
	"lore/internal/surface/cli/argv"
	"lore/internal/surface/cli/draw"
	"lore/internal/tool"
	"lore/internal/tool/access"
	"lore/internal/tool/policy"
	"lore/internal/workspace"
)

func (p *program) approvalsCommand() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error {
		return p.withRegistry(cmd.Context(), func(s *Session) error { return p.listApprovals(cmd.Context(), s) })
	}
	cmd := &cobra.Command{
		Use: "approvals", Short: "Review pending changes", Args: argv.None, RunE: list,
		Long: `Lists the changes that are waiting for your approval. A pending change expires after
a day. You can shorten its ID, and leave it out when only one change is pending.

To approve a change, you confirm it in a terminal. A program cannot approve its own
request. If you set a PIN (lore approvals pin), every approval needs it.`,
		Example: "lore approvals                            list pending changes\nlore approvals show pending-k3f9          show the diff\nlore approvals approve pending-k3f9       apply the change\nlore approvals deny pending-k3f9 --message \"not in this folder\"",
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List pending changes", Args: argv.None, RunE: list},
		&cobra.Command{
			Use: "show [ID]", Short: "Show a pending change and its diff", Args: argv.Between(0, 1), ValidArgsFunction: p.completeApproval,
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
	return p.withSession(ctx, workspace.Options{Mode: workspace.Insist}, f)
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
		p.say("No pending approvals")
		return nil
	}
	var rows [][]string
	for _, q := range list {
		rows = append(rows, []string{shortID(q.ID), string(q.State), string(q.Who.Kind), string(q.Risk), q.Asked.Local().Format("15:04"), q.Preview.Summary})
	}
	var b strings.Builder
	p.screen.Table(&b, []string{"id", "state", "requested by", "risk", "time", "change"}, rows)
	_, err = io.WriteString(p.out, b.String())
	return err
}

func (p *program) approveCommand() *cobra.Command {
	var files, hunks []string
	var always string
	var days int
	cmd := &cobra.Command{
		Use: "approve [ID]", Short: "Apply a pending change exactly as shown", Args: argv.Between(0, 1), ValidArgsFunction: p.completeApproval,
		Example: "lore approvals approve pending-k3f9                  all of it\nlore approvals approve pending-k3f9 --hunks 1,3      only two parts of the diff\nlore approvals approve pending-k3f9 --file Tea.md --file Coffee.md\nlore approvals approve pending-k3f9 --always 'Journal/**'",
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
	cmd.Flags().StringArrayVar(&files, "file", nil, "apply only the changes to this file (repeatable)")
	cmd.Flags().StringSliceVar(&hunks, "hunks", nil, "apply only these parts of the diff: 1,3 or Tea.md:1,3")
	cmd.Flags().StringVar(&always, "always", "", "also allow this tool on matching paths from now on")
	cmd.Flags().IntVar(&days, "days", 30, "days until --always expires")
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
			return nil, fault.Field("hunks", "use 1,3 or Tea.md:1,3", "%q is not a part of the diff", h)
		}
		out[file] = append(out[file], n)
	}
	return out, nil
}

func (p *program) denyCommand() *cobra.Command {
	var word string
	cmd := &cobra.Command{
		Use: "deny [ID]", Short: "Deny a pending change; nothing is changed", Args: argv.Between(0, 1), ValidArgsFunction: p.completeApproval,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.answer(cmd, args, func(tool.Question) (tool.Answer, error) { return tool.Answer{Word: word}, nil })
		},
	}
	cmd.Flags().StringVar(&word, "message", "", "message to the app or model that requested the change")
	cmd.Flags().StringVar(&word, "word", "", "older name of --message")
	_ = cmd.Flags().MarkHidden("word") // the flag exists
	return cmd
}

func (p *program) editCommand() *cobra.Command {
	var raw string
	var yes bool
	cmd := &cobra.Command{
		Use: "edit [ID]", Short: "Edit a pending request, then approve it", Args: argv.Between(0, 1), ValidArgsFunction: p.completeApproval,
		Long: `Opens the arguments of a request in $EDITOR (or takes them from --args), shows the
new change, and asks you to approve it. With --yes, the new change is applied
without showing it, unless it destroys more than the original request.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.answer(cmd, args, func(q tool.Question) (tool.Answer, error) {
				a := tool.Answer{Approve: true, Args: json.RawMessage(raw)}
				if raw == "" {
					edited, err := p.inEditor(cmd.Context(), q.Args)
					if err != nil {
						return a, err
					}
					if edited == nil {
						return a, fault.New(fault.Cancelled, "the arguments were not edited; the request is still pending")
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
	cmd.Flags().StringVar(&raw, "args", "", "new arguments, as one JSON object")
	cmd.Flags().BoolVar(&yes, "yes", false, "apply without showing the new change")
	return cmd
}

// confirmed shows what edited arguments would do and asks about it. It returns
// the plan that was agreed to, nothing with --yes.
func (p *program) confirmed(cmd *cobra.Command, q tool.Question, a tool.Answer, yes bool) (string, error) {
	if yes {
		return "", nil
	}
	if !draw.AtTerminal(cmd.InOrStdin()) {
		return "", fault.Fix(fault.Invalid, "add --yes", "the new change cannot be shown without a terminal")
	}
	next, err := p.session.Door.Rehearse(cmd.Context(), access.Terminal(), q.ID, a)
	if err != nil {
		return "", err
	}
	p.showQuestion(p.err, p.notice, next, true, shownFiles)
	if ok, there := p.yes(cmd.Context(), p.typed(cmd.InOrStdin()), "Apply with these arguments?"); !ok || !there {
		return "", fault.New(fault.Cancelled, "not approved; the request is still pending")
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
		return tool.Question{}, fault.New(fault.NotFound, "there are no pending approvals")
	case len(list) > 1:
		return tool.Question{}, fault.Fix(fault.Ambiguous, "give an ID; lore approvals lists them", "%d changes are pending", len(list))
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
			p.say("Denied. Nothing was changed.")
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
		text += fmt.Sprintf(", and from now on allow %s on %s without asking", q.Tool, cmp.Or(a.Always.Paths, "every note"))
	}
	return text + "?"
}

func (p *program) rulesCommand() *cobra.Command {
	var forget string
	cmd := &cobra.Command{
		Use: "rules", Short: "List the rules, or remove one", Args: argv.None,
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
	cmd.Flags().StringVar(&forget, "forget", "", "remove the rule with this ID")
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
		p.say("No rules")
		return nil
	}
	var rows [][]string
	for _, r := range rules {
		until := ""
		if !r.Until.IsZero() {
			until = r.Until.Local().Format(time.DateOnly)
		}
		rows = append(rows, []string{shortID(r.ID), string(r.Verdict), r.Tool, r.Paths, until})
	}
	var b strings.Builder
	p.screen.Table(&b, []string{"id", "rule", "tool", "paths", "expires"}, rows)
	_, err = io.WriteString(p.out, b.String())
	return err
}

func (p *program) auditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Verify the audit log", Args: argv.None,
		Long: `Verifies the audit log, which records every call. Each entry is chained to the one
before it, so changing, removing or reordering entries breaks the chain.
Verification also compares the log with the records in state.db, in both directions.
Someone who has the log's key and can write to all of Lore's files can forge both the
log and the records.`,
		Example: "lore audit verify    check the whole log\nlore audit accept    accept lost records, if you know why they are lost",
	}
	cmd.AddCommand(&cobra.Command{
		Use: "verify", Short: "Check the whole log and report the first bad entry", Args: argv.None,
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
				fmt.Fprintf(p.out, "%s verified\n", plural(v.Entries, "entry", "entries"))
				if !v.Accepted.IsZero() {
					fmt.Fprintf(p.out, "Lost records were accepted on %s\n", v.Accepted.Local().Format("2006-01-02 15:04"))
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
		Use: "accept", Short: "Accept lost records", Args: argv.None,
		Long: `Accepts that records were lost. When state.db is lost or replaced by an older copy,
verification fails, because the log lists records that are missing. If you know why
they are missing, accept that: Lore writes it to the log, and verification passes
again. A log or a record that was changed cannot be accepted.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.g.JSON || !p.notice.Terminal || !draw.AtTerminal(cmd.InOrStdin()) {
				return fault.Fix(fault.Denied, "run the command in a terminal", "only a person at a terminal can accept lost records")
			}
			return p.withRegistry(cmd.Context(), func(s *Session) error {
				if _, err := s.Verify(cmd.Context()); err != nil {
					fmt.Fprintln(p.out, err)
				}
				fmt.Fprint(p.out, "Type yes to accept the lost records: ")
				answer, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n') // without an answer it is no
				if strings.TrimSpace(answer) != "yes" {
					return fault.New(fault.Denied, "the lost records were not accepted")
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
