// How notes are opened: to read, with a live preview, or as they are written. Kept
// in this browser alone.

export const modes = { reading: 'Reading', live: 'Live preview', source: 'Source' } as const;
export type Mode = keyof typeof modes;
const key = 'lore.mode';

function stored(): Mode {
  try {
    const m = localStorage.getItem(key) ?? '';
    return m in modes ? (m as Mode) : 'reading';
  } catch {
    return 'reading';
  }
}

class Choice {
  now = $state<Mode>(stored());
  /** How a note that is opened to read is edited. */
  editor = $state<'live' | 'source'>(stored() === 'source' ? 'source' : 'live');

  set(m: Mode): void {
    this.now = m;
    if (m !== 'reading') this.editor = m;
    try {
      localStorage.setItem(key, m);
    } catch {
      // a browser that stores nothing has it until the page is closed
    }
  }
}

export const noteMode = new Choice();
