// finish.mjs makes dist of build: the files, their gzip twins, and proof that
// they are within the budgets. A twin that still unpacks to its file is kept as
// it is, so that another release of Node changes nothing.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join, relative } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

const root = join(import.meta.dirname, '..');
const from = join(root, 'build');
const to = join(root, 'dist');

const walk = (dir) =>
  existsSync(dir) ? readdirSync(dir, { recursive: true, withFileTypes: true }).filter((e) => e.isFile()).map((e) => relative(dir, join(e.parentPath, e.name))) : [];

/** put packs b into a file, unless it is what that file holds already. */
function put(packed, b) {
  try {
    if (gunzipSync(readFileSync(packed)).equals(b)) return;
  } catch {
    // it is not there, or something else
  }
  writeFileSync(packed, gzipSync(b, { level: 9 }));
}
// The service worker carries its page inside, and a version that changes with every file of the page.
const hash = (how, b, as) => createHash(how).update(b).digest(as);
const offline = readFileSync(join(root, 'src/offline.html'), 'utf8').replace(/\n\s*/g, '');
const version = hash('sha256', walk(from).filter((f) => !f.startsWith('.vite') && f !== 'sw.js').sort().map((f) => f + hash('sha256', readFileSync(join(from, f)), 'hex')).join('\n'), 'hex').slice(0, 16);
const allowed = (element) => 'sha256-' + hash('sha256', new RegExp(`<${element}>(.*)</${element}>`).exec(offline)[1], 'base64');
writeFileSync(join(from, 'sw.js'), readFileSync(join(root, 'src/sw.js'), 'utf8').replace('%VERSION%', version).replace("'%PAGE%'", JSON.stringify(offline)).replace('%STYLE%', allowed('style')).replace('%SCRIPT%', allowed('script')));

const files = walk(from).filter((f) => !f.startsWith('.vite'));
const wanted = new Set(files);
for (const f of files) {
  const b = readFileSync(join(from, f));
  const out = join(to, f);
  mkdirSync(dirname(out), { recursive: true });
  if (!existsSync(out) || !readFileSync(out).equals(b)) writeFileSync(out, b);
  if (f === 'index.html' || b.length < 1024) continue;
  wanted.add(f + '.gz');
  put(out + '.gz', b);
}
// The frame that draws diagrams is one file, which fetches nothing. It is large and seldom
// needed, so it is kept packed, with the sum that lets its script run.
{
  const script = readFileSync(join(root, 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js'), 'utf8').replaceAll('<!--', '<\\!--') + '\n' + readFileSync(join(root, 'src/frame/diagram.js'), 'utf8');
  if (/<\/script|<!--/i.test(script)) throw new Error('the script of the frame would end its element');
  const page = Buffer.from(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Diagrams</title><body><script>${script}</script>`);
  mkdirSync(join(to, 'frame'), { recursive: true });
  put(join(to, 'frame/diagram.html.gz'), page);
  writeFileSync(join(to, 'frame/diagram.sum'), 'sha256-' + createHash('sha256').update(script).digest('base64') + '\n');
  for (const f of ['diagram.html.gz', 'diagram.sum']) wanted.add('frame/' + f);
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
rows.push(['diagrams', statSync(join(to, 'frame/diagram.html.gz')).size / 1000, 720]);
rows.push(['dist', walk(to).reduce((n, f) => n + statSync(join(to, f)).size, 0) / 1000, 2800]);
let over = false;
for (const [name, have, most] of rows) {
  over ||= have > most;
  console.log(`${have > most ? 'OVER ' : 'ok   '} ${name.padEnd(20)} ${have.toFixed(1).padStart(8)} kB of ${most}`);
}
if (over) process.exit(1);
