package process

import (
	"testing"

	"lore/internal/tool/access"
)

// tree makes a table of processes: each line is pid, parent, name and words.
type row struct {
	pid, parent int
	name        string
	args        []string
}

func tree(rows ...row) Table {
	return func(pid int) (Info, bool) {
		for _, r := range rows {
			if r.pid == pid {
				return Info{Process: access.Process{PID: pid, Start: uint64(pid) * 10, Name: r.name}, Parent: r.parent, Args: r.args}, true
			}
		}
		return Info{}, false
	}
}

func argv(w ...string) []string { return w }

func pids(list []access.Process) (out []int) {
	for _, p := range list {
		out = append(out, p.PID)
	}
	return out
}

func TestWhoMayAnswer(t *testing.T) {
	system := []row{{1, 0, "systemd", nil}, {2, 1, "systemd", argv("systemd", "--user")}, {3, 2, "gnome-terminal-", nil}, {4, 3, "bash", argv("bash")}}
	for _, c := range []struct {
		name    string
		rows    []row
		asks    int // the parent of lore mcp, or the process that called
		program []int
		answers int // the process that answers
		allowed bool
	}{
		{"a person in another tab", []row{{10, 4, "claude", nil}, {5, 3, "zsh", argv("-zsh")}, {20, 5, "lore", nil}}, 10, []int{10}, 20, true},
		{"the agent, in a shell of its own", []row{{10, 4, "claude", nil}, {11, 10, "bash", argv("bash", "-c", "lore approvals approve")}, {20, 11, "lore", nil}}, 10, []int{10}, 20, false},
		{"the agent, through a terminal that it made", []row{{10, 4, "claude", nil}, {11, 10, "script", nil}, {12, 11, "bash", argv("bash", "-i")}, {20, 12, "lore", nil}}, 10, []int{10}, 20, false},
		{"the agent, in a new session", []row{{10, 4, "node", nil}, {11, 10, "setsid", nil}, {20, 11, "lore", nil}}, 10, []int{10}, 20, false},
		{"the person in the same shell, after the agent ended", []row{{20, 4, "lore", nil}}, 10, nil, 20, true},
		{"the person in the same shell, while the agent sleeps", []row{{10, 4, "claude", nil}, {20, 4, "lore", nil}}, 10, []int{10}, 20, true},
		{"an editor: the extension asks, the person answers in its terminal", []row{{30, 2, "code", nil}, {31, 30, "code", nil}, {32, 30, "code", nil}, {33, 32, "bash", argv("/bin/bash", "--init-file", "x")}, {20, 33, "lore", nil}}, 31, []int{31}, 20, true},
		{"an editor: the extension asks and answers", []row{{30, 2, "code", nil}, {31, 30, "code", nil}, {32, 31, "sh", argv("/bin/sh", "-c", "lore")}, {20, 32, "lore", nil}}, 31, []int{31}, 20, false},
		{"a desktop app that starts Lore through a shell", []row{{10, 2, "claude-desktop", nil}, {11, 10, "sh", argv("sh", "-c", "cd /; lore mcp")}, {12, 10, "bash", argv("bash", "-c", "lore approvals approve")}, {20, 12, "lore", nil}}, 11, []int{11, 10}, 20, false},
		{"an app that starts Lore through npx", []row{{10, 2, "cursor", nil}, {11, 10, "npm exec lore", nil}, {12, 11, "sh", argv("sh", "-c", "lore mcp")}, {20, 4, "lore", nil}}, 12, []int{12, 11, 10}, 20, true},
		{"a person's own command", []row{{20, 4, "lore", nil}}, 4, nil, 20, true},
		{"a person's own command in the terminal of an editor", []row{{32, 2, "code", nil}, {33, 32, "bash", argv("/bin/bash", "--init-file", "x", "-i")}, {20, 33, "lore", nil}}, 33, nil, 20, true},
		{"a person's own script", []row{{10, 4, "bash", argv("bash", "tidy.sh")}, {20, 10, "lore", nil}}, 10, nil, 20, true},
		{"a person's Makefile", []row{{10, 4, "make", nil}, {11, 10, "sh", argv("/bin/sh", "-c", "lore delete x")}, {20, 11, "lore", nil}}, 11, nil, 20, true},
		{"tmux: one pane asks, the person answers in another", []row{{6, 1, "tmux: server", nil}, {7, 6, "zsh", argv("-zsh")}, {8, 6, "zsh", argv("-zsh")}, {10, 7, "codex", nil}, {20, 8, "lore", nil}}, 10, []int{10}, 20, true},
		{"over ssh", []row{{6, 1, "sshd-session", nil}, {7, 6, "bash", argv("-bash")}, {10, 7, "aider", nil}, {20, 7, "lore", nil}}, 10, []int{10}, 20, true},
		{"a job of cron", []row{{6, 1, "cron", nil}, {7, 6, "sh", argv("/bin/sh", "-c", "lore move")}, {20, 4, "lore", nil}}, 7, nil, 20, true},
		{"nothing is known", nil, 99, nil, 98, true},
	} {
		table := tree(append(append([]row(nil), system...), c.rows...)...)
		program := table.Program(c.asks)
		if got := pids(program); !equal(got, c.program) {
			t.Errorf("%s: the program is %v, want %v", c.name, got, c.program)
		}
		if allowed := !access.ComesFrom(table.Line(c.answers), program); allowed != c.allowed {
			t.Errorf("%s: allowed is %v", c.name, allowed)
		}
	}
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestCircle: a table that lies does not keep us for ever.
func TestCircle(t *testing.T) {
	table := tree(row{10, 11, "sh", argv("sh", "-c", "x")}, row{11, 10, "sh", argv("sh", "-c", "x")})
	if got := table.Program(10); got != nil {
		t.Error(got)
	}
	if got := table.Line(10); len(got) != deepest {
		t.Error(len(got))
	}
}
