// A chat as Markdown, to take elsewhere.
import { ask } from '../../lib/api';
import { copyText } from '../../lib/clipboard';
import { server } from '../../lib/server.svelte';
import { toasts } from '../../lib/toasts.svelte';
import { split } from '../../parts/markdown';

async function markdownOf(chat: string): Promise<{ name: string; text: string } | undefined> {
  const r = await ask('exportChat', { path: { id: chat } });
  if (r.ok) return r.value;
  server.tell(r.problem);
  return undefined;
}

/** copyChat copies everything that was said, without the properties of the file. */
export async function copyChat(chat: string): Promise<void> {
  const m = await markdownOf(chat);
  if (!m) return;
  if (await copyText(split(m.text).body.trim() + '\n')) toasts.say('Chat copied.', 'good');
  else toasts.say('The browser did not allow copying. Download the chat instead.', 'info');
}

/** downloadChat saves a chat as a file. */
export async function downloadChat(chat: string): Promise<void> {
  const m = await markdownOf(chat);
  if (!m) return;
  const a = document.createElement('a');
  a.href = URL.createObjectURL(new Blob([m.text], { type: 'text/markdown' }));
  a.download = m.name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}
