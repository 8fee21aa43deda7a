// Times, sizes and counts for people.
const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** at is a moment in full. */
export function at(iso: string): string {
  const d = new Date(iso);
  return Number.isNaN(d.getTime()) ? iso : short.format(d);
}

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

/** dayOf is a date without a time, given as 2026-01-31. */
export function dayOf(date: string): string {
  const d = new Date(date + 'T00:00:00Z');
  return Number.isNaN(d.getTime()) ? date : day.format(d);
}

/** lasting is a duration, given in seconds. */
export function lasting(seconds: number): string {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  const [h, m] = [Math.floor(s / 3600), Math.floor((s % 3600) / 60)];
  return [h && `${h} h`, m && `${m} min`, !h && s % 60 && `${s % 60} s`].filter(Boolean).join(' ');
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

/** today is the date here, as 2026-01-31. */
export function today(now = new Date()): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

/** count is a number with its word. */
export function count(n: number, one: string, many = one + 's'): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

/** bytes is a size. */
export function bytes(n: number): string {
  return n < 1000 ? `${n} B` : n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`;
}
