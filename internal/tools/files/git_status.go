package files

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"lore/internal/fault"
	"lore/internal/tool"
	"lore/internal/tool/paging"
	"lore/internal/tools/files/git"
	"lore/internal/tools/toolkit"
	"lore/internal/vault/visibility"
)

// GitStatus: Show the state of the Git repository: changed files, recent
// commits, or a diff. Reads only.
type GitStatus struct {
	// What to show.
	Show string `json:"show,omitempty" default:"status" enum:"status,log,diff" word:"true"`
	// Only this file or folder.
	Path string `json:"path,omitempty"`
	// For diff: compare with this commit.
	Ref string `json:"ref,omitempty"`
	// Max commits, or lines of the diff.
	Limit int `json:"limit,omitempty" default:"200" min:"1" max:"5000"`
}

// Help is the text for people.
func (GitStatus) Help() tool.Help {
	return tool.Help{
		Short: "Show changed files, commits or a diff of the vault's Git repository",
		Long:  "Runs git without hooks, external programs or network access, and changes nothing.",
		Flags: map[string]string{
			"show":  "what to show",
			"path":  "only this file or folder",
			"ref":   "for a diff: the commit to compare with (default: what is staged)",
			"limit": "maximum number of commits, or of lines of a diff",
		},
	}
}

// Repository is the state of a Git repository.
type Repository struct {
	// Repository says whether the vault is one.
	Repository bool   `json:"repository"`
	Branch     string `json:"branch,omitempty"`
	// Note says why there is nothing to show.
	Note    string      `json:"note,omitempty"`
	Changes []GitChange `json:"changes,omitempty"`
	Commits []GitCommit `json:"commits,omitempty"`
	Diff    string      `json:"diff,omitempty"`
	More    string      `json:"more,omitempty"`
}

// GitChange is a file that differs from the last commit.
type GitChange struct {
	// State is as git status --short writes it: " M", "??".
	State string `json:"state"`
	Path  string `json:"path"`
	// From is the old path of a renamed file.
	From string `json:"from,omitempty"`
}

// GitCommit is one commit.
type GitCommit struct {
	Hash    string `json:"hash"`
	Date    string `json:"date"`
	Author  string `json:"author"`
	Subject string `json:"subject"`
}

var gitRef = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./~^@{}-]*$`)

// Run asks git.
func (in GitStatus) Run(ctx context.Context, env Env) (Repository, error) {
	if in.Ref != "" && !gitRef.MatchString(in.Ref) {
		return Repository{}, fault.Field("ref", "give a branch, a tag or a commit such as HEAD~1", "%q is not the name of a commit", in.Ref)
	}
	only, err := env.folderAt(in.Path)
	if err != nil {
		return Repository{}, err
	}
	repo, err := git.Open(ctx, env.Vault.Dir())
	if why := git.Missing(err); why != "" {
		return Repository{Note: why}, nil
	}
	if err != nil {
		return Repository{}, err
	}
	out := Repository{Repository: true, Branch: repo.Branch(ctx)}
	switch in.Show {
	case "log":
		err = in.log(ctx, repo, only, &out)
	case "diff":
		err = in.diff(ctx, env, repo, only, &out)
	default:
		err = in.status(ctx, env, repo, only, &out)
	}
	return out, err
}

// sees reports whether a file of the repository is one that this call may see.
func (env Env) sees(ctx context.Context, p, only string) bool {
	key, err := env.Vault.Visible(strings.TrimSuffix(p, "/"), false)
	return err == nil && isVisible(ctx, key) && (only == "" || key == only || strings.HasPrefix(key, only+"/"))
}

func (in GitStatus) status(ctx context.Context, env Env, repo *git.Repository, only string, out *Repository) error {
	list, err := repo.Status(ctx)
	if err != nil {
		return err
	}
	for _, c := range list {
		if !env.sees(ctx, c.Path, only) || c.From != "" && !env.sees(ctx, c.From, "") {
			continue
		}
		if strings.HasSuffix(c.Path, "/") && !visibility.From(ctx).Everything() {
			continue // a new folder, of which the caller may see a part
		}
		out.Changes = append(out.Changes, GitChange{State: c.State, Path: c.Path, From: c.From})
	}
	if len(out.Changes) == 0 {
		out.Note = "nothing has changed since the last commit"
	}
	return nil
}

// log lists commits. Their texts tell about all files, so a caller that sees only
// some of them gets none.
func (in GitStatus) log(ctx context.Context, repo *git.Repository, only string, out *Repository) error {
	if !visibility.From(ctx).Everything() {
		return fault.New(fault.Denied, "the commit log is available only to callers that can read the whole vault, because it covers all files")
	}
	list, err := repo.Log(ctx, only, in.Limit)
	if err != nil {
		return err
	}
	for _, c := range list {
		out.Commits = append(out.Commits, GitCommit(c))
	}
	if len(list) == in.Limit {
		out.More = fmt.Sprintf("only the newest %d commits are shown", in.Limit)
	}
	if len(list) == 0 {
		out.Note = "there are no commits"
	}
	return nil
}

func (in GitStatus) diff(ctx context.Context, env Env, repo *git.Repository, only string, out *Repository) error {
	changed, err := repo.Changed(ctx, in.Ref)
	if err != nil {
		return err
	}
	var files []string
	for _, p := range changed {
		if env.sees(ctx, p, only) {
			files = append(files, p)
		}
	}
	if len(files) == 0 {
		out.Note = "there are no differences"
		return nil
	}
	if len(files) > maxDiffFiles {
		out.More = fmt.Sprintf("showing %d of %d files; ", maxDiffFiles, len(files))
		files = files[:maxDiffFiles]
	}
	text, err := repo.Diff(ctx, in.Ref, files)
	if err != nil {
		return err
	}
	cut := paging.CutLines(strings.ToValidUTF8(text, "\uFFFD"), 1, in.Limit)
	out.Diff = cut.Text
	if cut.More != "" {
		out.More += fmt.Sprintf("showing %d of %d lines; name one file, or raise limit; ", strings.Count(cut.Text, "\n"), cut.Total)
	}
	out.More = strings.TrimSuffix(out.More, "; ")
	return nil
}

// maxDiffFiles is how many files one diff shows.
const maxDiffFiles = 200

// View writes it as git does.
func (r Repository) View() tool.View {
	var b strings.Builder
	if r.Branch != "" && r.Diff == "" {
		b.WriteString("On branch " + r.Branch + "\n")
	}
	for _, c := range r.Changes {
		name := c.Path
		if c.From != "" {
			name = c.From + " -> " + c.Path
		}
		b.WriteString(c.State + " " + name + "\n")
	}
	for _, c := range r.Commits {
		fmt.Fprintf(&b, "%s %s %s: %s\n", c.Hash[:min(len(c.Hash), 10)], c.Date, c.Author, toolkit.OneLine(c.Subject))
	}
	b.WriteString(r.Diff)
	foot := r.Note
	if r.More != "" {
		foot = r.More
	}
	return tool.View{Text: b.String(), Foot: foot}
}
