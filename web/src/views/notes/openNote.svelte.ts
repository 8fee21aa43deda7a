// One open note: read, edited, saved by the person's own act. Unsaved text is
// never lost: it is a draft in the browser until it is saved. When the file changed
// meanwhile, what does not overlap is merged, and otherwise both texts are shown
// beside each other. What follows from what is decided in note.ts; this file asks
// the server and keeps the drafts.
import { autosave, pause } from '../../lib/autosave.svelte';
import { words } from '../../lib/api';
import type { News } from '../../lib/events';
import { router, pathTo } from '../../lib/router.svelte';
import { server } from '../../lib/server.svelte';
import { toasts } from '../../lib/toasts.svelte';
import { done } from '../../lib/undo';
import { waits, type Problem } from '../../lib/types';
import type { Editor } from '../../parts/editor/editor';
import { drafts, drop, follow, keep } from './noteDrafts';
import { canAutosave, isBusy, next, opening, type Event, type State } from './note';
import { plain, readWhole, type Read } from './text';
import { placeOf, type Passage } from './passage';
import { merge, type Merged } from './threeWay';
import { name } from './tree';

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const timeNow = (): string => clock.format(new Date());
const readFrom = (path: string): ReturnType<typeof readWhole> => readWhole(path, (args) => server.call('read-note', args));

/** Who saves: the person, a pause in writing, or leaving the note. */
type Saving = 'asked' | 'paused' | 'leaving';

export class OpenNote {
  state = $state.raw<State>(opening(false));
  /** The version that the text is based on. */
  note = $state.raw<Read | null>(null);
  /** The version on disk, when it is another. */
  theirs = $state.raw<Read | null>(null);
  /** The text as it is now. */
  text = $state('');
  problem = $state.raw<Problem | null>(null);
  editor = $state.raw<Editor | undefined>();
  /** How often it was found to be there after something changed. */
  seen = $state(0);

  readonly path: string;
  #named: (path: string) => void;
  #go: (path: string, replace?: boolean) => void;
  #alive = true;
  #hasDraft = false; // of this tab
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due: ReturnType<typeof setTimeout> | undefined; // the next autosave
  #operation: string | undefined; // the last save, to undo it
  #last: string | undefined; // what was unsaved when the note was left during a save
  #base: string | undefined; // the text that the one on the page was made from; unknown for an old draft

  /** named is told the path of the note, which may be asked for by its title; go shows another note in its place. */
  constructor(path: string, editing: boolean, named: (path: string) => void, go: (path: string, replace?: boolean) => void = (to, replace) => router.go(pathTo('notes', to), replace)) {
    this.path = path;
    this.#named = named;
    this.#go = go;
    this.state = opening(editing);
  }

