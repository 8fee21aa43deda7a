// The state of an open note: what is known of its file, whether the text on the
// page is saved, and what the person is doing with it. Pure: requests, drafts and
// the editor are the caller's (openNote.svelte.ts), which sends what happened.

/** A Status is what the bar says about saving. */
export type Status =
  | { kind: 'none' }
  | { kind: 'partial' } // not all of the file is text, so it cannot be edited here
  | { kind: 'unsaved' }
  | { kind: 'draft'; at: string } // a draft of the version on disk was restored
  | { kind: 'outdated' } // a draft of an older version was restored
  | { kind: 'orphaned' } // a draft of a note that no longer exists was restored
  | { kind: 'changed' } // on disk, while there are unsaved changes
  | { kind: 'updated'; at: string } // from disk, while there were none
  | { kind: 'gone' }
  | { kind: 'saving' }
  | { kind: 'saved'; at: string }
  | { kind: 'conflict' } // not saved: the file changed
  | { kind: 'failed'; why: string }
  | { kind: 'pending' } // not saved yet: it needs approval
  | { kind: 'denied' };

/** A State is everything that decides what can be done with the note. */
export interface State {
  status: Status;
  /** The text on the page differs from the version it is based on. */
  dirty: boolean;
  /** The file does not exist any more. */
  gone: boolean;
  /** The editor is shown. */
  editing: boolean;
  saving: boolean;
  /** The file holds another text than the one that this page is based on. */
  diverged: boolean;
  /** Both texts are shown beside each other. */
  comparing: boolean;
  /** An approval that the person has to answer first. */
  approval: string;
  /** The note is about to get another path, or none: nothing is read under the old one. */
  leaving: '' | 'renaming' | 'moving' | 'deleting';
  /** Where a move goes that needs approval. */
  target: string;
}

/** An Event is what happened to the note, or what the person did. */
export type Event =
  | { is: 'opened'; whole: boolean }
  | { is: 'draft'; at: string; current: boolean } // current: of the version on disk
  | { is: 'orphan' }
  | { is: 'typed'; dirty: boolean }
  | { is: 'toggled' }
  | { is: 'found' } // it may exist after all
  | { is: 'returned' } // the server says that the file came back
  | { is: 'missing' }
  | { is: 'removed' } // the server says that the file went
  | { is: 'changedOnDisk' } // with unsaved changes here
  | { is: 'reloaded'; at: string }
  | { is: 'edited'; at: string } // by the person, beside the text: properties, undo
  | { is: 'saveStarted' }
  | { is: 'conflicted' }
  | { is: 'saveFailed'; why: string; missing: boolean }
  | { is: 'saveAsked'; approval: string }
  | { is: 'saveDenied' }
  | { is: 'saved'; dirty: boolean }
  | { is: 'savedAndStored'; at: string } // and no draft of it is left
  | { is: 'compared' }
  | { is: 'compareFailed'; why: string }
  | { is: 'compareDeferred' } // both changed the same place, and nobody asked to save now
  | { is: 'compareClosed'; edit: boolean }
  | { is: 'merged' }
  | { is: 'renaming' }
  | { is: 'deleting' }
  | { is: 'asked'; approval: string; target?: string }
  | { is: 'left' } // its draft went along to the new path
  | { is: 'stayed' }
  | { is: 'answered' }
  | { is: 'unanswered' }; // the approval is over, and the text is not saved

/** opening is the state before anything is known. */
export function opening(editing: boolean): State {
  return { status: { kind: 'none' }, dirty: false, gone: false, editing, saving: false, diverged: false, comparing: false, approval: '', leaving: '', target: '' };
}

/** isBusy: a look at the file would be in the way. What is compared stays what the person sees. */
export function isBusy(s: State): boolean {
  return s.saving || s.leaving !== '' || s.comparing;
}

/** canAutosave: nothing has to be decided before the text is saved. */
export function canAutosave(s: State): boolean {
  return s.dirty && !s.gone && !isBusy(s) && s.approval === '' && s.status.kind !== 'conflict';
}

const none: Status = { kind: 'none' };

/** typed is the status after a key: what has to be decided stays on the bar. */
function typed(s: State, dirty: boolean): Status {
  const unsaved = ['unsaved', 'draft', 'pending'].includes(s.status.kind);
  const refused = ['conflict', 'failed', 'denied'].includes(s.status.kind);
  if (dirty) return s.diverged || s.gone || unsaved || refused ? s.status : { kind: 'unsaved' };
  return unsaved ? none : s.status;
}

