// The notes that were opened last in this browser, the newest first.
const name = 'lore.recent';
const most = 30;

/** recent lists their paths. */
export function recent(): string[] {
  try {
    const v: unknown = JSON.parse(localStorage.getItem(name) ?? '[]');
    return Array.isArray(v) ? v.filter((p): p is string => typeof p === 'string') : [];
  } catch {
    return [];
  }
}

/** visit puts a note first. */
export function visit(path: string): void {
  try {
    localStorage.setItem(name, JSON.stringify([path, ...recent().filter((p) => p !== path)].slice(0, most)));
  } catch {
    // a browser that keeps nothing has none
  }
}
