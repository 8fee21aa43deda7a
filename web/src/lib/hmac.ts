// HMAC-SHA256 of short texts, at once: the browser's own gives its answer later,
// and only on pages that it calls secure. It signs addresses of attachments.
const K = new Uint32Array(64);
const H = new Uint32Array(8);
// The first bits of the fractions of the roots of the first primes (FIPS 180-4).
for (let n = 0, c = 2; n < 64; c++) {
  let prime = true;
  for (let d = 2; d * d <= c; d++) prime &&= c % d !== 0;
  if (!prime) continue;
  if (n < 8) H[n] = (Math.sqrt(c) % 1) * 2 ** 32;
  K[n++] = (Math.cbrt(c) % 1) * 2 ** 32;
}

function sha256(message: Uint8Array): Uint8Array {
  const bytes = new Uint8Array((((message.length + 8) >> 6) + 1) << 6);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(bytes.length - 4, message.length * 8);
  const h = new Uint32Array(H);
  const w = new Uint32Array(64);
  const turn = (x: number, n: number): number => (x >>> n) | (x << (32 - n));
  for (let at = 0; at < bytes.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + i * 4);
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15]!;
      const b = w[i - 2]!;
      w[i] = w[i - 16]! + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 7]! + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, k] = h as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const one = (k + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [k, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, k].forEach((v, i) => (h[i] = h[i]! + v));
  }
  const out = new DataView(new ArrayBuffer(32));
  h.forEach((v, i) => out.setUint32(i * 4, v));
  return new Uint8Array(out.buffer);
}

/** hmac is the signature of a text with a key, in hexadecimal. */
export function hmac(key: string, text: string): string {
  const encode = (s: string): Uint8Array => new TextEncoder().encode(s);
  let k = encode(key);
  if (k.length > 64) k = sha256(k);
  const pad = (mask: number, rest: Uint8Array): Uint8Array => {
    const b = new Uint8Array(64 + rest.length).fill(mask, 0, 64);
    k.forEach((v, i) => (b[i] = v ^ mask));
    b.set(rest, 64);
    return b;
  };
  return [...sha256(pad(0x5c, sha256(pad(0x36, encode(text)))))].map((b) => b.toString(16).padStart(2, '0')).join('');
}
