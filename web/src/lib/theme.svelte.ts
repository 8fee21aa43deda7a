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