  get shownPath(): string {
    return this.note?.path ?? this.path;
  }
  get title(): string {
    return this.note?.title || name(this.shownPath);
  }
  get #vault(): string {
    return server.status?.vault ?? '';
  }

  send(e: Event): void {
    this.state = next(this.state, e);
  }

  /** close leaves the note. What is unsaved is saved on the way, or stays a draft. */
  close(): void {
    clearTimeout(this.#due);
    if (autosave.on && this.state.saving && this.state.dirty) this.#last = this.editor?.text() ?? this.text;
    this.autosave('leaving');
    this.#alive = false;
  }

  /** begin reads the note, and restores an unsaved draft of it. */
  async begin(): Promise<void> {
    const [r] = await Promise.all([readFrom(this.path), server.known]);
    if (!this.#alive) return;
    if (!r.ok && r.problem.kind === 'not_found' && (await this.#restoreOrphan())) return;
    if (!this.#alive) return;
    this.problem = r.ok ? null : r.problem;
    if (!r.ok) return;
    this.note = r.value;
    this.text = this.#base = plain(r.value.text);
    this.#named(r.value.path);
    this.send({ is: 'opened', whole: r.value.whole });
    if (r.value.whole) await this.#restore(r.value);
  }

  async #restore(read: Read): Promise<void> {
    const [draft] = await drafts(this.#vault, read.path);
    if (!this.#alive || !draft) return;
    if (draft.text === this.text) {
      void drop(draft.vault, draft.path, draft.base);
      return;
    }
    this.text = draft.text;
    this.editor?.set(draft.text);
    this.#hasDraft = true;
    const current = draft.base === read.hash;
    if (!current) {
      this.theirs = read;
      this.note = { ...read, hash: draft.base };
      this.#base = draft.from;
    }
    this.send({ is: 'draft', at: clock.format(new Date(draft.time)), current });
  }

  /** restoreOrphan shows the draft of a note that no longer exists: that text is nowhere else. */
  async #restoreOrphan(): Promise<boolean> {
    const [draft] = await drafts(this.#vault, this.path);
    if (!this.#alive || !draft) return false;
    this.problem = null;
    this.#hasDraft = true;
    this.text = draft.text;
    this.#base = draft.from;
    this.note = { path: this.path, title: '', hash: draft.base, text: '', whole: true };
    this.send({ is: 'orphan' });
    return true;
  }

  /** look reads the file again, after something changed in the vault. */
  async look(): Promise<void> {
    if (!this.note || isBusy(this.state) || this.state.gone || server.isMoving) return;
    const h = await server.call<{ hash: string }>('read-note', { path: this.note.path, limit: 1 });
    if (!this.#alive) return;
    if (h.ok) this.seen++;
    else if (h.problem.kind === 'not_found') return this.send({ is: 'missing' });
    if (this.#isInTheWay() || (h.ok && this.#isKnown(h.value.hash))) return;
    const r = await readFrom(this.note.path);
    if (!this.#alive || this.#isInTheWay() || !this.note) return;
    if (!r.ok) return this.send({ is: r.problem.kind === 'not_found' ? 'missing' : 'found' });
    this.send({ is: 'found' });
    if (this.#isKnown(r.value.hash)) return;
    if (!this.state.dirty || plain(r.value.text) === (this.editor?.text() ?? this.text)) return this.#take(r.value);
    this.theirs = r.value;
    this.send({ is: 'changedOnDisk' });
    this.flush(); // a save in another tab has dropped the draft of both
  }
  #isInTheWay(): boolean {
    return this.state.saving || this.state.comparing;
  }
  #isKnown(hash: string): boolean {
    return hash === this.note?.hash || hash === this.theirs?.hash;
  }

  /** wasEdited looks at what the person did to the note beside its text: that is no news from elsewhere. */
  async wasEdited(): Promise<void> {
    await this.look();
    if (this.#alive) this.send({ is: 'edited', at: timeNow() });
  }

  #take(r: Read): void {
    this.note = r;
    this.theirs = null;
    this.text = this.#base = plain(r.text);
    this.editor?.base(this.text);
    if (this.editor && this.editor.text() !== this.text) this.editor.set(this.text);
    this.send({ is: 'reloaded', at: timeNow() });
  }

  /** hear follows the news of files that come and go. */
  hear(n: News): void {
    if (n.topic === 'reset') this.send({ is: 'found' }); // nobody knows what was missed
    if (n.topic !== 'files.changed' || this.state.leaving) return;
    const { added, removed, many } = n.data as { added?: string[]; removed?: string[]; many?: boolean };
    if (!this.note) {
      if (this.problem && (many || added?.includes(this.path))) void this.begin(); // it came back
      return;
    }
    if (many) this.send({ is: 'found' });
    if (removed?.includes(this.note.path) && !server.isMoving) this.send({ is: 'removed' });
    else if (this.state.gone && added?.includes(this.note.path)) this.send({ is: 'returned' });
  }

  /** typed keeps the draft a moment after the last key. */
  typed(): void {
    if (!this.editor) return;
    this.send({ is: 'typed', dirty: this.editor.dirty() });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), this.text.length > 300_000 ? 1200 : 120);
    this.#schedule();
  }
  #schedule(): void {
    clearTimeout(this.#due);
    if (autosave.on && this.#alive && this.state.dirty) this.#due = setTimeout(() => this.autosave(), pause);
  }

  /** autosave saves as the person does, unless something has to be decided first. */
  autosave(how: Saving = 'paused'): void {
    if (autosave.on && canAutosave(this.state)) void this.save(undefined, undefined, false, how);
  }

  /** retry saves what could not be saved while the server was away. */
  retry(): void {
    if (this.state.status.kind === 'failed') this.autosave();
  }

  /** flush keeps the draft now, or drops it when everything is saved. */
  flush(): void {
    clearTimeout(this.#timer);
    if (!this.note) return;
    if (this.editor) this.text = this.editor.text();
    if (this.state.dirty) {
      this.#hasDraft = true;
      this.#keep(this.text).catch(() => toasts.say('This browser cannot store a draft. Save before you leave.', 'bad'));
    } else if (this.#hasDraft) {
      this.#hasDraft = false; // the draft of another tab is not dropped here
      void drop(this.#vault, this.note.path, this.note.hash);
    }
  }
  #keep(text: string): Promise<unknown> {
    return keep({ vault: this.#vault, path: this.note?.path ?? '', base: this.note?.hash ?? '', ...(this.#base === undefined ? {} : { from: this.#base }), text, time: new Date().toISOString() });
  }

  /** save writes the text. Where the file changed, both texts are compared instead. */
  async save(content = this.editor?.text() ?? this.text, hash = this.note?.hash ?? '', create = this.state.gone, how: Saving = 'asked'): Promise<void> {
    if (!this.note || this.state.saving || !this.note.whole) return;
    clearTimeout(this.#due);
    const { path: to, hash: from } = this.note;
    const vault = this.#vault;
    this.send({ is: 'saveStarted' });
    // A look first: what changed elsewhere is compared, and needs no refusal.
    // Who leaves has no time for it: then the server refuses.
    const h = create || how === 'leaving' ? undefined : await server.call<{ hash: string }>('read-note', { path: to, limit: 1 });
    if (h?.ok && h.value.hash !== hash) {
      if (this.#alive) return this.#conflict(how);
      return tellConflict(to);
    }
    const r = await server.act<{ hash: string; path: string; success: boolean }>('write-note', { path: to, content, ...(create ? { mode: 'create' } : { mode: 'overwrite', if_hash: hash }) }, how === 'leaving');
    if (!this.#alive) {
      // Who saves and leaves at once has saved; what did not succeed waits as a draft.
      if (!r.ok && r.problem.kind === 'conflict') tellConflict(to);
      else if (!r.ok) server.tell(r.problem);
      else if (!waits(r.value) && r.value.success) await this.#savedLast(vault, from, { path: to, text: content, hash: r.value.hash });
      return;
    }
    if (!r.ok) {
      this.send({ is: 'saveFailed', why: words(r.problem), missing: r.problem.kind === 'not_found' });
      if (r.problem.kind === 'conflict') await this.#conflict(how);
    } else if (waits(r.value)) this.send({ is: 'saveAsked', approval: r.value.pending_operation_id });
    else if (!r.value.success) this.send({ is: 'saveDenied' });
    else {
      this.#operation = r.value.operation_id;
      await this.#saved({ path: to, title: this.title, hash: r.value.hash, text: content, whole: true }, vault, from);
    }
  }
  async #conflict(how: Saving): Promise<void> {
    this.send({ is: 'conflicted' });
    await this.compare(true, how);
  }
  /** savedLast goes on after the note was left: with what was written while it was saved. */
  async #savedLast(vault: string, from: string, r: Pick<Read, 'path' | 'text' | 'hash'>): Promise<void> {
    const rest = this.#last;
    if (rest !== undefined && rest !== r.text) {
      const more = await server.act<{ success: boolean }>('write-note', { path: r.path, content: rest, mode: 'overwrite', if_hash: r.hash });
      if (!more.ok) return server.tell(more.problem);
      if (waits(more.value) || !more.value.success) return;
    }
    await drop(vault, r.path, from);
  }
  /** saved goes on from what is on disk now. It is told when no draft of it is left. */
  async #saved(r: Read, vault: string, from: string): Promise<void> {
    this.note = r;
    this.theirs = null;
    this.#base = plain(r.text);
    this.editor?.base(r.text);
    this.text = this.editor?.text() ?? r.text;
    this.send({ is: 'saved', dirty: this.editor?.dirty() ?? false });
    this.flush(); // what was written while it was saved; one that is due later would outlive it
    if (!this.state.dirty || from !== r.hash) await drop(vault, r.path, from);
    if (!this.#alive) return;
    this.send({ is: 'savedAndStored', at: timeNow() });
    this.#schedule();
  }

  /** toggleTask turns over the box of a task in a line of the file, counted from 1. It reports whether it did. */
  toggleTask(line: number, checked: boolean): Promise<boolean> {
    const done = this.#toggled.then(() => this.#toggle(line, checked));
    this.#toggled = done.catch(() => false);
    return done;
  }
  // One after the other: a task that is pressed while another is being saved is not lost.
  #toggled: Promise<unknown> = Promise.resolve();
  async #toggle(line: number, checked: boolean): Promise<boolean> {
    for (let i = 0; i < 100 && this.#alive && isBusy(this.state); i++) await new Promise((f) => setTimeout(f, 50));
    if (!this.note?.whole || isBusy(this.state) || this.state.gone) return false;
    const lines = this.text.split('\n');
    const was = lines[line - 1] ?? '';
    lines[line - 1] = was.replace(/^(\s*(?:>\s?)*\s*(?:[-*+]|\d{1,9}[.)])\s+\[)[^\]](\])/, `$1${checked ? 'x' : ' '}$2`);
    if (lines[line - 1] === was) return false;
    const content = lines.join('\n');
    if (this.state.dirty) {
      // It is saved with the rest of what is unsaved.
      this.text = content;
      this.flush();
      this.#schedule();
      return true;
    }
    const before = this.#operation;
    await this.save(content);
    if (this.#operation === before) return false;
    done(checked ? 'Task completed.' : 'Task reopened.', this.#operation);
    return true;
  }

  /** rewrite puts a text in the place of a passage, and saves it. It reports whether it did. */
  async rewrite(passage: Passage, text: string): Promise<boolean> {
    if (!this.note?.whole || isBusy(this.state) || this.state.gone) return false;
    const now = this.editor?.text() ?? this.text;
    const at = placeOf(now, passage);
    if (at < 0) {
      toasts.say('The selected passage has changed. Select it again.', 'info');
      return false;
    }
    const content = now.slice(0, at) + text + now.slice(at + passage.text.length);
    this.editor?.set(content); // it can be taken back there like anything typed
    const before = this.#operation;
    await this.save(content);
    if (this.#operation !== before) done('Passage rewritten.', this.#operation);
    return this.editor !== undefined || this.#operation !== before;
  }

  /** mergedWith joins the text with the version on disk. */
  mergedWith(theirs: string): Merged {
    const mine = this.editor?.text() ?? this.text;
    return this.#base === undefined ? { parts: [], overlaps: 1, text: mine } : merge(this.#base, mine, theirs);
  }

  /** compare shows the version on disk beside the text. A save goes on where nothing overlaps; one that nobody asked for waits otherwise. */
  async compare(saving = false, how: Saving = 'asked'): Promise<void> {
    if (!this.note) return;
    this.flush();
    const r = await readFrom(this.note.path);
    if (!this.#alive) return;
    if (!r.ok) return this.send({ is: 'compareFailed', why: words(r.problem) });
    this.theirs = r.value;
    const both = saving && r.value.whole ? this.mergedWith(plain(r.value.text)) : undefined;
    if (both?.overlaps === 0) {
      toasts.say('The note changed on disk. Both changes were merged.');
      return this.saveMerged(both.text, how);
    }
    this.send({ is: how === 'asked' ? 'compared' : 'compareDeferred' });
  }

  /** saveMerged saves what the person made of both texts. */
  async saveMerged(content: string, how: Saving = 'asked'): Promise<void> {
    if (!this.theirs || !this.note) return;
    const old = this.note.hash;
    this.note = { ...this.note, hash: this.theirs.hash };
    this.#base = plain(this.theirs.text);
    this.text = content;
    this.editor?.set(content);
    this.send({ is: 'merged' });
    await this.#keep(content).catch(() => undefined);
    if (old !== this.note.hash) await drop(this.#vault, this.note.path, old);
    await this.save(content, this.note.hash, false, how);
  }

  /** keepEditing closes the comparison, with what was made of the person's own text. */
  keepEditing(content: string | undefined): void {
    const edit = content !== undefined && content !== (this.editor?.text() ?? this.text);
    this.send({ is: 'compareClosed', edit });
    if (!edit) return;
    this.text = content;
    this.editor?.set(content);
  }

  /** saveAside saves the person's text as a new note, and takes the version on disk. */
  async saveAside(content: string): Promise<void> {
    if (!this.note || !this.theirs) return;
    const here = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000); // by the clock of the person
    const day = here.toISOString().replace(/[:.]/g, '-').slice(0, 19);
    const r = await server.act<{ path: string }>('write-note', { path: this.note.path.replace(/(\.\w+)?$/, ` (mine, ${day}).md`), content, mode: 'create' });
    if (!this.#alive) return;
    if (!r.ok) return server.tell(r.problem);
    if (waits(r.value)) return this.send({ is: 'asked', approval: r.value.pending_operation_id });
    toasts.say(`Your text was saved as ${r.value.path}.`, 'good', { href: pathTo('notes', r.value.path), label: 'Open' });
    void drop(this.#vault, this.note.path, this.note.hash);
    this.#take(this.theirs);
  }

  async remove(): Promise<void> {
    if (!this.note) return;
    this.send({ is: 'deleting' });
    const r = await server.act('delete-note', { path: this.note.path, if_hash: this.note.hash });
    if (!this.#alive) return;
    if (r.ok && waits(r.value)) this.send({ is: 'asked', approval: r.value.pending_operation_id });
    else if (r.ok) this.#go('');
    else {
      server.tell(r.problem);
      this.stay();
    }
  }

  /** leave goes to the new path, with the draft; without one, to the list. */
  async leave(to: string): Promise<void> {
    if (this.note && to) {
      this.flush();
      await follow(this.#vault, this.note.path, to);
      this.send({ is: 'left' }); // under the old path nothing is kept any more
    }
    this.#go(to, true);
  }

  /** stay keeps the path, and looks at what was missed meanwhile. */
  stay(): void {
    this.send({ is: 'stayed' });
    void this.look();
  }

  /** answered looks at what became of an approval. */
  async answered(outcome: string, operation?: string): Promise<void> {
    if (outcome === 'pending') return;
    const { leaving, target } = this.state;
    this.send({ is: 'answered' });
    if (leaving === 'deleting' && outcome === 'done') done(`Deleted ${this.title}.`, operation);
    if (leaving && outcome === 'done') return this.leave(target);
    if (leaving !== 'renaming') this.send({ is: 'stayed' });
    if (!this.note) return;
    const mine = this.editor?.text() ?? this.text;
    const r = await readFrom(this.note.path);
    if (!this.#alive || !this.note || !r.ok) return;
    if (plain(r.value.text) === mine) await this.#saved(r.value, this.#vault, this.note.hash);
    else this.send({ is: 'unanswered' });
  }
}

/** tellConflict tells whoever left a note that it was not saved. */
function tellConflict(path: string): void {
  toasts.say(`${name(path)} was not saved: it changed on disk. Your text is kept as a draft.`, 'bad', { href: pathTo('notes', path), label: 'Compare' });
}
