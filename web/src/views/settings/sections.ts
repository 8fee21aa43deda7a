// The parts of the settings, each with an address of its own.

export interface Section {
  /** What follows /settings/ in the address. */
  id: string;
  label: string;
}

export const sections: Section[] = [
  { id: '', label: 'Look' },
  { id: 'models', label: 'Models' },
  { id: 'tools', label: 'Tools' },
  { id: 'servers', label: 'Other servers' },
  { id: 'programs', label: 'Programs' },
  { id: 'safety', label: 'Safety' },
  { id: 'conversations', label: 'Conversations' },
  { id: 'all', label: 'All settings' },
];
