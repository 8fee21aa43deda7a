// Package vault reads and watches the files of one vault: a folder of Markdown.
// The files are the only truth; nothing here knows that an index exists, what
// a note says, or who asks. It writes nothing: package vault/writer does.
//
// # Paths
//
// A vault path is relative to the folder, has slashes, and is in Unicode NFC:
// the key under which everyone speaks of a file. [Clean] is the one place that
// decides which paths are fit to be used, [CleanNew] which are fit to be given
// to a new file. A file whose name on disk is not NFC (macOS writes such names
// into archives and shares) is found under its key; [Entry.OnDisk] keeps the
// name it has. Files are opened through [os.Root], so no path and no link leads
// out of the folder, and only regular files are read.
//
// Names that begin with a dot are hidden: they are counted, never listed, and
// [Vault.Read] refuses them. Links: a relative link to a file inside the vault
// is a file of its own name; a linked folder is reported and not entered, so a
// file has one path and a walk always ends; absolute links and links that lead
// out are reported and refused.
//
// # Walks are the truth, events are hints
//
// [Vault.Walk] is cheap and is the only thing that says what exists.
// [Vault.Watch] says when it is worth looking, and never that something is
// gone.
//
// # A missing file is not a deleted file
//
// A folder that is not mounted looks like a folder whose notes were all
// deleted. When a walk misses more than a tenth of the notes and more than
// twenty, or the folder itself is missing, empty, or another one without all
// the known notes, the vault is offline ([Vault.State]) and
// [Listing.Gone] names nothing. It comes back by itself when the notes do, or
// when a person says that they are really gone ([Vault.Accept]); time alone
// changes nothing.
//
// # Sync tools
//
// Copies that sync tools make on a conflict are set apart ([Conflict]) where
// the name leaves no doubt: Syncthing's "x.sync-conflict-...", "(conflicted
// copy ...)" of Dropbox, Nextcloud and Obsidian Sync, and their relatives. The
// names "x 2.md" (iCloud), "x (1).md" (Google Drive) and "x-HOST.md" (OneDrive)
// are also names that people give: "Chapter 2.md" beside "Chapter.md". Such a file stays a note;
// when it lies beside its base and the sizes are alike (neither more than twice
// the other) it is reported as a possible conflict, and a person decides.
// Of the names of computers, those that systems give by themselves are known.
// Partial downloads are counted and not listed.
//
// # What differs between systems
//
// Linux is what the tests run on. Case twins ("Tea.md" and "tea.md") can exist
// there and are reported.
//
// macOS: the usual file systems ignore case and keep, but do not distinguish,
// NFC and NFD, so twins cannot exist and a path finds a file in any spelling.
// The events of kqueue would need an open descriptor for every file, so the
// watcher polls. Notes that iCloud has not downloaded are reported
// ("not_downloaded") and do not count as gone.
//
// Windows: case is ignored; inodes and link counts are not read ([Entry.Inode]
// is 0), so moved notes are told by name alone; device names and names with a
// trailing dot or space are refused for reading too, because Windows gives them
// another meaning; opening never blocks, so there is no non-blocking flag. A
// vault is called read-only only when the folder carries the attribute.
//
// Network shares and container mounts often send no events: the reconcile every
// five minutes finds their changes.
package vault
