package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lore/internal/surface/cli/draw"
	"lore/internal/workspace"
)

// bashFallbacks define what the script needs of the package bash-completion, where
// that is not installed. Bash splits words at = and :, so they are joined again
// where no space stands between them.
const bashFallbacks = `# Used only where the package bash-completion is not loaded.
if ! declare -F _get_comp_words_by_ref >/dev/null; then
_get_comp_words_by_ref() {
    local i space word rest=$COMP_LINE
    words=() cword=0
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        space=${rest%%[!$' \t']*}
        rest=${rest:${#space}}
        rest=${rest:${#word}}
        if ((i > 0)) && [[ -z $space ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        if ((i == COMP_CWORD)); then
            cword=$((${#words[@]} - 1))
        fi
    done
    cur=${words[cword]}
    prev=
    if ((cword > 0)); then
        prev=${words[cword-1]}
    fi
}
fi
if ! declare -F __ltrim_colon_completions >/dev/null; then
__ltrim_colon_completions() {
    local i prefix=${1%"${1##*:}"}
    if [[ $COMP_WORDBREAKS == *:* ]]; then
        for i in "${!COMPREPLY[@]}"; do
            COMPREPLY[i]=${COMPREPLY[i]#"$prefix"}
        done
    fi
}
fi
if ! declare -F _filedir >/dev/null; then
_filedir() {
    local kind=-f
    if [[ $1 == -d ]]; then
        kind=-d
    fi
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$kind" -- "$cur")
}
fi

`

// bashCompletion prints the script for bash.
func (p *program) bashCompletion(root *cobra.Command) error {
	if _, err := io.WriteString(p.out, bashFallbacks); err != nil {
		return err
	}
	return root.GenBashCompletionV2(p.out, true)
}

// completeTools offers the names of tools to a shell.
func (p *program) completeTools(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, t := range p.tools {
		out = append(out, cobra.CompletionWithDesc(t.Name, t.Summary()))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeWords offers notes or operations to a shell, by what the word in this
// place is called.
func (p *program) completeWords(nameOf func(i int) string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch nameOf(len(args)) {
		case "path", "other", "file_paths", "new_path", "folder", "from", "to", "node_id", "primary_node_id", "secondary_node_id", "from_id", "to_id":
			return p.completeNotes(typed)
		case "operation":
			return p.completeIDs(func(peek *workspace.Peek) []workspace.ID { return peek.Operations(cmd.Context()) })
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeNotes offers notes and folders. After a folder the shell adds no space:
// there is more to type.
func (p *program) completeNotes(typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	peek := p.peek()
	if peek == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := peek.Notes(typed)
	directive := cobra.ShellCompDirectiveNoFileComp
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, "/") }) {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return names, directive
}

// completeApproval offers the ids of pending changes.
func (p *program) completeApproval(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.completeIDs(func(peek *workspace.Peek) []workspace.ID { return peek.Approvals(cmd.Context()) })
}

func (p *program) completeIDs(list func(*workspace.Peek) []workspace.ID) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	if peek := p.peek(); peek != nil {
		for _, id := range list(peek) {
			out = append(out, cobra.CompletionWithDesc(id.ID, draw.OneLine(id.About)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// peek looks at the vault; nil when there is none to look at.
func (p *program) peek() *workspace.Peek {
	if p.host.Peek == nil {
		return nil
	}
	peek, err := p.host.Peek(p.g)
	if err != nil {
		return nil
	}
	return peek
}
