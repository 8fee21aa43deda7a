import './app.css';
import './lib/worker'; // makes the one policy of the page before anything else runs
import { mount } from 'svelte';
import { keepFocus } from './lib/focus';
import { theme } from './lib/theme.svelte';
import { router } from './lib/router.svelte';
import { server } from './lib/server.svelte';
import { isHeld, signIn } from './lib/session';
import Shell from './shell/Shell.svelte';

/** enter uses the code of a sign-in link, and takes it out of the address and of the history. */
async function enter(): Promise<void> {
  if (location.pathname !== '/login') return;
  const code = new URLSearchParams(location.search).get('code') ?? '';
  const known = isHeld();
  history.replaceState(null, '', '/');
  const why = await signIn(code);
  if (!why || known) return; // a link that was used by this very browser leads home
  server.refused = why;
  server.signedOut = true;
}

theme.apply();
void enter().then(() => {
  router.start();
  server.start();
  keepFocus();
  const target = document.getElementById('app');
  if (target) mount(Shell, { target });
});
