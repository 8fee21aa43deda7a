// Keys that work everywhere, and the list that help shows.

/** A Binding is one key, or two in a row, and what it does. */
export interface Binding {
  /** As "mod+k", "mod+shift+f", "?" or "g a"; mod is Ctrl, or Command on a Mac. */
  keys: string;
  what: string;
  run: () => void;
  /** It works where the browser lets it through, and is promised to nobody. */
  untold?: boolean;
}

const mac = typeof navigator !== 'undefined' && /Mac|iP(hone|ad)/.test(navigator.platform);

/** shown is how a person reads keys. */
export function shown(keys: string): string {
  return keys
    .split(' ')
    .map((k) => k.split('+').map((p) => ({ mod: mac ? '⌘' : 'Ctrl', shift: mac ? '⇧' : 'Shift', alt: mac ? '⌥' : 'Alt', ArrowLeft: '←', ArrowRight: '→' })[p] ?? (p.length === 1 && k.includes('+') ? p.toUpperCase() : p)).join(mac ? '' : '+'))
    .join(' then ');
}

/** chord is the name of what was pressed. */
export function chord(e: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>): string {
  const mod = e.ctrlKey || e.metaKey;
  const key = e.key.length === 1 && mod ? e.key.toLowerCase() : e.key;
  return [mod ? 'mod' : '', mod && e.shiftKey ? 'shift' : '', e.altKey ? 'alt' : '', key].filter(Boolean).join('+');
}

function typing(t: EventTarget | null): boolean {
  return t instanceof HTMLElement && (t.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName));
}

/** listen runs bindings until the returned function is called. */
export function listen(bindings: () => Binding[]): () => void {
  let first = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pressed = (e: KeyboardEvent): void => {
    if (e.defaultPrevented || e.isComposing) return;
    const c = chord(e);
    // A letter that is written is no command, nor one in a dialogue.
    if (!c.startsWith('mod+') && (typing(e.target) || document.querySelector('dialog[open]'))) return;
    const keys = first ? `${first} ${c}` : c;
    first = '';
    clearTimeout(timer);
    const hit = bindings().find((b) => b.keys === keys);
    if (hit) {
      e.preventDefault();
      hit.run();
    } else if (bindings().some((b) => b.keys.startsWith(c + ' '))) {
      first = c;
      timer = setTimeout(() => (first = ''), 1200);
    }
  };
  addEventListener('keydown', pressed);
  return () => removeEventListener('keydown', pressed);
}
