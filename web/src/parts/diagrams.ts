// Diagrams. Mermaid is large, and has had holes: it runs in a frame without an origin,
// which fetches nothing, and what it draws is shown as a picture, in which nothing runs.
import { theme } from '../lib/theme.svelte';

interface Drawn {
  svg: string;
  width: number;
  height: number;
}
interface Answer extends Partial<Drawn> {
  ready?: true;
  id?: number;
  error?: string;
}

/** patience is how long one diagram may take, and how long the frame stays when nothing is drawn, in milliseconds. */
const patience = 20_000;

/** A Drawer is the frame, while there is something to draw. */
class Drawer {
  #frame = document.createElement('iframe');
  #waits = new Map<number, { done: (d: Drawn) => void; failed: (e: Error) => void }>();
  #ready: Promise<void>;
  #end: ReturnType<typeof setTimeout> | undefined;
  #hear = (e: MessageEvent): void => {
    if (e.source === this.#frame.contentWindow) this.#heard(e.data as Answer);
  };
  #open = (): void => undefined;
  static #ids = 0;
  static now: Drawer | undefined;

  constructor() {
    this.#ready = new Promise((f) => (this.#open = f));
    const f = this.#frame;
    f.sandbox.add('allow-scripts');
    f.src = '/frame/diagram.html';
    f.title = 'Diagrams';
    f.tabIndex = -1;
    f.ariaHidden = 'true';
    f.className = 'drawer';
    addEventListener('message', this.#hear);
    document.body.append(f);
  }
  #heard(a: Answer): void {
    if (a.ready) this.#open();
    const w = a.id === undefined ? undefined : this.#waits.get(a.id);
    if (!w || a.id === undefined) return;
    this.#waits.delete(a.id);
    if (a.error === undefined && typeof a.svg === 'string') w.done({ svg: a.svg, width: Number(a.width), height: Number(a.height) });
    else w.failed(new Error(String(a.error)));
  }
  async draw(text: string, dark: boolean): Promise<Drawn> {
    await this.#ready;
    clearTimeout(this.#end);
    this.#end = setTimeout(() => this.close(), patience);
    const id = ++Drawer.#ids;
    return new Promise((done, failed) => {
      this.#waits.set(id, { done, failed });
      this.#frame.contentWindow?.postMessage({ id, text, dark }, '*'); // its origin has no name
    });
  }
  /** close ends the frame, and with it a diagram that does not come to an end. */
  close(): void {
    if (Drawer.now === this) Drawer.now = undefined;
    removeEventListener('message', this.#hear);
    this.#frame.remove();
    for (const w of this.#waits.values()) w.failed(new Error('the diagram takes too long to draw'));
    this.#waits.clear();
    this.#open();
  }
}

const kept = new Map<string, Promise<Drawn>>();

function diagram(text: string, dark: boolean): Promise<Drawn> {
  const key = `${dark ? 'dark' : 'light'}:${text}`;
  let d = kept.get(key);
  if (!d) {
    if (kept.size > 60) kept.delete(kept.keys().next().value ?? '');
    kept.set(key, (d = (Drawer.now ??= new Drawer()).draw(text, dark)));
  }
  return d;
}

/** drawDiagrams puts the picture of each diagram above its text, which can still be read. One that cannot be drawn says why. */
export function drawDiagrams(root: HTMLElement): void {
  for (const pre of root.querySelectorAll<HTMLElement>('pre[title="mermaid"]:not(.diagram *)')) {
    const text = pre.textContent ?? '';
    void diagram(text, theme.dark).then(
      (d) => show(pre, text, d),
      (e: Error) => fail(pre, e.message),
    );
  }
}

function show(pre: HTMLElement, text: string, d: Drawn): void {
  if (pre.closest('.diagram')) return;
  const img = new Image(d.width, d.height);
  img.alt = 'Diagram: ' + text.trim().replace(/\s+/g, ' ').slice(0, 200);
  img.src = 'data:image/svg+xml,' + encodeURIComponent(d.svg);
  const figure = document.createElement('figure');
  figure.className = 'diagram';
  const source = document.createElement('details');
  const summary = document.createElement('summary');
  summary.textContent = 'Source';
  pre.replaceWith(figure);
  source.append(summary, pre);
  figure.append(img, source);
}

function fail(pre: HTMLElement, why: string): void {
  if (pre.nextElementSibling?.classList.contains('diagram-error')) return;
  const p = document.createElement('p');
  p.className = 'diagram-error';
  p.textContent = 'This diagram cannot be drawn: ' + (why.split('\n')[0] ?? '').replace(/:\s*$/, '') + '.';
  pre.after(p);
}