/** next is the state after an event. */
export function next(s: State, e: Event): State {
  switch (e.is) {
    case 'opened':
      return e.whole ? s : { ...s, status: { kind: 'partial' } };
    case 'draft':
      return { ...s, dirty: true, editing: true, diverged: !e.current, status: e.current ? { kind: 'draft', at: e.at } : { kind: 'outdated' } };
    case 'orphan':
      return { ...s, gone: true, dirty: true, editing: true, status: { kind: 'orphaned' } };
    case 'typed': {
      const status = typed(s, e.dirty);
      return s.dirty === e.dirty && s.status === status ? s : { ...s, dirty: e.dirty, status };
    }
    case 'toggled':
      return s.comparing ? s : { ...s, editing: !s.editing };
    case 'found':
      return s.gone ? { ...s, gone: false, status: s.status.kind === 'gone' ? none : s.status } : s;
    case 'returned':
      return { ...s, gone: false, status: none };
    case 'missing':
      return { ...s, gone: true };
    case 'removed':
      return { ...s, gone: true, status: { kind: 'gone' } };
    case 'changedOnDisk':
      return { ...s, diverged: true, gone: false, status: { kind: 'changed' } };
    case 'reloaded':
      return { ...s, diverged: false, comparing: false, gone: false, dirty: false, status: { kind: 'updated', at: e.at } };
    case 'edited':
      return s.dirty || s.diverged || s.gone ? s : { ...s, status: { kind: 'saved', at: e.at } };
    case 'renaming':
    case 'deleting':
      return { ...s, leaving: e.is };
    case 'asked':
      return { ...s, approval: e.approval, ...(e.target === undefined ? {} : { leaving: 'moving', target: e.target }) };
    case 'left':
      return { ...s, dirty: false };
    case 'stayed':
      return { ...s, leaving: '', target: '' };
    case 'answered':
      return { ...s, approval: '' };
    case 'unanswered':
      return s.dirty ? { ...s, status: { kind: 'unsaved' } } : s;
  }
  return afterSaving(s, e);
}

/** afterSaving is the part of next that is about saving and comparing. */
function afterSaving(s: State, e: Event): State {
  switch (e.is) {
    case 'saveStarted':
      return { ...s, saving: true, status: { kind: 'saving' } };
    case 'conflicted':
      return { ...s, saving: false, status: { kind: 'conflict' } };
    case 'saveFailed':
      return { ...s, saving: false, gone: e.missing, status: { kind: 'failed', why: e.why } };
    case 'saveAsked':
      return { ...s, saving: false, approval: e.approval, status: { kind: 'pending' } };
    case 'saveDenied':
      return { ...s, saving: false, status: { kind: 'denied' } };
    case 'saved':
      return { ...s, saving: false, gone: false, diverged: false, comparing: false, approval: '', dirty: e.dirty };
    case 'savedAndStored':
      return { ...s, status: s.dirty ? { kind: 'unsaved' } : { kind: 'saved', at: e.at } };
    case 'compared':
      return { ...s, diverged: true, comparing: true };
    case 'compareFailed':
      return { ...s, status: { kind: 'failed', why: e.why } };
    case 'compareDeferred':
      return { ...s, diverged: true };
    case 'compareClosed':
      return { ...s, comparing: false, editing: s.editing || e.edit };
    case 'merged':
      return { ...s, comparing: false, dirty: true };
  }
  return s;
}

/** statusText is a status in words; bad is one that the person has to act on. */
export function statusText(s: Status): { text: string; bad: boolean } {
  const good = (text: string): { text: string; bad: boolean } => ({ text, bad: false });
  const bad = (text: string): { text: string; bad: boolean } => ({ text, bad: true });
  switch (s.kind) {
    case 'none':
      return good('');
    case 'partial':
      return bad('Read-only: part of this file is not valid text');
    case 'unsaved':
      return good('Unsaved changes');
    case 'draft':
      return good(`Unsaved draft from ${s.at}`);
    case 'outdated':
      return bad('The note changed on disk; your draft is based on an older version');
    case 'orphaned':
      return bad('This note was deleted or moved. Your unsaved draft is below');
    case 'changed':
      return bad('Changed on disk');
    case 'updated':
      return good(`Updated from disk ${s.at}`);
    case 'gone':
      return bad('This note was deleted or moved');
    case 'saving':
      return good('Saving…');
    case 'saved':
      return good(`Saved ${s.at}`);
    case 'conflict':
      return bad('Not saved: the note changed on disk');
    case 'failed':
      return bad(`Not saved: ${s.why}`);
    case 'pending':
      return good('Not saved yet: needs your approval');
    case 'denied':
      return bad('Not saved: denied');
  }
}
