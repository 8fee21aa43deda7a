import { describe, expect, it } from 'vitest';
import { suggest } from './suggest';

const note = (title: string, more = {}): { path: string; title: string } => ({ path: `Notes/${title}.md`, title, ...more });

describe('questions that the notes suggest', () => {
  it('begin where notes disagree, go on with what a note asks, and end with what was written last', () => {
    const got = suggest(
      [note('Sencha', { tags: ['tea'] }), note('Does hard water flatten tea', { type: 'Question' }), note('Pots'), note('Matcha', { tags: ['tea'] }), note('Cups')],
      [{ from: { title: 'Hot' }, to: { title: 'Cold' } }],
    );
    expect(got).toEqual(['What speaks for and against “Hot” and “Cold”?', 'Does hard water flatten tea?', 'How are “Sencha” and “Matcha” related?', 'What do my notes say about “Pots”?']);
  });
  it('are none without notes that say something in their title', () => {
    expect(suggest([note('2026-11-17'), { path: 'Daily/2026-11-17.md', title: 'Tuesday, 17 November' }, note('Untitled'), { path: 'Templates/Person.md', title: 'Person' }], [])).toEqual([]);
  });
});
