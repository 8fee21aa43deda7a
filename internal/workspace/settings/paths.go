package settings

import (
	"maps"
	"slices"
	"strings"

	"lore/internal/fault"
	"lore/internal/machine/home"
	"lore/internal/machine/tomledit"
	"lore/internal/vault/pattern"
)

// A Vault is a section [vaults."/path"] of the file.
type Vault struct {
	Exclude   []string `toml:"exclude,omitempty"`
	Protected []string `toml:"protected,omitempty"`
}

// Paths are what a person decided about the files of one vault, as patterns.
type Paths struct {
	// Protected is what only a person may change.
	Protected []string `json:"protected"`
	// Exclude is what Lore must not see.
	Exclude []string `json:"exclude"`
}

// sections are the names of the sections about the vault at dir.
func (c *File) sections(dir string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Vaults)) {
		if home.SameFolder(home.Expand(name), dir) {
			out = append(out, name)
		}
	}
	return out
}

// Excluded are the patterns that the settings keep out of the vault at dir.
func (c *File) Excluded(dir string) []string { return c.Paths(dir).Exclude }

// Paths are the patterns that the settings have for the vault at dir.
func (c *File) Paths(dir string) Paths {
	var out Paths
	for _, name := range c.sections(dir) {
		out.Protected = append(out.Protected, c.Vaults[name].Protected...)
		out.Exclude = append(out.Exclude, c.Vaults[name].Exclude...)
	}
	return out
}

// SetPaths keeps other patterns for the vault at dir.
func (p Place) SetPaths(dir string, want Paths) (Paths, error) {
	var err error
	if want.Exclude, err = cleanPatterns("exclude", want.Exclude); err != nil {
		return Paths{}, err
	}
	if want.Protected, err = cleanPatterns("protected", want.Protected); err != nil {
		return Paths{}, err
	}
	err = p.edit("the excluded and protected paths", func(c *File, text []byte) ([]byte, error) {
		sections := c.sections(dir)
		if len(sections) == 0 {
			sections = []string{dir}
		}
		for i, name := range sections {
			now := want
			if i > 0 {
				now = Paths{} // several sections can be about one folder; the first says it all then
			}
			var err error
			if text, err = c.Vaults[name].put(text, name, now); err != nil {
				return nil, err
			}
		}
		return text, nil
	})
	if err != nil {
		return Paths{}, err
	}
	c, err := p.Read()
	if err != nil {
		return Paths{}, err
	}
	return c.Paths(dir), nil
}

// put writes what is other now into the section called name. A list that is as it
// was stays as it was written, with the comments in it.
func (v Vault) put(text []byte, name string, now Paths) (_ []byte, err error) {
	for _, list := range []struct {
		key      string
		old, now []string
	}{{"exclude", v.Exclude, now.Exclude}, {"protected", v.Protected, now.Protected}} {
		if slices.Equal(list.old, list.now) {
			continue
		}
		if text, err = tomledit.SetList(text, []string{"vaults", name, list.key}, list.now); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// cleanPatterns refuses what is no list of patterns; empty lines are none.
func cleanPatterns(field string, list []string) ([]string, error) {
	out := []string{}
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if _, err := pattern.Compile(out); err != nil {
		return nil, fault.Rename(err, "exclude", field) // patterns call it so, whosever they are
	}
	return out, nil
}
