// finish.mjs makes dist of build: the files, their gzip twins, and proof that
// they are within the budgets. A twin that still unpacks to its file is kept as
// it is, so that another release of Node changes nothing.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

const root = join(import.meta.dirname, '..');
const from = join(root, 'build');
const to = join(root, 'dist');

const walk = (dir) =>
  existsSync(dir) ? readdirSync(dir, { recursive: true, withFileTypes: true }).filter((e) => e.isFile()).map((e) => relative(dir, join(e.parentPath, e.name))) : [];

const files = walk(from).filter((f) => !f.startsWith('.vite'));
const wanted = new Set(files);
for (const f of files) {
  const b = readFileSync(join(from, f));
  const out = join(to, f);
  mkdirSync(dirname(out), { recursive: true });
  if (!existsSync(out) || !readFileSync(out).equals(b)) writeFileSync(out, b);
  if (f === 'index.html' || b.length < 1024) continue;
  const twin = out + '.gz';
  wanted.add(f + '.gz');
  try {
    if (gunzipSync(readFileSync(twin)).equals(b)) continue;
  } catch {
    // it is not there, or not a twin
  }
  writeFileSync(twin, gzipSync(b, { level: 9 }));
}
for (const f of walk(to)) if (!wanted.has(f)) rmSync(join(to, f));

// Budgets, in kilobytes after gzip; dist as it lies on disk.
const manifest = JSON.parse(readFileSync(join(from, '.vite/manifest.json'), 'utf8'));
const closure = (key, seen = new Set()) => {
  if (seen.has(key)) return seen;
  seen.add(key);
  for (const k of manifest[key].imports ?? []) closure(k, seen);
  return seen;
};
const size = (keys) => keys.reduce((n, k) => n + gzipSync(readFileSync(join(from, manifest[k].file)), { level: 9 }).length, 0) / 1000;
const first = closure('index.html');
const rows = [['first load, script', size([...first]), 90]];
for (const [name, prefix, most] of [['editor', 'src/parts/editor', 160], ['graph', 'src/views/graph/', 60]]) {
  const keys = new Set();
  for (const key of Object.keys(manifest)) if (key.startsWith(prefix)) for (const k of closure(key)) if (!first.has(k)) keys.add(k);
  if (keys.size > 0) rows.push([name, size([...keys]), most]);
}
rows.push(['dist', walk(to).reduce((n, f) => n + statSync(join(to, f)).size, 0) / 1000, 1500]);
let over = false;
for (const [name, have, most] of rows) {
  over ||= have > most;
  console.log(`${have > most ? 'OVER ' : 'ok   '} ${name.padEnd(20)} ${have.toFixed(1).padStart(8)} kB of ${most}`);
}
if (over) process.exit(1);
