// The switches of tools in words, and their order. Pure, so that it can be proved.
import type { SetSetting, ToolSetting } from '../../api.gen';
import { score } from '../../lib/fuzzy';

/** states are what a tool can be, each with what it means. */
export const states: Record<string, { word: string; means: string }> = {
  on: { word: 'On', means: 'Reads without asking; asks before changes' },
  ask: { word: 'Always ask', means: 'Asks before every call' },
  allow: { word: 'Never ask', means: 'Runs without asking, except for destructive changes and commands' },
  off: { word: 'Off', means: 'Not available to anyone, and hidden from models' },
};

export interface Group {
  /** The set, or mcp:SERVER for the tools of another server. */
  id: string;
  title: string;
  set: SetSetting | undefined;
  server: string;
  tools: ToolSetting[];
}

/** serverOf is the name of a server without the file that names it. */
export function serverOf(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1);
}

/** groupsOf puts tools under their sets, and those of other servers under these. */
export function groupsOf(sets: SetSetting[], tools: ToolSetting[], typed: string): Group[] {
  const out = new Map<string, Group>();
  for (const t of tools) {
    if (typed.trim() && score(typed.trim(), `${t.name} ${t.name.replaceAll('_', ' ')} ${t.set} ${t.server ?? ''}`) <= 0 && !t.doc.toLowerCase().includes(typed.trim().toLowerCase())) continue;
    const id = t.server ? 'mcp:' + t.server : t.set;
    let g = out.get(id);
    if (!g) {
      g = { id, title: t.server ? serverOf(t.server) : t.set, set: t.server ? undefined : sets.find((s) => s.name === t.set), server: t.server ?? '', tools: [] };
      out.set(id, g);
    }
    g.tools.push(t);
  }
  return [...out.values()].sort((a, b) => Number(!!a.server) - Number(!!b.server));
}

/** choiceOf is what a person chose for a tool; '' is nothing. */
export function choiceOf(t: ToolSetting): string {
  return t.from === 'file' ? t.state : '';
}

/** unchosen says what holds while nothing is chosen. */
export function unchosen(t: ToolSetting, set: SetSetting | undefined): string {
  const said = set?.state ?? 'on';
  if (t.usual === 'off' && said !== 'off') return `Default (${states.off?.word.toLowerCase()})`; // a set does not turn it on
  const s = said === 'ask' && t.effect === 'read' ? 'on' : said; // a set that asks asks about what it changes
  return s === 'on' ? `Default (${states.on?.word.toLowerCase()})` : `Same as toolset (${(states[s]?.word ?? s).toLowerCase()})`;
}
