package tool

// A Role is a part that a tool plays for surfaces, which know no tool by name.
type Role string

// The roles, with what a tool that plays them takes and answers.
const (
	// ListsNotes takes limit, offset, sort ("path" or "modified") and folder,
	// and answers notes (each with path, title and modified) and total.
	ListsNotes Role = "list-notes"
	// ReadsNote takes path, offset and limit (in lines), and answers path, hash,
	// text, line, lines and more.
	ReadsNote Role = "read-note"
	// SearchesNotes takes query and answers results, each with path.
	SearchesNotes Role = "search-notes"
	// ListsTags takes prefix and limit, and answers tags (each with tag) and
	// total.
	ListsTags Role = "list-tags"
	// ListsNodes takes prefix (of ids) and limit, and answers nodes, each with
	// node_id and title.
	ListsNodes Role = "list-nodes"
	// TellsActivity takes limit and after (0 is the newest, and asks without
	// being recorded), and answers activity: each with time, initiated_by, tool,
	// result_summary and operation_id.
	TellsActivity Role = "tell-activity"
	// TellsOperation takes operation and answers what it changed, with diffs.
	TellsOperation Role = "tell-operation"
	// TakesBack and BringsBack take operation, undo it and redo it.
	TakesBack  Role = "take-back"
	BringsBack Role = "bring-back"
	// TellsHealth answers score, notes, links, and parts, each with name, count and
	// examples.
	TellsHealth Role = "tell-health"
	// SavesChat takes chat and path, and answers the path of the note that shows
	// the conversation.
	SavesChat Role = "save-chat"
	// ReadsResult takes id, offset and limit (in characters), and answers a part of
	// a result that was too long for a model.
	ReadsResult Role = "read-result"
)

// Plays says which role a tool plays. One tool plays each, and the first in the
// order of names is taken when there are more.
func Plays(r Role) Option { return func(t *Tool) { t.Roles = append(t.Roles, r) } }
