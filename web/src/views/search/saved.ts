// The searches that a person keeps in this browser: a name, and the address of the search.
const name = 'lore.searches';
const most = 50;

export interface Saved {
  name: string;
  at: string;
}

/** saved lists them, in the order in which they were kept. */
export function saved(): Saved[] {
  try {
    const v: unknown = JSON.parse(localStorage.getItem(name) ?? '[]');
    if (!Array.isArray(v)) return [];
    return v.filter((s: Partial<Saved> | null): s is Saved => typeof s?.name === 'string' && typeof s.at === 'string' && s.at.startsWith('/search?'));
  } catch {
    return [];
  }
}

function put(list: Saved[]): Saved[] {
  try {
    localStorage.setItem(name, JSON.stringify(list));
  } catch {
    // a browser that keeps nothing has none
  }
  return saved();
}

/** save keeps a search; one of the same name is replaced. */
export function save(as: string, at: string): Saved[] {
  return put([...saved().filter((s) => s.name !== as), { name: as, at }].slice(-most));
}

export function forget(as: string): Saved[] {
  return put(saved().filter((s) => s.name !== as));
}
