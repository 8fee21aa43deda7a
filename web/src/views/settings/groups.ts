// Settings in the order in which a person looks for them.
import type { Setting } from '../../api.gen';

export interface Group {
  name: string;
  settings: Setting[];
}

const names: [test: RegExp, name: string][] = [
  [/^(model|providers\.)/, 'Models'],
  [/^approve\./, 'When to ask me'],
  [/^(files|protect)\./, 'Files'],
  [/^limits\./, 'Limits'],
  [/^chats?\./, 'Chats'],
  [/^nodes\./, 'New nodes'],
  [/^embed\./, 'Semantic search'],
  [/^web\./, 'Web'],
  [/^tools\./, 'Tools'],
];

/** groupsOf puts settings that belong together beside each other; what belongs nowhere comes last. */
export function groupsOf(all: Setting[]): Group[] {
  const out = new Map<string, Setting[]>([...names.map(([, n]) => n), 'Other'].map((n) => [n, []]));
  for (const s of all) out.get(names.find(([t]) => t.test(s.key))?.[1] ?? 'Other')?.push(s);
  return [...out].filter(([, list]) => list.length > 0).map(([name, settings]) => ({ name, settings }));
}

/** fromOf says where a value comes from. */
export function fromOf(source: string): string {
  return { default: 'by default', file: 'in the settings file', environment: 'by an environment variable, which overrides the file', flag: 'on the command line, which overrides everything else' }[source] ?? source;
}
