package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository makes a repository with one commit.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	put(t, dir, "Tea.md", "green\n")
	put(t, dir, "Milk.md", "white\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "first: tea"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o755)); err != nil {
		t.Fatal(err)
	}
}

func TestAsksGit(t *testing.T) {
	dir := repository(t)
	put(t, dir, "Tea.md", "black\n")
	put(t, dir, "New.md", "new\n")
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if b := r.Branch(t.Context()); b != "main" {
		t.Errorf("branch %q", b)
	}
	list, err := r.Status(t.Context())
	if err != nil || !slices.Equal(list, []Change{{" M", "Tea.md", ""}, {"??", "New.md", ""}}) {
		t.Errorf("%q %v", list, err)
	}
	commits, err := r.Log(t.Context(), "", 10)
	if err != nil || len(commits) != 1 || commits[0].Subject != "first: tea" || commits[0].Author != "A" || len(commits[0].Hash) != 40 {
		t.Errorf("%q %v", commits, err)
	}
	files, err := r.Changed(t.Context(), "HEAD")
	if err != nil || !slices.Equal(files, []string{"Tea.md"}) {
		t.Errorf("%q %v", files, err)
	}
	diff, err := r.Diff(t.Context(), "", files)
	if err != nil || !strings.Contains(diff, "-green\n+black\n") {
		t.Errorf("%s %v", diff, err)
	}
	if _, err := r.Diff(t.Context(), "nowhere", files); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(t.Context(), dir)
	if why := Missing(err); why != "the vault is not a Git repository" {
		t.Errorf("%v", err)
	}
	put(t, dir, ".git", "gitdir: /elsewhere\n")
	_, err = Open(t.Context(), dir)
	if why := Missing(err); !strings.Contains(why, "another folder") {
		t.Errorf("%v", err)
	}
	dir = repository(t)
	t.Setenv("PATH", t.TempDir())
	_, err = Open(t.Context(), dir)
	if why := Missing(err); why != "git is not installed on this computer" {
		t.Errorf("%v", err)
	}
}

// TestNothingRuns: whatever the settings and files of a repository name, none of
// it runs, and nothing outside of the folder is shown.
func TestNothingRuns(t *testing.T) {
	for _, c := range []struct{ name, config, attributes string }{
		{"filter", "[filter \"evil\"]\n\tclean = TOUCH\n\tsmudge = TOUCH\n\trequired = true\n", "* filter=evil\n"},
		{"process", "[filter \"evil\"]\n\tprocess = TOUCH\n", "* filter=evil\n"},
		{"dotted filter", "[filter \"a.b.c\"]\n\tclean = TOUCH\n", "* filter=a.b.c\n"},
		{"diff driver", "[diff \"evil\"]\n\tcommand = TOUCH\n\ttextconv = TOUCH\n", "* diff=evil\n"},
		{"external diff", "[diff]\n\texternal = TOUCH\n", ""},
		{"fsmonitor", "[core]\n\tfsmonitor = TOUCH\n", ""},
		{"hooks", "[core]\n\thooksPath = HOOKS\n", ""},
		{"pager", "[core]\n\tpager = TOUCH\n[pager]\n\tstatus = true\n\tlog = TOUCH\n\tdiff = TOUCH\n", ""},
		{"signature", "[log]\n\tshowSignature = true\n[gpg]\n\tprogram = TOUCH\n", ""},
		{"alias", "[alias]\n\tstatus = !TOUCH\n\tlog = !TOUCH\n\tdiff = !TOUCH\n", ""},
		{"remote", "[extensions]\n\tpartialClone = evil\n[remote \"evil\"]\n\turl = \"ext::TOUCH\"\n\tpromisor = true\n[protocol]\n\tallow = always\n", ""},
		{"worktree", "[core]\n\tworktree = OUTSIDE\n", ""},
		{"included", "[include]\n\tpath = HOOKS/more\n", "* filter=evil\n"},
		{"submodule", "[submodule]\n\trecurse = true\n[status]\n\tsubmoduleSummary = true\n[diff]\n\tsubmodule = log\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, around := repository(t), t.TempDir()
			ran := filepath.Join(around, "ran")
			touch := filepath.Join(around, "touch.sh")
			put(t, around, "touch.sh", "#!/bin/sh\ntouch "+ran+"\ncat\n")
			put(t, around, "outside/Tea.md", "secret outside\n")
			for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "post-checkout", "pre-commit", "reference-transaction"} {
				put(t, around, "hooks/"+hook, "#!/bin/sh\ntouch "+ran+"\n")
				put(t, dir, ".git/hooks/"+hook, "#!/bin/sh\ntouch "+ran+"\n")
			}
			fill := strings.NewReplacer("TOUCH", touch, "HOOKS", filepath.Join(around, "hooks"), "OUTSIDE", filepath.Join(around, "outside"))
			put(t, around, "hooks/more", fill.Replace("[filter \"evil\"]\n\tclean = TOUCH\n"))
			old, err := os.ReadFile(filepath.Join(dir, ".git/config"))
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, ".git/config", string(old)+fill.Replace(c.config))
			if c.attributes != "" {
				put(t, dir, ".gitattributes", c.attributes)
			}
			put(t, dir, "Tea.md", "changed\n")
			r, err := Open(t.Context(), dir)
			if err == nil {
				list, statusErr := r.Status(t.Context())
				_, logErr := r.Log(t.Context(), "Tea.md", 5)
				files, changedErr := r.Changed(t.Context(), "")
				diff, diffErr := r.Diff(t.Context(), "HEAD", []string{"Tea.md"})
				if err := errors.Join(statusErr, logErr, changedErr, diffErr); err != nil {
					t.Error(err)
				}
				if !slices.Contains(files, "Tea.md") || !strings.Contains(diff, "+changed") || strings.Contains(diff, "secret") {
					t.Errorf("%q %q %s", list, files, diff)
				}
			} else {
				t.Error(err)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("a program of the repository ran")
			}
		})
	}
}
