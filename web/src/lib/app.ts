// The page as an app: a service worker says that Lore is offline when it is. It keeps
// nothing, and goes when the person signs out.
import { scriptURL } from './worker';

/** startApp registers the worker, once somebody is signed in. Without https or this computer's own address, browsers have none. */
export async function startApp(): Promise<void> {
  try {
    await navigator.serviceWorker?.register(scriptURL('/sw.js'), { scope: '/', updateViaCache: 'none' });
  } catch {
    // the page works without it
  }
}

/** stopApp removes the worker and whatever the browser kept for it. */
export async function stopApp(): Promise<void> {
  try {
    for (const r of (await navigator.serviceWorker?.getRegistrations()) ?? []) await r.unregister();
    for (const name of await caches.keys()) await caches.delete(name);
  } catch {
    // no worker, nothing to remove
  }
}
