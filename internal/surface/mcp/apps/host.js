// The conversation with the client, and the few ways in which a view is drawn.
const main = document.querySelector('main');
const waiting = new Map();
let lastId = 0;
let can = {};

const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
const tell = (method, params = {}) => send({ method, params });
const ask = (method, params = {}) =>
  new Promise((resolve, reject) => {
    const id = ++lastId;
    waiting.set(id, { resolve, reject });
    send({ id, method, params });
  });

// look takes over the client's colors.
function look(context) {
  if (context?.theme) document.documentElement.style.colorScheme = context.theme;
  for (const [name, value] of Object.entries(context?.styles?.variables ?? {})) {
    if (name.startsWith('--') && typeof value === 'string') document.documentElement.style.setProperty(name, value);
  }
}

// start says hello and calls the functions of a view when something arrives.
async function start(name, view) {
  addEventListener('message', (event) => {
    const m = event.data;
    if (event.source !== parent || m?.jsonrpc !== '2.0') return;
    if (m.id !== undefined && m.method === undefined) {
      const call = waiting.get(m.id);
      waiting.delete(m.id);
      if (m.error) call?.reject(new Error(String(m.error.message)));
      else call?.resolve(m.result);
    } else if (m.id !== undefined) {
      send(m.method === 'ui/resource-teardown' || m.method === 'ping' ? { id: m.id, result: {} } : { id: m.id, error: { code: -32601, message: 'unknown method' } });
    } else if (m.method === 'ui/notifications/tool-input') view.asked(m.params?.arguments ?? {});
    else if (m.method === 'ui/notifications/tool-result') view.answered(m.params ?? {});
    else if (m.method === 'ui/notifications/tool-cancelled') draw(text('p', 'The call was cancelled.', 'dim'));
    else if (m.method === 'ui/notifications/host-context-changed') look(m.params);
  });
  const hello = await ask('ui/initialize', { appInfo: { name, version: '1' }, appCapabilities: {}, protocolVersion: '2026-01-26' });
  can = hello.hostCapabilities ?? {};
  look(hello.hostContext);
  tell('ui/notifications/initialized');
  new ResizeObserver(() => tell('ui/notifications/size-changed', { height: Math.ceil(document.documentElement.getBoundingClientRect().height) })).observe(document.documentElement);
}

// dataOf is the object that a tool answered.
function dataOf(result) {
  if (result.structuredContent && typeof result.structuredContent === 'object') return result.structuredContent;
  try {
    return JSON.parse(result.content.at(-1).text);
  } catch {
    return {};
  }
}

// text makes an element that holds a text, in which nothing hides.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffd\u{e0000}-\u{e0fff}]/u;
function text(tag, words, className = '') {
  const out = document.createElement(tag);
  out.className = className;
  let plain = '';
  for (const c of String(words ?? '').replaceAll('\r\n', '\n')) {
    if (!unseen.test(c)) {
      plain += c;
      continue;
    }
    const mark = document.createElement('span');
    mark.className = 'hidden';
    mark.textContent = 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
    out.append(plain, mark);
    plain = '';
  }
  out.append(plain);
  return out;
}

function box(tag, className, ...inside) {
  const out = document.createElement(tag);
  out.className = className;
  out.append(...inside.filter((i) => i));
  return out;
}

function button(label, press) {
  const out = text('button', label);
  out.type = 'button';
  out.addEventListener('click', press);
  return out;
}

const list = (items) => (items?.length ? box('ul', '', ...items.map((i) => text('li', i))) : null);
const draw = (...inside) => main.replaceChildren(...inside.filter((i) => i));
const failure = (data) => [text('h1', 'Not done'), text('p', data.error ?? 'The call failed.')];
