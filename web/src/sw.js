// The service worker. It does one thing: when Lore does not respond, it shows a page
// that says so. It keeps no page, no file and no note, so it can never show an old one.
// The browser itself asks for each page (navigation preload): a request that this worker
// made would look as if it came from Lore's own pages, whoever asked for it.
const version = '%VERSION%';
const page = '%PAGE%';
const policy = "default-src 'none'; style-src '%STYLE%'; script-src '%SCRIPT%'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (e) => e.waitUntil((self.registration.navigationPreload?.enable() ?? Promise.resolve()).then(() => self.clients.claim())));
self.addEventListener('fetch', (e) => {
  if (e.request.mode !== 'navigate' || e.request.method !== 'GET' || !self.registration.navigationPreload) return;
  e.respondWith(e.preloadResponse.then((r) => r ?? offline(), offline));
});

function offline() {
  return new Response(page, { status: 503, headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy, 'Cache-Control': 'no-store', 'Lore-Page': version } });
}
