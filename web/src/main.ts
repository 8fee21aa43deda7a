import './app.css';
import './lib/worker'; // makes the one policy of the page before anything else runs
import { mount } from 'svelte';
import { keepFocus } from './lib/focus';
import { theme } from './lib/theme.svelte';
import { router } from './lib/router.svelte';
import { server } from './lib/server.svelte';
import Shell from './shell/Shell.svelte';

theme.apply();
router.start();
server.start();
keepFocus();
const target = document.getElementById('app');
if (target) mount(Shell, { target });
