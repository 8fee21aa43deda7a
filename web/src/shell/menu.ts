// The views, in the order of the rail.
import Sun from '@lucide/svelte/icons/calendar-check';
import Bot from '@lucide/svelte/icons/message-circle';
import FileText from '@lucide/svelte/icons/file-text';
import SearchIcon from '@lucide/svelte/icons/search';
import Share from '@lucide/svelte/icons/waypoints';
import History from '@lucide/svelte/icons/history';
import Wrench from '@lucide/svelte/icons/wrench';
import Settings from '@lucide/svelte/icons/settings';
import type { View } from '../lib/router.svelte';

export const menu: { view: View; label: string; icon: typeof Bot; keys: string }[] = [
  { view: 'home', label: 'Today', icon: Sun, keys: 'g d' },
  { view: 'chat', label: 'Chat', icon: Bot, keys: 'g c' },
  { view: 'notes', label: 'Notes', icon: FileText, keys: 'g n' },
  { view: 'search', label: 'Search', icon: SearchIcon, keys: 'mod+shift+f' },
  { view: 'graph', label: 'Graph', icon: Share, keys: 'g g' },
  { view: 'activity', label: 'Activity', icon: History, keys: 'g h' },
  { view: 'tools', label: 'Tools', icon: Wrench, keys: 'g t' },
  { view: 'settings', label: 'Settings', icon: Settings, keys: 'g s' },
];

/** So many views have a tab at the bottom of a phone; the rest are under More. */
export const tabbed = 4;

/** currentOf is the aria-current of a view's link: the doctor and the setup are opened from the settings. */
export function currentOf(link: View, shown: string): 'page' | 'true' | undefined {
  if (link === shown) return 'page';
  return link === 'settings' && (shown === 'doctor' || shown === 'onboarding') ? 'true' : undefined;
}

/** title is what a view is called. */
export function title(view: string): string {
  return menu.find((m) => m.view === view)?.label ?? { approvals: 'Approvals', onboarding: 'Setup', doctor: 'Doctor', share: 'Save to inbox' }[view] ?? 'Page not found';
}
