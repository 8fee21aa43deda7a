package tool

import "slices"

// A Role is a part that a tool plays for surfaces, which know no tool by name.
type Role string

// The roles, with what a tool that plays them takes and answers.
const (
	// ListsNotes takes limit, offset, sort ("path" or "modified"), folder and
	// properties, and answers notes (each with path, title and modified), total
	// and, when asked, properties (each with name, notes, kind and values).
	ListsNotes Role = "list-notes"
	// ReadsNote takes path, offset and limit (in lines), and answers path, hash,
	// text, line, lines and more.
	ReadsNote Role = "read-note"
	// WritesNote takes path, content, mode ("create" or "overwrite") and if_hash,
	// and answers path, hash and created.
	WritesNote Role = "write-note"
	// SetsProperties takes path, updates (a map), remove and if_hash, and answers
	// path, frontmatter and hash.
	SetsProperties Role = "set-properties"
	// MakesDaily takes nothing and answers path and created: the note of today.
	MakesDaily Role = "make-daily"
	// RenamesNote takes path and new_path, and answers new_path and
	// links_updated; its plan has both, and files.
	RenamesNote Role = "rename-note"
	// DeletesNote takes path and if_hash.
	DeletesNote Role = "delete-note"
	// TellsNote takes path and answers path, title, tags, frontmatter, headings
	// (each with level, text and line), words, links_in and hash.
	TellsNote Role = "tell-note"
	// ListsBacklinks takes path and limit, and answers links (each with
	// source_path, source_title, line and excerpt) and total.
	ListsBacklinks Role = "list-backlinks"
	// ListsLinks takes path and limit, and answers links (each with target,
	// target_path, target_title, link_type, line and unresolved) and total.
	ListsLinks Role = "list-links"
	// ListsMentions takes path and limit, and answers mentions (each with
	// source_path, source_title, text, line and excerpt) and total.
	ListsMentions Role = "list-mentions"
	// TellsNeighbourhood takes node_id (a path does), depth, limit and
	// relationship_types ("*" is every stated one, "LINKS_TO" untyped links), and
	// answers node_id, nodes (each with node_id, path, type, title, tags,
	// confidence and depth) and edges (each with edge_id, from_id, to_id,
	// relationship_type, confidence and notes).
	TellsNeighbourhood Role = "tell-neighbourhood"
	// TellsGraph takes relationship_types, limit, dates, node_id and depth (only around
	// this node), and answers content: a JSON text of nodes and edges as
	// TellsNeighbourhood has them, with created and modified instead of depth.
	TellsGraph Role = "tell-graph"
	// TellsContradictions takes limit and answers contradictions, each with from and
	// to (path and title), kind and reasoning, and total.
	TellsContradictions Role = "tell-contradictions"
	// SearchesNotes takes query, top_k, offset, explain and filter (folder, tags, type,
	// date_after, date_before and properties), and answers results, each with path,
	// title, heading, line, chunk, score and, where explained, why (kind, points and
	// detail); further more, hints and mode.
	SearchesNotes Role = "search-notes"
	// ListsTags takes prefix and limit, and answers tags (each with tag) and
	// total.
	ListsTags Role = "list-tags"
	// ListsFiles takes attachments (whether to list them), depth, limit and offset,
	// and answers entries (each with path and is_folder) and total.
	ListsFiles Role = "list-files"
	// ListsTasks takes until (a day) and limit, and answers tasks (each with path,
	// title, line, text, due, overdue and hash) and total.
	ListsTasks Role = "list-tasks"
	// CompletesTask takes path, line and if_hash.
	CompletesTask Role = "complete-task"
	// MovesFolder takes folder and to, and answers new_path, moved and
	// links_updated; its plan has them, too, and files.
	MovesFolder Role = "move-folder"
	// DeletesFolder takes folder.
	DeletesFolder Role = "delete-folder"
	// ListsNodes takes prefix (of ids) and limit, and answers nodes, each with
	// node_id and title.
	ListsNodes Role = "list-nodes"
	// TellsActivity takes limit and after (0 is the newest, and asks without
	// being recorded), quiet and what chooses among calls, and answers activity: each with time, initiated_by, tool,
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
	// TellsMissing lists the notes that the vault misses; with accept, it takes them
	// for deleted.
	TellsMissing Role = "tell-missing"
	// ReadsResult takes id, offset and limit (in characters), and answers a part of
	// a result that was too long for a model.
	ReadsResult Role = "read-result"
	// TellsWorkflow takes workflow (a name or a path), and answers mermaid, a diagram
	// of it, and problems, each with line, message and fix.
	TellsWorkflow Role = "tell-workflow"
	// PacksContext takes question and budget (in bytes), and answers passages with
	// citations.
	PacksContext Role = "pack-context"
	// FindsTools takes query and answers tools by what they do.
	FindsTools Role = "find-tools"
)

// ForPersons reports whether a tool is for persons alone, or for them and Lore's
// own agent.
func (t *Tool) ForPersons() bool { return t.Persons || t.AboutChats() }

// AboutChats reports whether a tool shows conversations with Lore's own minds,
// which are for persons and for these minds alone.
func (t *Tool) AboutChats() bool {
	return slices.Contains(t.Roles, SavesChat) || slices.Contains(t.Roles, ReadsResult)
}

// Plays says which role a tool plays. One tool plays each, and the first in the
// order of names is taken when there are more.
func Plays(r Role) Option { return func(t *Tool) { t.Roles = append(t.Roles, r) } }
