// A person who has keys alone. Wherever the focus goes, it must be seen.
import assert from 'node:assert/strict';
import { still } from './world.mjs';

export class Keys {
  constructor(page) {
    this.page = page;
  }

  /** press presses keys one after the other. */
  async press(...keys) {
    for (const k of keys) await this.page.keyboard.press(k);
  }
  async type(text) {
    await this.page.keyboard.type(text);
  }

  /** focus is what has it, in words, and whether a person sees that. */
  focus() {
    return this.page.evaluate(() => {
      const el = document.activeElement;
      const shows = (e, pseudo) => {
        const s = getComputedStyle(e, pseudo);
        return (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1) || s.boxShadow !== 'none';
      };
      // A field may stand in a frame that is lit for it; an editor shows its caret.
      const lit = (e) => shows(e) || (e.matches('textarea') && e.parentElement?.matches(':focus-within') && shows(e.parentElement)) || !!e.closest('.cm-editor.cm-focused') || (e.getAttribute('aria-activedescendant') && shows(document.getElementById(e.getAttribute('aria-activedescendant')) ?? e));
      const box = el.getBoundingClientRect();
      const seen = el === document.body ? false : el.id === 'main' || (lit(el) && box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth);
      return { where: el.outerHTML.slice(0, 140), body: el === document.body, seen, again: el === globalThis.lastFocus || ((globalThis.lastFocus = el), false) };
    });
  }

  /** here asserts that the focus is somewhere, and seen. */
  async here(what) {
    let f = await this.focus();
    // What goes away takes the focus along until the next picture is drawn.
    for (let i = 0; i < 20 && f.body; i++, f = await this.focus()) await this.page.evaluate(() => new Promise((r) => requestAnimationFrame(() => setTimeout(r, 5))));
    assert.ok(!f.body, `${what}: the focus is nowhere`);
    assert.ok(f.seen, `${what}: the focus is not seen on ${f.where}`);
  }

  /** to goes on with the Tab key until something has the focus. */
  async to(locator, { most = 120, key = 'Tab' } = {}) {
    const wanted = await locator.first().elementHandle();
    const there = (el) => el === document.activeElement || (el.isConnected ? false : null);
    for (let i = 0; i < most; i++) {
      const is = await wanted.evaluate(there);
      if (is) return this.here(String(locator));
      if (is === null) return this.to(locator, { most: most - i, key }); // it was drawn anew
      await this.press(key);
    }
    assert.fail(`${locator} is not reached by Tab`);
  }
  /** on goes to something and presses Enter. */
  async on(locator, options) {
    await this.to(locator, options);
    await this.press('Enter');
  }

  /** walk goes through a view: every stop is seen, and none holds the focus. */
  async walk(what, most) {
    await still(this.page);
    let left = false;
    for (let i = 0; i < most; i++) {
      await this.press('Tab');
      const f = await this.focus();
      if (f.body) {
        left = true; // the end of the page: the browser's own buttons follow
        continue;
      }
      if (left) return;
      assert.ok(f.seen, `${what}: the focus is not seen on ${f.where}`);
      assert.ok(!f.again, `${what}: the focus does not leave ${f.where}`);
    }
  }
}
