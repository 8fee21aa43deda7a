// vault.mjs VAULT EXPECTED GRAPH: reads a vault as programs do that know nothing
// of Lore: Markdown with remark, properties with yaml, wikilinks with an
// extension for Obsidian's. It holds every note against what Obsidian and
// Dataview need, the properties against EXPECTED ({path: {key: value}}), and the
// nodes and relations it found by itself against GRAPH, which is what Lore says.
// It prints what is wrong, one line each, and what it looked at.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { isDeepStrictEqual } from "node:util";
import remarkFrontmatter from "remark-frontmatter";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkWikiLink from "@flowershow/remark-wiki-link";
import { unified } from "unified";
import YAML from "yaml";

const [root, expectedFile, graphFile] = process.argv.slice(2);
const read = (path) => readFileSync(path, "utf8");
const expected = JSON.parse(read(expectedFile));
const graph = JSON.parse(read(graphFile));
const markdown = unified().use(remarkParse).use(remarkFrontmatter).use(remarkGfm).use(remarkWikiLink);

const wrong = [];
const say = (path, text) => wrong.push(`${path}: ${text}`);

const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((e) => e.isFile())
  .map((e) => posix.join(...join(e.parentPath, e.name).slice(root.length + 1).split("\\")))
  .filter((p) => !p.split("/").some((part) => part.startsWith(".")));

// resolve finds the files that a link can mean, by Obsidian's rule: letter case
// does not matter and ".md" may be left out; a path from the top of the vault
// counts first, then every file whose path ends so.
function resolve(target) {
  const wanted = target.toLowerCase();
  for (const name of [wanted, `${wanted}.md`]) {
    const exact = files.filter((f) => f.toLowerCase() === name);
    if (exact.length > 0) return exact;
  }
  for (const name of [wanted, `${wanted}.md`]) {
    const ends = files.filter((f) => f.toLowerCase().endsWith(`/${name}`));
    if (ends.length > 0) return ends;
  }
  return [];
}

function* walk(node) {
  yield node;
  for (const child of node.children ?? []) yield* walk(child);
}

