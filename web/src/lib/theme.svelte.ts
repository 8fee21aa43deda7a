// Light, dark, or as the system says. Kept in this browser alone.

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];
const key = 'lore.theme';

function stored(): Theme {
  try {
    const t = localStorage.getItem(key);
    return t === 'light' || t === 'dark' ? t : 'system';
  } catch {
    return 'system';
  }
}

class Choice {
  now = $state<Theme>(stored());
  #night = $state(false);
  /** dark is whether what is seen is dark, whoever decided it. */
  dark = $derived(this.now === 'system' ? this.#night : this.now === 'dark');

  constructor() {
    const system = globalThis.matchMedia?.('(prefers-color-scheme: dark)');
    if (!system) return;
    this.#night = system.matches;
    system.addEventListener('change', () => (this.#night = system.matches));
  }

  set(t: Theme): void {
    this.now = t;
    try {
      if (t === 'system') localStorage.removeItem(key);
      else localStorage.setItem(key, t);
    } catch {
      // a browser that keeps nothing still shows it
    }
    this.apply();
  }

  apply(): void {
    if (this.now === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.now;
  }

  next(): void {
    this.set(themes[(themes.indexOf(this.now) + 1) % themes.length] ?? 'system');
  }
}

export const theme = new Choice();
