import './app.css';
import './lib/worker'; // makes the one policy of the page before anything else runs
import { mount } from 'svelte';
import { ask } from './lib/api';
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
  router.go('/', true);
  if (isHeld() && (await ask('status')).ok) return; // whoever is signed in needs no link
  const why = await signIn(code);
  if (!why) return;
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
