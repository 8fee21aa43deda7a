import { describe, expect, it } from 'vitest';
import { nameOf, noteOf, sharedIn } from './shared';

describe('what another app shares', () => {
  it('becomes a note with a name that every file system takes', () => {
    const s = sharedIn(new URLSearchParams({ title: 'Tea: a/b? "c"', text: 'Steep it.', url: 'https://example.org/x y' }));
    expect(nameOf(s)).toBe('Tea a b c');
    expect(noteOf(s, 'Tea a b c', true)).toBe('---\nuntrusted: true\n---\n# Tea a b c\n\nSteep it.\n\n<https://example.org/x%20y>\n');
    expect(noteOf({ ...s, url: '' }, 'Tea', false)).toBe('# Tea\n\nSteep it.\n');
  });
  it('has a name even without a title, and takes no link that is none', () => {
    expect(nameOf(sharedIn(new URLSearchParams({ text: 'https://example.org' })), new Date(2026, 0, 2, 3, 4))).toBe('Shared 2026-01-02 03.04');
    expect(nameOf(sharedIn(new URLSearchParams({ text: '..\n' })), new Date(2026, 0, 2, 3, 4))).toBe('Shared 2026-01-02 03.04');
    expect(sharedIn(new URLSearchParams({ url: 'javascript:alert(1)' })).url).toBe('');
  });
});
