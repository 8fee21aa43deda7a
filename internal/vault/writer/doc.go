// Package writer changes the files of a vault: it applies sets of edits whole or
// not at all, and takes care that no word a person wrote is lost on the way. It
// is the only code that writes into a vault; who asks, what the edits mean and
// whether they are allowed it does not know.
//
// # What is promised
//
// An edit carries the whole content that it was made for. [Writer.Apply] makes a
// set only if every file is exactly that; otherwise nothing changes and the
// error is a [*Stale] with what is there. An edit that a program makes in the
// same instant is seen too: the new file and the note change places in one step
// of the system, and what was displaced is looked at only then. If it is not
// what it had to be, the two change back, and again, until the latest text of
// the other program is in place. A person's text is never moved out of its place
// to make room for a set: the set is taken back whole instead, also when it is
// recovered after a crash.
//
// When Apply returns, the change is on disk: contents and folders are synced. An
// error of a sync means that nothing is acknowledged. After an error nothing was
// changed, unless it is an [*Interrupted]: then the disk failed on the way back
// too, and [Writer.Recover], or the next write, decides.
//
// What a set replaced is kept in Lore's folder until [Writer.Sweep] lets it go:
// two seconds later at the least, and only when history has its copy. A program
// that had the file open can still write into it in that time; such a text
// becomes a conflict copy beside the note. The same holds for new content that
// was in place for a moment and was taken back. A program that keeps a file open
// for longer than that and writes into it without looking is not covered, nor is
// one that writes into a file that it holds open while the file is in the trash:
// that text stays in the trash, without a report, until it is emptied.
//
// # Lore's folder
//
//	.lore/lock       held while a process writes; holds the boot of a writer that did not end in order
//	.lore/journal/   what is under way, or broke off
//	.lore/displaced/ what applied operations replaced
//	.lore/discarded/ what operations staged that were taken back
//	.lore/trash/     what was deleted, by operation and path; 30 days
//	.lore/recovered/ what nobody knows the place of; nothing removes it
//	.lore/disk       what the user was told about the disk, where there is something to tell
//
// The first write makes it. Nothing else does.
//
// # How a change is made
//
// Package journal has the steps. A single step is its own commit: a manifest is
// written (not synced), the content is staged beside the note and synced, the
// two change places, the folder is synced. Several steps are staged in the
// journal, made durable by one call, committed by one file, made, made durable
// again. After a crash the journal says exactly what to do, without a look at
// the vault. After a power cut the manifest of a single step may be missing:
// when the machine was started again since, the vault is searched once for
// temporary files, and what they hold is kept under .lore/recovered.
//
// A file with several hard links is never written in place: its other names can
// lie outside the vault. It is refused, or, where the settings allow such files,
// its name gets a file of its own and the other names keep the old text. A note
// that is a link has its target written; a deleted or moved link
// is the link itself. Deleting moves to the trash, and creating what lies there
// under the same path with the same content brings the file itself back. Folders
// that a set emptied are removed.
//
// # What differs between disks
//
// The first write of a process tries on files of its own what the disk can do
// ([disk.Tree.Probe]); nothing is believed that was not seen. The steps have a
// second way for every call that a disk may lack, and take it also when a call
// fails later that was there before: a folder of the vault can be a mount of its
// own, and a vault can be moved.
//
// Without an exchange (FUSE, FAT, NFS, 9p, Windows) the old file gets a second
// name, or a copy, before it is written over: an edit of another program in that
// instant can be lost. Without a move that never overwrites, the new name is taken
// by a hard link, or by an empty file that the move replaces. Without syncfs every
// file is synced by itself; FUSE says yes to syncfs and does nothing, so it counts
// as without. Where names in another case are the same name, a move that changes
// only the case goes over a third name. The user is told once, and by lore doctor,
// what is promised less; [Writer.Capabilities] lists it. A disk that cannot make,
// write, rename or remove files is refused before anything is changed.
//
// A folder of the vault that lies on another disk can be changed; what is in it
// cannot be deleted or moved out, because the trash is on this one.
//
// Recovery tries again what may pass: a full disk, a failing one, missing
// permission. An operation that the disk refuses for another reason is taken back.
// If that is refused too, although the disk can do all that is needed, it is set
// aside: its texts and its manifest go to .lore/recovered, and the vault can be
// changed again.
package writer
