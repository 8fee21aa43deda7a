import { describe, expect, test } from 'vitest';
import { canAutosave, isBusy, next, opening, statusText, type Event, type State } from './note';

/** after is the state of a note that is edited, after some events. */
const after = (...events: Event[]): State => events.reduce(next, opening(true));
const text = (s: State): string => statusText(s.status).text;

const open: Event = { is: 'opened', whole: true };
const type: Event = { is: 'typed', dirty: true };
const restore: Event = { is: 'typed', dirty: false }; // the text is what it was
const started: Event = { is: 'saveStarted' };

describe('what the bar says', () => {
  const cases: [what: string, events: Event[], words: string, bad?: boolean][] = [
    ['a note that was opened', [open], ''],
    ['one that is not all text', [{ is: 'opened', whole: false }], 'Read-only: part of this file is not valid text', true],
    ['a key', [open, type], 'Unsaved changes'],
    ['a key taken back', [open, type, restore], ''],
    ['saving', [open, type, started], 'Saving…'],
    ['a key while it is saved', [open, type, started, type], 'Unsaved changes'],
    ['saved', [open, type, started, { is: 'saved', dirty: false }, { is: 'savedAndStored', at: '10:00' }], 'Saved 10:00'],
    ['saved, and more was written meanwhile', [open, type, started, { is: 'saved', dirty: true }, { is: 'savedAndStored', at: '10:00' }], 'Unsaved changes'],
    ['a draft of this version', [open, { is: 'draft', at: '9:00', current: true }], 'Unsaved draft from 9:00'],
    ['a key in that draft', [open, { is: 'draft', at: '9:00', current: true }, type], 'Unsaved draft from 9:00'],
    ['that draft given up', [open, { is: 'draft', at: '9:00', current: true }, restore], ''],
    ['a draft of an older version', [open, { is: 'draft', at: '9:00', current: false }, type], 'The note changed on disk; your draft is based on an older version', true],
    ['a draft of a note that is gone', [{ is: 'orphan' }, type], 'This note was deleted or moved. Your unsaved draft is below', true],
    ['changed on disk while it is edited', [open, type, { is: 'changedOnDisk' }, type], 'Changed on disk', true],
    ['changed on disk while it is read', [open, { is: 'reloaded', at: '9:30' }], 'Updated from disk 9:30'],
    ['gone', [open, { is: 'removed' }], 'This note was deleted or moved', true],
    ['gone and back', [open, { is: 'removed' }, { is: 'returned' }], ''],
    ['gone, or not: news were missed', [open, { is: 'removed' }, { is: 'found' }], ''],
    ['not saved: the file changed', [open, type, started, { is: 'conflicted' }, { is: 'compared' }], 'Not saved: the note changed on disk', true],
    ['not saved: refused', [open, type, started, { is: 'saveFailed', why: 'No.', missing: false }], 'Not saved: No.', true],
    ['a key after that', [open, type, started, { is: 'saveFailed', why: 'No.', missing: false }, type], 'Not saved: No.', true],
    ['waiting for approval', [open, type, started, { is: 'saveAsked', approval: 'q' }], 'Not saved yet: needs your approval'],
    ['denied', [open, type, started, { is: 'saveDenied' }], 'Not saved: denied', true],
    ['a property was set', [open, { is: 'edited', at: '9:40' }], 'Saved 9:40'],
    ['a property was set while text is unsaved', [open, type, { is: 'edited', at: '9:40' }], 'Unsaved changes'],
    ['the other text cannot be read', [open, type, { is: 'compareFailed', why: 'Gone.' }], 'Not saved: Gone.', true],
  ];
  test.each(cases)('%s', (_, events, words, bad = false) => {
    expect(statusText(after(...events).status)).toEqual({ text: words, bad });
  });
});

describe('unsaved text', () => {
  test('is unsaved until it is saved', () => {
    const dirty: [Event[], boolean][] = [
      [[open], false], [[open, type], true], [[open, type, started], true], [[open, type, started, { is: 'conflicted' }], true],
      [[open, type, started, { is: 'saveFailed', why: '', missing: true }], true], [[open, type, started, { is: 'saveAsked', approval: 'q' }], true], [[open, type, started, { is: 'saveDenied' }], true],
      [[open, type, { is: 'removed' }], true], [[open, type, { is: 'changedOnDisk' }], true], [[{ is: 'orphan' }], true], [[open, type, { is: 'compared' }, { is: 'compareClosed', edit: false }], true],
      [[open, type, started, { is: 'saved', dirty: false }], false], [[open, type, { is: 'reloaded', at: '' }], false], [[open, type, { is: 'left' }], false],
    ];
    for (const [events, want] of dirty) expect(after(...events).dirty, JSON.stringify(events.at(-1))).toBe(want);
  });
  test('a save that failed because the file is gone creates it the next time', () => {
    expect(after(open, type, started, { is: 'saveFailed', why: '', missing: true }).gone).toBe(true);
    expect(after(open, type, { is: 'removed' }, started, { is: 'saved', dirty: false }).gone).toBe(false);
  });
  test('a draft opens the editor, also for who came to read', () => {
    expect(next(next(opening(false), open), { is: 'draft', at: '', current: true }).editing).toBe(true);
    expect(next(opening(false), { is: 'orphan' }).editing).toBe(true);
  });
});

