
// The search view: what was found, and a note when it is opened.
let query = '';

async function open(hit, into) {
  try {
    const result = await ask('tools/call', { name: document.body.dataset.read, arguments: { path: hit.path } });
    const data = dataOf(result);
    if (result.isError) throw new Error(data.error);
    into.replaceChildren(text('pre', data.text, 'note'), data.more ? text('p', 'Only the first part is shown.', 'dim') : '');
  } catch (e) {
    into.replaceChildren(text('p', e.message, 'warn'));
  }
}

function hit(found) {
  const into = box('div', '');
  const opens = document.body.dataset.read && can.serverTools;
  return box('article', '', text('h2', found.title || found.path), text('p', [found.path, found.heading].filter((w) => w).join(' › '), 'dim'), text('p', found.chunk), opens && button('Open', () => open(found, into)), into);
}

function answered(result) {
  const data = dataOf(result);
  if (result.isError || data.isError) return draw(...failure(data));
  const results = Array.isArray(data.results) ? data.results : [];
  draw(text('h1', results.length ? `Results for “${query}”` : `Nothing found for “${query}”`), data.untrusted && text('p', 'This shows text from an untrusted source.', 'warn'), ...results.map(hit));
}

start('lore-search', {
  asked: (args) => {
    query = String(args.query ?? '');
    draw(text('p', `Searching for “${query}”…`, 'dim'));
  },
  answered,
});
