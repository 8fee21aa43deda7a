package settings

import (
	"strings"

	"lore/internal/fault"
	"lore/internal/vault/pattern"
)

// files are the settings about which files are read and who may change them.
func files() []value {
	return []value{
		{
			"files.hard_links", "whether to use files that also exist under another name (hard links), as some backup tools create them: refuse or allow", "refuse", "LORE_FILES_HARD_LINKS",
			func(c *File) *string { return &c.Files.HardLinks }, checkHardLinks, nil,
		},
		{
			"files.folder", "folder of the vault that the tools for files and commands work in; empty for the whole vault", "", "LORE_FILES_FOLDER",
			func(c *File) *string { return &c.Files.Folder }, checkFolder("files.folder"), nil,
		},
		{
			"protect.instructions", "additional instruction files that only you can change, as patterns separated by commas, such as RULES.md, prompts/**; AGENTS.md, CLAUDE.md and similar files are always included", "", "LORE_PROTECT_INSTRUCTIONS",
			func(c *File) *string { return &c.Protect.Instructions }, checkInstructions, nil,
		},
	}
}

func checkHardLinks(s string) error {
	if s != "refuse" && s != "allow" {
		return fault.Field("files.hard_links", "use refuse or allow", "%q is not valid", s)
	}
	return nil
}

func checkInstructions(s string) error {
	if _, err := pattern.Compile(Patterns(s)); err != nil {
		return fault.Rename(err, "exclude", "protect.instructions")
	}
	return nil
}

// Patterns are those of a setting that holds several, separated by commas.
func Patterns(s string) []string {
	var out []string
	for one := range strings.SplitSeq(s, ",") {
		if one = strings.TrimSpace(one); one != "" {
			out = append(out, one)
		}
	}
	return out
}

// Guarded are the files that only a person may change: those that are protected
// in the vault at dir, and those that programs take instructions from. Both are
// in lower case.
func (p Place) Guarded(c *File, dir string) (protected, instructions pattern.List, err error) {
	list, err := p.Get(c, "protect.instructions")
	if err != nil {
		return nil, nil, err
	}
	if instructions, err = pattern.Compile(Patterns(strings.ToLower(list))); err != nil {
		return nil, nil, err
	}
	var own []string
	for _, one := range c.Paths(dir).Protected {
		own = append(own, strings.ToLower(one))
	}
	protected, err = pattern.Compile(own)
	return protected, instructions, err
}
