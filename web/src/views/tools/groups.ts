// The tools by what somebody wants to do.
import { score } from '../../lib/fuzzy';
import type { Tool } from '../../lib/types';

export interface Group {
  title: string;
  tools: Tool[];
}

// In the order in which they are looked for.
const titles: Record<string, string> = {
  notes: 'Read and write notes',
  explore: 'Find and explore',
  organize: 'Organize',
  knowledge: 'Knowledge graph',
  work: 'History and chats',
  automation: 'Automation',
  files: 'Files and commands',
  web: 'Web',
  clock: 'Dates and times',
};

/** toolsFor are the tools that fit what was typed. Other names for the same thing, which models know, are shown when they are asked for. */
export function toolsFor(all: readonly Tool[], typed: string): Tool[] {
  const words = typed.trim();
  if (!words) return all.filter((t) => !t.hidden);
  return all.filter((t) => score(words, `${t.title} ${t.name} ${t.toolset}`) > 0 || t.summary.toLowerCase().includes(words.toLowerCase()));
}

/** groupsOf puts them together; those of other servers come last, by their server. */
export function groupsOf(tools: readonly Tool[]): Group[] {
  const out = new Map<string, Tool[]>();
  const add = (title: string, t: Tool): void => void out.set(title, [...(out.get(title) ?? []), t]);
  for (const [set, title] of Object.entries(titles)) for (const t of tools) if (!t.source && t.toolset === set) add(title, t);
  for (const t of tools) if (!t.source && !(t.toolset in titles)) add(t.toolset.charAt(0).toUpperCase() + t.toolset.slice(1), t);
  for (const t of tools) if (t.source) add(`From ${t.source}`, t);
  return [...out].map(([title, list]) => ({ title, tools: list }));
}
