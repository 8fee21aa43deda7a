// What a person reads for the states, risks and scopes that the server sends.

const words: Record<string, string> = {
  cancelled: 'Canceled',
  destroy: 'Destructive',
  egress: 'Internet',
  exec: 'Runs commands',
  model: 'Remote model',
  act: 'Acts outside the vault',
  dry_run: 'Preview',
  started: 'In progress',
  intended: 'In progress',
  dropped: 'Not applied',
  'needs consent': 'Not allowed yet',
  'cannot be used': 'Not usable',
};

/** wordFor is the word for a value that the server sends; a value without one is shown as it is. */
export function wordFor(value: string): string {
  return words[value] ?? value.charAt(0).toUpperCase() + value.slice(1).replaceAll('_', ' ');
}
