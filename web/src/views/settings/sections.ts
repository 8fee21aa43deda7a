// The parts of the settings, each with an address of its own.

export interface Section {
  /** What follows /settings/ in the address. */
  id: string;
  label: string;
}

export const sections: Section[] = [
  { id: '', label: 'General' },
  { id: 'models', label: 'Models' },
  { id: 'tools', label: 'Tools' },
  { id: 'servers', label: 'MCP servers' },
  { id: 'programs', label: 'Connected apps' },
  { id: 'safety', label: 'Safety' },
  { id: 'conversations', label: 'Chats' },
  { id: 'all', label: 'All settings' },
];
