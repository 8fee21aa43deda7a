// The only code of ours in the frame that draws diagrams. The frame has an origin of
// its own, fetches nothing, and knows nothing but the texts that it is sent.
/* global mermaid */
(() => {
  'use strict';
  let drawn = 0;
  // One at a time: the drawing measures letters in the page.
  let last = Promise.resolve();
  async function draw({ id, text, dark }) {
    mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', htmlLabels: false, flowchart: { htmlLabels: false }, theme: dark ? 'dark' : 'default', maxTextSize: 50_000, maxEdges: 1000, fontFamily: 'system-ui, sans-serif', suppressErrorRendering: true });
    // Tags are letters here: the drawing would make elements of them to measure them. Line breaks are the one that it needs.
    const { svg } = await mermaid.render(`d${++drawn}`, text.replace(/<(?=[a-z!/])(?!br\s*\/?>)/gi, '#lt;'));
    // Read as a document of its own: nothing in it is loaded or run.
    const el = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg');
    for (const a of el.querySelectorAll('a')) for (const name of ['href', 'xlink:href', 'target']) a.removeAttribute(name); // a picture leads nowhere
    const [, , w, h] = (el.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number);
    const [width, height] = [Math.ceil(w) || 300, Math.ceil(h) || 150];
    el.setAttribute('width', width);
    el.setAttribute('height', height);
    return { id, svg: new XMLSerializer().serializeToString(el), width, height };
  }
  addEventListener('message', (e) => {
    if (e.source !== parent) return;
    last = last.then(() => draw(e.data)).catch((err) => ({ id: e.data.id, error: String(err?.message ?? err).slice(0, 400) })).then((answer) => parent.postMessage(answer, '*'));
  });
  parent.postMessage({ ready: true }, '*');
})();
