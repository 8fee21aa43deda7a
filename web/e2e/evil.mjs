// What notes, names, tags, answers and results hold when somebody means harm, and
// what must be so wherever the page draws them.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quiet } from './world.mjs';

const run = 'window.pwned=1';
const far = 'http://127.0.0.1:9';

/** markup is HTML that would do something, were it HTML. */
export const markup = [
  `<script>${run}</script>`, `<script src="${far}/x.js"></script>`, `<img src=x onerror="${run}">`, `<svg onload="${run}"><animate onbegin="${run}" attributeName=x></svg>`, `<details ontoggle="${run}" open>x</details>`,
  `<iframe srcdoc="<script>parent.${run}</script>"></iframe>`, `<iframe src="javascript:parent.${run}"></iframe>`, `<object data="${far}/o"></object>`, `<embed src="${far}/e">`, `<base href="${far}/">`,
  `<meta http-equiv="refresh" content="0;url=${far}/m">`, `<form action="${far}/f"><input name="q" autofocus onfocus="${run}"><button class="approve primary">Allow once</button></form>`, `<style>@import "${far}/s.css"; .rail{display:none}</style>`,
  `<link rel="stylesheet" href="${far}/l.css">`, `<link rel="icon" href="${far}/favicon.ico">`, `<video poster="${far}/p.png" src="${far}/v.mp4" autoplay></video>`, `<img srcset="${far}/2x.png 2x" src="${far}/1x.png">`, `<body onload="${run}">`, `<marquee onstart="${run}">x</marquee>`,
  `<math><mtext><table><mglyph><style><img src=x onerror="${run}">`, `<noscript><p title="</noscript><img src=x onerror=${run}>">`, `<a style="background:url(${far}/css)" class="card panel approve" id="main" href="x">styled</a>`,
  `<div style="position:fixed;inset:0;z-index:99;background:url(${far}/fixed)" class="card panel" data-approval="pending_1"><button class="approve primary">Allow once</button></div>`, `<p aria-label="&lt;img src=x onerror=${run}&gt;" title="&lt;img src=x onerror=${run}&gt;">tip</p>`,
];

/** markdown is what Markdown itself offers to those who mean harm. */
export const markdown = [
  `[a](javascript:${run})`, `[b](JaVaScRiPt:${run})`, `[c](java\tscript:${run})`, `[d](&#106;avascript:${run})`, `[e](vbscript:x)`, `[f](data:text/html,<script>opener.${run}</script>)`, `[g](  javascript:${run})`, `[h](<javascript:${run}>)`, `[i](\u0001javascript:${run})`,
  `[j]: javascript:${run}\n\n[j]`, `<javascript:${run}>`, `![x](${far}/p.png?d=CANARY)`, `![y][ref]\n\n[ref]: ${far}/ref.png`, `[![z](${far}/z.png)](javascript:${run})`, `![x](data:image/svg+xml,<svg onload="${run}">)`, `[t](Nowhere "x" onmouseover="${run}")`, `[t](Nowhere 'x" onmouseover="${run}')`,
  `[[a" onmouseover="${run}]]`, `[[<img src=x onerror="${run}">|<img src=x onerror="${run}">]]`, `![[x|<img src=x onerror="${run}">]]`, `![[evil.svg|" onload="${run}]]`, `[[javascript:${run}]]`, `[[../../../etc/passwd]]`,
  `## A heading {#main .card onclick="${run}"} <img src=x onerror="${run}">`, `> [!note" onclick="${run}" class="card]+ <img src=x onerror="${run}">\n> text`, `> [!card panel] Delete everything?\n> **destroy** · pending\n> [Allow once](javascript:${run})`,
  `\`\`\`"><img src=x onerror="${run}">\ncode </code></pre><img src=x onerror="${run}">\n\`\`\``, `\`\`\`mermaid\ngraph TD; A["<img src=x onerror=${run}>"] --> B; click A "javascript:${run}"\n\`\`\``,
  `$$\\href{javascript:${run}}{x} \\htmlData{onclick=${run}}{y} \\includegraphics{${far}/k.png}$$`, `#tag"onmouseover="${run} #x<img/src=x/onerror=${run}>`, `| <img src=x onerror="${run}"> | b |\n|---|---|\n| [x](javascript:${run}) | <script>${run}</script> |`, `- [ ] <img src=x onerror="${run}">`, `\`<img src=x onerror="${run}">\``,
];

export const text = [...markdown, ...markup].join('\n\n') + '\n';

/** names are of files: everything but / and NUL is allowed in them. */
export const names = [`<img src=x onerror=${run}>`, `" onmouseover="${run}" x="`, `javascript:${run}`, `&lt;svg onload=${run}&gt;`];
export const word = `<img src=x onerror="${run}">`;
export const tag = `x" onmouseover="${run}`;

export const attachments = {
  'evil.html': `<script>${run}</script><h1>Hello</h1>`, 'evil.svg': `<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" width="9" height="9" onload="${run}"><script>${run}</script><x:script>${run}</x:script><a x:href="javascript:${run}"><animate attributeName="href" values="javascript:${run}"/><rect width="9" height="9"/></a><use href="data:image/svg+xml,&lt;svg id='x' onload='${run}'/&gt;#x"/><image href="${far}/i.png"/></svg>`,
  'evil.js': run, 'evil.xml': `<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">${run}</x:script>`, 'evil.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><script>${run}</script></html>`, 'evil.txt': `<script>${run}</script>`, 'evil.png': `<script>${run}</script>`,
};

