package change

// TopicFiles is the topic of the news that files of the vault are other ones
// now; its data is [Files]. It is told after the index has seen them, whoever
// changed them.
const TopicFiles = "files.changed"

// Files tells which files of a vault became different. A renamed one left its
// old path and came at the new.
type Files struct {
	Added   []string `json:"added,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Many says that there were too many to name: look at everything again.
	Many bool `json:"many,omitempty"`
}

// mostFiles is how many paths one piece of news names.
const mostFiles = 10_000

// Brief is the news without names when there are too many of them.
func (f Files) Brief() Files {
	if len(f.Added)+len(f.Changed)+len(f.Removed) > mostFiles {
		return Files{Many: true}
	}
	return f
}

// None reports whether nothing became different.
func (f Files) None() bool {
	return len(f.Added) == 0 && len(f.Changed) == 0 && len(f.Removed) == 0 && !f.Many
}

// Listed reports whether the list of files is another one.
func (f Files) Listed() bool { return len(f.Added) > 0 || len(f.Removed) > 0 || f.Many }
