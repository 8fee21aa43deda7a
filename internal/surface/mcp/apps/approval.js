
// The approval view: what is planned, and what came of it.
const most = { files: 200, lines: 2000, words: 400 };
const wordsOf = (line) => line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

// compare marks the words in which two lines differ.
function compare(before, after) {
  const [x, y] = [wordsOf(before), wordsOf(after)];
  if (x.length > most.words || y.length > most.words) return null;
  const same = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
  for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--) same[i][j] = x[i] === y[j] ? same[i + 1][j + 1] + 1 : Math.max(same[i + 1][j], same[i][j + 1]);
  const [left, right] = [box('div', 'removed', '-'), box('div', 'added', '+')];
  let i = 0;
  let j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      left.append(text('span', x[i++]));
      right.append(text('span', y[j++]));
    } else if (j >= y.length || (i < x.length && same[i + 1][j] >= same[i][j + 1])) left.append(text('del', x[i++]));
    else right.append(text('ins', y[j++]));
  }
  return [left, right];
}

// diff draws a unified diff, word by word where as many lines came as left.
function diff(unified) {
  const all = unified.replace(/\n$/, '').split('\n').filter((l) => !/^(---|\+\+\+) /.test(l));
  const lines = all.slice(0, most.lines);
  const out = box('pre', '');
  for (let i = 0; i < lines.length; ) {
    let j = i;
    while (lines[j]?.startsWith('-')) j++;
    let k = j;
    while (lines[k]?.startsWith('+')) k++;
    if (k === i) {
      out.append(text('div', lines[i], lines[i].startsWith('@@') ? 'dim' : ''));
      i++;
      continue;
    }
    const pairs = j - i === k - j ? lines.slice(i, j).map((l, n) => compare(l.slice(1), lines[j + n].slice(1))) : [];
    if (pairs.length && pairs.every((p) => p)) for (const side of [0, 1]) out.append(...pairs.map((p) => p[side]));
    else for (const l of lines.slice(i, k)) out.append(text('div', l, l.startsWith('-') ? 'removed' : 'added'));
    i = k;
  }
  if (all.length > lines.length) out.append(text('div', `… ${all.length - lines.length} more lines. See all of them in Lore, under Approvals.`, 'dim'));
  return out;
}

function changes(given = []) {
  const out = given.slice(0, most.files).map((c) => box('section', '', text('h2', `${c.action} ${c.from ? c.from + ' → ' : ''}${c.path} (+${c.added} -${c.removed})`), c.diff ? diff(c.diff) : c.added + c.removed > 0 && text('p', 'See the diff in Lore, under Approvals.', 'dim')));
  if (given.length > most.files) out.push(text('p', `… ${given.length - most.files} more files. See all of them in Lore, under Approvals.`, 'warn'));
  return out;
}

const outside = (data) => data.untrusted && text('p', 'This shows text from an untrusted source.', 'warn');

function plan(data, card) {
  const token = card?.token;
  const warnings = (data.warnings ?? []).map((w) => text('p', w, 'warn'));
  draw(text('h1', data.summary), text('p', data.reason, 'dim'), outside(data), ...warnings, list(data.steps), ...changes(card?.changes ?? data.changes), token && can.serverTools ? choice(data, token) : elsewhere(data));
}

// elsewhere says where to approve what cannot be approved here.
function elsewhere(data) {
  const page = typeof data.approve_url === 'string' && /^https?:\/\//.test(data.approve_url) ? data.approve_url : '';
  return box('div', 'row', text('p', 'This is not approved yet. A person must approve it in Lore.'), page && text('p', page, 'dim'), page && can.openLinks && button('Open Lore', () => ask('ui/open-link', { url: page }).catch(() => {})));
}

function choice(data, token) {
  const word = document.createElement('input');
  word.placeholder = 'Message to the assistant (optional)';
  word.setAttribute('aria-label', word.placeholder);
  const said = text('p', '', 'dim');
  const buttons = [true, false].map((approve) =>
    button(approve ? 'Approve' : 'Deny', async () => {
      buttons.forEach((b) => (b.disabled = true));
      try {
        const result = await ask('tools/call', { name: document.body.dataset.answer, arguments: { token, approve, word: word.value } });
        answered(result);
        report(data.summary, dataOf(result));
      } catch (e) {
        said.replaceChildren(text('span', e.message));
        buttons.forEach((b) => (b.disabled = false));
      }
    }),
  );
  return box('div', 'row', ...buttons, word, said);
}

// report lets the model know what its user decided, with its next message.
function report(summary, data) {
  if (!can.updateModelContext || data.requires_confirmation) return;
  const how = data.isError === true ? `could not be done: ${data.error}` : data.success ? `was approved and done${data.operation_id ? ` (operation ${data.operation_id})` : ''}` : `was denied by the user${data.user_feedback ? `: ${data.user_feedback}` : ''}`;
  ask('ui/update-model-context', { content: [{ type: 'text', text: `The pending operation "${summary}" ${how}.` }] }).catch(() => {});
}

function answered(result) {
  const data = dataOf(result);
  if (data.requires_confirmation && data.success === false) return plan(data, result._meta?.['lore/approval']);
  if (result.isError || data.isError === true) return draw(...failure(data));
  if (data.isError === false) return draw(text('h1', 'Denied'), text('p', data.message || data.error), data.user_feedback && text('p', data.user_feedback));
  draw(text('h1', data.dry_run ? 'Preview: nothing was changed' : 'Done'), text('p', data.message), outside(data), ...(data.dry_run ? changes(data.changes) : [list((data.changes ?? []).map((c) => `${c.action} ${c.path} (+${c.added} -${c.removed})`))]), data.operation_id && text('p', 'You can undo this in Lore.', 'dim'));
}

start('lore-approval', { asked: () => draw(text('p', 'Waiting for the plan…', 'dim')), answered });
