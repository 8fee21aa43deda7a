// Settings in the order in which a person looks for them.
import type { Setting } from '../../api.gen';

export interface Group {
  name: string;
  settings: Setting[];
}

const names: [test: RegExp, name: string][] = [
  [/^(model|providers\.)/, 'Models'],
  [/^approve\./, 'What is asked about'],
  [/^(files|protect)\./, 'Files'],
  [/^limits\./, 'Limits'],
  [/^chats?\./, 'Conversations'],
  [/^nodes\./, 'Where new notes go'],
  [/^embed\./, 'Search by meaning'],
  [/^web\./, 'The web'],
  [/^tools\./, 'Tools'],
];

/** groupsOf puts settings that belong together beside each other; what belongs nowhere comes last. */
export function groupsOf(all: Setting[]): Group[] {
  const out = new Map<string, Setting[]>([...names.map(([, n]) => n), 'Other'].map((n) => [n, []]));
  for (const s of all) out.get(names.find(([t]) => t.test(s.key))?.[1] ?? 'Other')?.push(s);
  return [...out].filter(([, list]) => list.length > 0).map(([name, settings]) => ({ name, settings }));
}

/** choicesOf are the values that the words about a setting name, where they name all: "…: ask or allow". */
export function choicesOf(doc: string): string[] {
  const m = /: ([a-z]+(?:, [a-z]+)*(?:,? or [a-z]+)?)$/.exec(doc);
  const list = m?.[1]?.split(/, | or /).filter(Boolean) ?? [];
  return list.length > 1 ? list : [];
}

/** fromOf says where a value comes from. */
export function fromOf(source: string): string {
  return { default: 'as it comes', file: 'from the settings file', environment: 'from the environment: it goes before the file', flag: 'from the command line: it goes before the rest' }[source] ?? source;
}
