import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { hmac } from './hmac';
import { forget, isHeld, proof, signed, signIn } from './session';

describe('hmac', () => {
  it('is what others compute', () => {
    for (const key of ['', 'k', 'ü'.repeat(40), 'x'.repeat(64), 'x'.repeat(65), 'y'.repeat(200)])
      for (const text of ['', 'a', '1700000000\nPictures/ä b.png', 'z'.repeat(55), 'z'.repeat(56), 'z'.repeat(64), 'z'.repeat(1000)]) expect(hmac(key, text)).toBe(createHmac('sha256', key).update(text).digest('hex'));
  });
});

describe('session', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    forget();
  });

  it('keeps the word for this origin and signs with it', async () => {
    const fetched = vi.fn(() => Promise.resolve(new Response(JSON.stringify({ session: 'word', files: 'key' }))));
    vi.stubGlobal('fetch', fetched);
    expect([isHeld(), proof(), signed('/f/a.png', 'a.png')]).toEqual([false, {}, '/f/a.png']);
    expect(await signIn('code')).toBe('');
    expect(proof()).toEqual({ 'Lore-Session': 'word' });
    const [, until, signature] = /until=(\d+)&signature=([0-9a-f]{64})$/.exec(signed('/f/a.png', 'a.png')) ?? [];
    expect(signature).toBe(createHmac('sha256', 'key').update(`${until}\na.png`).digest('hex'));
    expect(Number(until) * 1000).toBeGreaterThan(Date.now());
    forget();
    expect([isHeld(), proof()]).toEqual([false, {}]);
  });

  it('says why a link did not work, and keeps nothing', async () => {
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify({ detail: 'used' }), { status: 401 })));
    expect(await signIn('code')).toBe('used');
    expect(isHeld()).toBe(false);
  });
});
