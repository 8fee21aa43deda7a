// The one policy of this page (the server allows no other): a worker may be
// started from the page's own files and from /sw.js, and from nothing else. It is made at the
// start, so that nobody else can make it.
type Policy = { createScriptURL(url: string): unknown };
type Factory = { createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy };

const rules = {
  createScriptURL(url: string): string {
    const u = new URL(url, location.href);
    if (u.origin !== location.origin || !(u.pathname.startsWith('/assets/') || u.pathname === '/sw.js')) throw new TypeError('unknown worker script');
    return u.href;
  },
};
const factory = (globalThis as { trustedTypes?: Factory }).trustedTypes;
const policy: Policy = factory ? factory.createPolicy('lore', rules) : rules;

/** scriptURL is the address of a worker, for what browsers take only by the policy. */
export function scriptURL(url: string): string {
  return policy.createScriptURL(url) as string;
}

/** startWorker starts a worker of the page's own files: pass it what `import url from './x.ts?worker&url'` gives. */
export function startWorker(url: string): Worker {
  return new Worker(policy.createScriptURL(url) as string, { type: 'module' });
}

/** nonce lets a style element of a library pass. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
}