/** lay puts all of it into a vault. */
export function lay(vault) {
  const put = (path, content) => writeFileSync(join(vault, path), content);
  mkdirSync(join(vault, 'Evil', names[0]), { recursive: true });
  const quoted = JSON.stringify(word);
  put('Evil/Evil.md', `---\n${quoted}: ${quoted}\ntitle: ${quoted}\ntags: [${JSON.stringify(tag)}, plain]\naliases: [${quoted}]\nlist: [${quoted}, "javascript:${run}"]\n"main": x\n---\n# Evil ${word}\n\nZebra [[Notes/Sencha]] and more.\n\n${text}`);
  put('Evil/Node.md', `---\ntype: ${quoted}\nid: ${JSON.stringify('n" onmouseover="' + run)}\ntitle: ${quoted}\nconfidence: 0.5\ntags: [${JSON.stringify(tag)}]\n---\n# ${word}\n\n- contradicts:: [[Evil]] ${word}\n- ${word}:: [[Sencha]]\n- supports:: [[Sencha]] ${word}\n`);
  for (const n of names) put(`Evil/${n}.md`, `---\ntags: [${JSON.stringify(tag)}]\n---\n# ${word}\n\nZebra ${word} [[Sencha]]\n`);
  put(`Evil/${names[0]}/Below.md`, `# Below\n\n[[Sencha]]\n`);
  for (const [n, content] of Object.entries(attachments)) put(`Evil/${n}`, content);
}

/** harmless asserts that what a page shows now is only text, and that nothing ran; `but` is what the browser may say of itself. */
export async function harmless(page, where, but) {
  const found = await page.evaluate(() => {
    const out = [];
    const told = (el, why) => out.push(`${why}: ${el.outerHTML.slice(0, 160)}`);
    if ('pwned' in window) out.push('a script of theirs ran');
    // What comes from notes and minds may stand in these attributes, and in text.
    const carrying = new Set(['title', 'aria-label', 'href', 'src', 'alt', 'value', 'placeholder', 'label', 'cite', 'datetime']);
    for (const el of document.querySelectorAll('*')) {
      const name = el.localName;
      for (const a of el.attributes) {
        if (/^on/i.test(a.name) || a.name === 'srcdoc' || a.name === 'srcset' || a.name === 'ping' || a.name === 'formaction' || a.name === 'poster' || (a.name === 'action' && name === 'form')) told(el, a.name);
        else if (!carrying.has(a.name) && !a.name.startsWith('data-') && /pwned|[<>"]/.test(a.value) && name !== 'meta') told(el, `${a.name} holds what they wrote`);
      }
      if (el.id && !/^[\w:.-]+$/.test(el.id)) told(el, 'id');
      // The frame that draws diagrams has no origin; what it draws is a picture.
      const drawer = name === 'iframe' && el.parentElement === document.body && el.getAttribute('src') === '/frame/diagram.html' && el.getAttribute('sandbox') === 'allow-scripts';
      if (!drawer && /^(iframe|frame|object|embed|base|applet|marquee|video|audio|portal)$/.test(name)) told(el, 'element');
      if (name === 'script' && new URL(el.src || 'about:blank').origin !== location.origin) told(el, 'script');
      if (name === 'style' && !el.nonce) told(el, 'style');
      if (name === 'link' && new URL(el.href).origin !== location.origin) told(el, 'link');
      if (name === 'meta' && el.closest('body')) told(el, 'meta');
      if (name === 'a' && el.hasAttribute('href') && !/^(https?|mailto):$/.test(el.protocol)) told(el, 'address');
      const drawn = name === 'img' && el.parentElement.matches('.prose figure.diagram') && el.src.startsWith('data:image/svg+xml,');
      if (name === 'img' && !drawn && new URL(el.src, location.href).origin !== location.origin) told(el, 'picture');
      if (name === 'a' && el.protocol.startsWith('http') && el.origin !== location.origin && !/noopener|noreferrer/.test(el.rel)) told(el, 'opener');
    }
    // In what is written by others: no controls but the boxes of tasks in a note, no names, no looks but those that are listed.
    const looks = /^(tag|wiki|raw|callout|callout-kind|note|tip|info|warning|danger|abstract|todo|success|question|failure|bug|example|quote|cite|doubtful|unproved|refused|outside|leads|number|doubt|hidden-char|missing|nowhere|math|wide|unread|embed|embed-title|footnotes?|footnote-back|diagram|diagram-error|code-(?:comment|string|number|word))$/;
    for (const prose of document.querySelectorAll('.prose, .diff, .excerpt, .cm-content')) {
      const own = prose.matches('.prose');
      for (const el of prose.querySelectorAll('*')) {
        if (/^(button|select|textarea|form|dialog|style|link|meta|script)$/.test(el.localName) || (el.localName === 'input' && !(el.type === 'checkbox' && (el.disabled || !own || prose.closest('section.one'))))) told(el, 'control');
        if (own && (el.id || el.hasAttribute('style') || el.hasAttribute('name'))) told(el, 'names itself');
        if (own) for (const c of el.classList) if (!looks.test(c) && !/^s(velte)?-/.test(c)) told(el, `class ${c}`);
      }
    }
    return [...new Set(out)].slice(0, 8);
  });
  assert.deepEqual(found, [], where);
  if (but) page.faults = page.faults.filter((f) => !but.test(f));
  quiet(page, where);
}
