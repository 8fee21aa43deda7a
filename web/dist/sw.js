// The service worker. It does one thing: when Lore does not respond, it shows a page
// that says so. It keeps no page, no file and no note, so it can never show an old one.
// The browser itself asks for each page (navigation preload): a request that this worker
// made would look as if it came from Lore's own pages, whoever asked for it.
const version = '80a142fbf1b7e047';
const page = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\" /><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" /><meta name=\"color-scheme\" content=\"light dark\" /><title>Lore is offline</title><style>body{font:1.05rem/1.6 system-ui,sans-serif;max-width:34rem;margin:18vh auto 0;padding:0 1.2rem}h1{font-family:Georgia,serif;font-size:1.6rem}a{display:inline-block;padding:.7rem 1.1rem;border:1px solid;border-radius:8px;color:inherit;text-decoration:none}</style></head><body><main><h1>Lore is offline</h1><p>Lore is not responding. Check that <code>lore serve</code> is running and that this device can reach it. This page reloads when Lore responds again.</p><p><a href=\"\">Try again</a></p></main><script>setInterval(() => fetch('/manifest.webmanifest', { cache: 'no-store' }).then((r) => r.ok && location.reload(), () => {}), 3000);</script></body></html>";
const policy = "default-src 'none'; style-src 'sha256-xBA6+DrCxq+9q98lwkk7YRoXmGT9vlmYdr8tUv8Cx4k='; script-src 'sha256-M86GjPVhxYw383pwqwO7NO3ppYQXwDFrlSQZu4RFNVU='; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (e) => e.waitUntil((self.registration.navigationPreload?.enable() ?? Promise.resolve()).then(() => self.clients.claim())));
self.addEventListener('fetch', (e) => {
  if (e.request.mode !== 'navigate' || e.request.method !== 'GET' || !self.registration.navigationPreload) return;
  e.respondWith(e.preloadResponse.then((r) => r ?? offline(), offline));
});

function offline() {
  return new Response(page, { status: 503, headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy, 'Cache-Control': 'no-store', 'Lore-Page': version } });
}