// What Obsidian forbids in the name of a file, or cannot link to.
const badName = /[[\]#^|\\:*?"<>]|^\.|[. ]$/;
// A list item as Dataview reads a field: a key, two colons, a value; the fields
// in brackets are fields of the item; the mark at the end is Obsidian's.
const line = /^([\p{L}][\p{L}\p{N}_]*):: (\[\[[^[\]]+\]\])((?: \[(?:confidence|prior):: (?:0(?:\.\d+)?|1)\])*)(?: (.+?))? \^([A-Za-z0-9-]+)$/u;
const blockID = /(?:^|\s)\^([A-Za-z0-9-]+)[ \t]*$/;

const nodes = new Map();
const edges = new Map();
const blocks = new Map();
const notes = new Map();
let links = 0;

for (const path of files.filter((f) => f.endsWith(".md"))) {
  const text = read(join(root, path));
  const tree = markdown.parse(text);
  const source = (n) => text.slice(n.position.start.offset, n.position.end.offset);
  notes.set(path, { tree, source });
  if (badName.test(posix.basename(path, ".md"))) say(path, "the name cannot be linked to");
  if (Buffer.byteLength(posix.basename(path)) > 200) say(path, "the name is too long for some systems");
  if (!text.endsWith("\n") || text.includes("\r")) say(path, "no text with line ends");
  nodes.set(path, properties(path, tree));
}

for (const [path, { tree, source }] of notes) {
  marks(path, tree, source);
  for (const n of walk(tree)) {
    if (n.type !== "wikiLink" && n.type !== "embed") continue;
    links++;
    const [target, ...fragment] = n.value.split("#");
    const found = target === "" ? [path] : resolve(target);
    if (found.length !== 1) say(path, `[[${n.value}]] leads to ${found.length} files: ${found}`);
    else if (fragment.length > 0) lands(path, n.value, found[0], fragment.at(-1));
  }
  relations(path, tree, source);
  if (nodes.get(path).origin === "web") foreign(path, tree, source);
}

// properties reads what stands before the text.
function properties(path, tree) {
  const [front, ...rest] = tree.children;
  if (front?.type !== "yaml" || rest.some((n) => n.type === "yaml")) {
    say(path, "it does not begin with its properties");
    return {};
  }
  const doc = YAML.parseDocument(front.value, { strict: true, uniqueKeys: true });
  for (const e of [...doc.errors, ...doc.warnings]) say(path, `YAML: ${e.message}`);
  const p = doc.toJS();
  if (typeof p.id !== "string" || !/^[\w-]+$/.test(p.id)) say(path, `id: ${p.id}`);
  if (typeof p.type !== "string" || p.type === "") say(path, `type: ${p.type}`);
  for (const key of ["confidence", "confidence_prior"]) {
    if (p[key] !== undefined && !(typeof p[key] === "number" && p[key] >= 0 && p[key] <= 1)) say(path, `${key}: ${p[key]}`);
  }
  if (p.aliases !== undefined && !(Array.isArray(p.aliases) && p.aliases.every((a) => typeof a === "string"))) say(path, `aliases: ${p.aliases}`);
  if (p.origin === "web" && !(p.untrusted === true && /^https?:\/\//.test(p.url) && /^\d{4}-\d\d-\d\d$/.test(p.retrieved))) say(path, `origin: ${JSON.stringify(p)}`);
  for (const [key, want] of Object.entries(expected[path] ?? {})) {
    if (!isDeepStrictEqual(p[key], want)) say(path, `${key} is ${JSON.stringify(p[key])}, not ${JSON.stringify(want)}`);
  }
  return p;
}

// marks collects the block ids of a note.
function marks(path, tree, source) {
  for (const n of walk(tree)) {
    if (n.type !== "paragraph" && n.type !== "heading") continue;
    const id = source(n).match(blockID)?.[1];
    if (id === undefined) continue;
    if (blocks.has(id)) say(path, `^${id} stands in ${blocks.get(id)} too`);
    blocks.set(id, path);
  }
}

// lands checks the heading or block that a link names.
function lands(path, value, to, fragment) {
  const { tree, source } = notes.get(to);
  const there = fragment.startsWith("^")
    ? blocks.get(fragment.slice(1)) === to || [...walk(tree)].some((n) => n.type === "paragraph" && source(n).match(blockID)?.[1] === fragment.slice(1))
    : [...walk(tree)].some((n) => n.type === "heading" && source(n).replace(/^#+ /, "") === fragment);
  if (!there) say(path, `[[${value}]] names nothing in ${to}`);
}

// relations reads the lines below a heading Relations, and sees that they stand
// nowhere else.
function relations(path, tree, source) {
  let under = false;
  for (const n of tree.children) {
    if (n.type === "heading") under = source(n).replace(/^#+ /, "") === "Relations";
    for (const inner of walk(n)) {
      const words = inner.type === "paragraph" ? source(inner) : "";
      if (/^[\p{L}_]+:: \[\[/u.test(words) && !(under && n.type === "list")) say(path, `a relation stands where none belongs: ${words}`);
    }
    if (!under || n.type !== "list") continue;
    for (const item of n.children) {
      const words = source(item.children[0]);
      const found = words.match(line);
      if (item.children.length !== 1 || item.children[0].type !== "paragraph" || item.checked !== null || !found) {
        say(path, `no relation as Dataview reads it: ${JSON.stringify(source(item))}`);
        continue;
      }
      const [, key, link, fields, notes, id] = found;
      const own = item.children[0].children.find((c) => c.type === "wikiLink");
      if (own === undefined || `[[${own.value}]]` !== link) say(path, `the parser sees no link in ${words}`);
      const confidence = fields.match(/\[confidence:: ([\d.]+)\]/)?.[1];
      edges.set(`${path}^${id}`, {
        edge_id: id, from: path, to: resolve(link.slice(2, -2).split("#")[0])[0], type: key.toUpperCase(),
        confidence: confidence === undefined ? null : Number(confidence), notes: notes ?? "",
      });
    }
  }
}

// foreign holds a note from the web against what it may be: words, its address,
// and the one relation that was made for it.
function foreign(path, tree, source) {
  let linked = 0;
  for (const n of walk(tree)) {
    if (["html", "embed", "image", "table", "footnoteDefinition"].includes(n.type) || (n.type === "listItem" && n.checked !== null)) say(path, `the web wrote ${n.type}: ${source(n)}`);
    if (n.type === "wikiLink") linked++;
    if (n.type === "link" && source(n) !== `<${nodes.get(path).url}>`) say(path, `the web wrote a link: ${source(n)}`);
    if (n.type === "paragraph" && /(?<![\\\p{L}\p{N}])#[\p{L}_/-]/u.test(source(n).replaceAll(/<[^>]*>/g, ""))) say(path, `the web wrote a tag: ${source(n)}`);
    if (n.type === "paragraph" && /(?<!\\)(%%|::(?! (\[\[|0|1)))/.test(source(n))) say(path, `the web wrote a comment or a field: ${source(n)}`);
  }
  if (linked !== 1) say(path, `${linked} links in a note from the web`);
}

// What Lore says must be what was found.
const said = new Map(graph.nodes.map((n) => [n.path, n]));
const byID = new Map(graph.nodes.map((n) => [n.node_id, n.path]));
for (const [path, p] of nodes) {
  const n = said.get(path);
  if (n === undefined) say(path, "Lore does not know it");
  else if (n.node_id !== p.id || n.type !== p.type || n.confidence !== (p.confidence ?? null)) say(path, `Lore says ${JSON.stringify(n)} of ${JSON.stringify(p)}`);
}
for (const path of said.keys()) if (!nodes.has(path)) say(path, "Lore knows it, and it is not there");
const told = new Set();
for (const e of graph.edges) {
  const from = byID.get(e.from_id), key = `${from}^${e.edge_id}`;
  const same = { edge_id: e.edge_id, from, to: byID.get(e.to_id), type: e.relationship_type, confidence: e.confidence, notes: e.notes ?? "" };
  told.add(key);
  if (!isDeepStrictEqual(edges.get(key), same)) say(from, `Lore says ${JSON.stringify(same)}, there stands ${JSON.stringify(edges.get(key))}`);
}
for (const key of edges.keys()) if (!told.has(key)) say(key, "Lore does not know this relation");

console.log(JSON.stringify({ notes: notes.size, links, relations: edges.size, blocks: blocks.size, wrong }));
