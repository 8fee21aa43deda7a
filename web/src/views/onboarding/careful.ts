// How much is asked about, as one choice. Pure, so that it can be proved.

export interface Level {
  id: string;
  words: string;
  /** The settings that make it so. */
  settings: Record<string, string>;
}

export const levels: Level[] = [
  { id: 'strict', words: 'Ask me about everything, also about what a model elsewhere reads', settings: { 'approve.create': 'ask', 'approve.share': 'ask' } },
  { id: 'usual', words: 'Ask me about every change', settings: { 'approve.create': 'ask', 'approve.share': 'allow' } },
  { id: 'loose', words: 'New notes without asking; every other change is asked about', settings: { 'approve.create': 'allow', 'approve.share': 'allow' } },
];

/** levelOf is the choice that the settings in force are; '' is none of them. */
export function levelOf(value: (key: string) => string | undefined): string {
  return levels.find((l) => Object.entries(l.settings).every(([k, v]) => value(k) === v))?.id ?? '';
}