test('is saved by itself only where nothing has to be decided', () => {
  const list: [Event[], boolean][] = [
    [[open], false], [[open, type], true], [[open, type, restore], false], [[open, type, started], false], [[open, type, { is: 'changedOnDisk' }], true],
    [[open, type, started, { is: 'conflicted' }, { is: 'compareDeferred' }], false], [[open, type, started, { is: 'conflicted' }, { is: 'compared' }], false],
    [[open, type, started, { is: 'saveFailed', why: 'Away.', missing: false }], true], [[open, type, started, { is: 'saveFailed', why: 'Gone.', missing: true }], false],
    [[open, type, started, { is: 'saveAsked', approval: 'q' }], false], [[open, type, { is: 'removed' }], false], [[{ is: 'orphan' }], false],
    [[open, type, { is: 'renaming' }], false], [[open, type, { is: 'deleting' }], false], [[open, type, { is: 'left' }], false],
  ];
  for (const [events, want] of list) expect(canAutosave(after(...events)), JSON.stringify(events.at(-1))).toBe(want);
});

describe('two texts', () => {
  const compared = after(open, type, { is: 'changedOnDisk' }, { is: 'compared' });
  test('are not looked at behind the person, nor folded away by a key', () => {
    expect([isBusy(compared), next(compared, { is: 'toggled' })]).toEqual([true, compared]);
  });
  test('closing them leaves the file diverged; saving ends it', () => {
    const closed = next(compared, { is: 'compareClosed', edit: true });
    expect([closed.comparing, closed.diverged, closed.editing]).toEqual([false, true, true]);
    const merged = next(compared, { is: 'merged' });
    expect([merged.comparing, merged.dirty, merged.diverged]).toEqual([false, true, true]);
    expect(next(next(merged, started), { is: 'saved', dirty: false }).diverged).toBe(false);
  });
  test('taking the version on disk ends it, too', () => {
    const taken = next(compared, { is: 'reloaded', at: '' });
    expect([taken.comparing, taken.diverged, taken.dirty]).toEqual([false, false, false]);
  });
});

describe('another path', () => {
  test('nothing is read under the old one until it is decided', () => {
    const list: [Event[], boolean][] = [
      [[open], false], [[open, { is: 'renaming' }], true], [[open, { is: 'deleting' }], true], [[open, { is: 'renaming' }, { is: 'asked', approval: 'q', target: 'B.md' }], true],
      [[open, { is: 'deleting' }, { is: 'asked', approval: 'q' }], true], [[open, { is: 'deleting' }, { is: 'stayed' }], false], [[open, started], true],
    ];
    for (const [events, want] of list) expect(isBusy(after(...events)), JSON.stringify(events.at(-1))).toBe(want);
  });
  test('a move that needs approval keeps its target until it is decided', () => {
    const asked = after(open, { is: 'renaming' }, { is: 'asked', approval: 'q', target: 'B.md' });
    expect([asked.leaving, asked.target, asked.approval]).toEqual(['moving', 'B.md', 'q']);
    const stayed = [{ is: 'answered' } as const, { is: 'stayed' } as const].reduce<State>(next, asked);
    expect([stayed.leaving, stayed.target, stayed.approval]).toEqual(['', '', '']);
  });
  test('an approval for something else keeps the path', () => expect(after(open, { is: 'asked', approval: 'q' }).leaving).toBe(''));
  test('a denied change of the text leaves it unsaved', () => {
    const s = after(open, type, started, { is: 'saveAsked', approval: 'q' }, { is: 'answered' }, { is: 'unanswered' });
    expect([s.approval, text(s), s.dirty]).toEqual(['', 'Unsaved changes', true]);
  });
});

test('a key that changes nothing changes nothing', () => {
  const s = after(open, type);
  expect(next(s, type)).toBe(s);
});
