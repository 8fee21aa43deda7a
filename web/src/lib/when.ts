// Times, sizes and counts for people.
const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** at is a moment in full. */
export function at(iso: string): string {
  const d = new Date(iso);
  return Number.isNaN(d.getTime()) ? iso : short.format(d);
}

/** ago is how long ago it was, or how far away it is. */
export function ago(iso: string, now = Date.now()): string {
  const s = (new Date(iso).getTime() - now) / 1000;
  if (Number.isNaN(s)) return iso;
  for (const [unit, size] of [['day', 86400], ['hour', 3600], ['minute', 60]] as const) {
    if (Math.abs(s) >= size) return relative.format(Math.trunc(s / size), unit);
  }
  return s > 0 ? 'in a moment' : 'just now';
}

/** count is a number with its word. */
export function count(n: number, one: string, many = one + 's'): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

/** bytes is a size. */
export function bytes(n: number): string {
  return n < 1000 ? `${n} B` : n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`;
}
