// How much is asked about, as one choice. Pure, so that it can be proved.

export interface Level {
  id: string;
  words: string;
  /** The settings that make it so. */
  settings: Record<string, string>;
}

export const levels: Level[] = [
  { id: 'strict', words: 'Ask before every change, and before sharing notes with a remote model', settings: { 'approve.create': 'ask', 'approve.share': 'ask' } },
  { id: 'usual', words: 'Ask before every change', settings: { 'approve.create': 'ask', 'approve.share': 'allow' } },
  { id: 'loose', words: 'Create notes without asking; ask before any other change', settings: { 'approve.create': 'allow', 'approve.share': 'allow' } },
];

/** levelOf is the choice that the settings in force are; '' is none of them. */
export function levelOf(value: (key: string) => string | undefined): string {
  return levels.find((l) => Object.entries(l.settings).every(([k, v]) => value(k) === v))?.id ?? '';
}
