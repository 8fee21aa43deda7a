// A JSON schema as a form: fields with what they take. What no field can show is
// edited as JSON. The server checks again, and better.

export interface Schema {
  type?: string | string[];
  description?: string;
  title?: string;
  enum?: unknown[];
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  [more: string]: unknown;
}

export type Kind = 'text' | 'long' | 'number' | 'switch' | 'choice' | 'words' | 'group' | 'json';

export interface Field {
  name: string;
  label: string;
  help: string;
  kind: Kind;
  required: boolean;
  schema: Schema;
  fields: Field[];
  /** Few people need it: the form folds it away. */
  advanced: boolean;
}

/** typesOf are the types that a value may have, beside null. */
export function typesOf(s: Schema): string[] {
  return (Array.isArray(s.type) ? s.type : s.type ? [s.type] : []).filter((t) => t !== 'null');
}

// Names of values that may have several lines.
const longNames = /^(content|text|body|instructions|markdown|search|replace|replacement|diff|patch|notes?|summary|description|message|comment|question|prompt|quote|code|script|reasoning)$|_(content|text|body|string|str|lines?)$/;

function kindOf(name: string, s: Schema): Kind {
  const [type, more] = typesOf(s);
  if (s.enum?.every((e) => typeof e === 'string')) return 'choice';
  if (more) return 'json';
  switch (type) {
    case 'string':
      return longNames.test(name) ? 'long' : 'text';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'switch';
    case 'array':
      return typesOf(s.items ?? {})[0] === 'string' && !s.items?.enum ? 'words' : 'json';
    case 'object':
      return s.properties ? 'group' : 'json';
  }
  return 'json';
}

// Descriptions are written for models too, in as few words as they can be. These are said to people in other words.
const labels: Record<string, string> = {
  if_hash: 'Expected hash', new_path: 'New name or path', node_id: 'Node', primary_node_id: 'Node to keep', secondary_node_id: 'Node to merge', from_id: 'From node', to_id: 'To node',
  edge_id: 'Relationship', top_k: 'Limit', max_results: 'Limit', max_length: 'Maximum length', offset: 'Skip', argv: 'Program and arguments', updates: 'Changes', url: 'Address',
};
const told: Record<string, { label?: string; help?: string }> = {
  'Path or name.': { label: 'Note' },
  'Path, name, title or alias.': { label: 'Note' },
  'Instead: a heading ...': { label: 'Heading to rename', help: 'Renames a heading in the note instead of the note.' },
  '... and its new text.': { help: '' },
  'Instead: heading ("Tea > Brewing") ...': { help: 'Adds text under this heading, such as “Tea > Brewing”, instead of replacing text.' },
  '... or block ("^id") ...': { help: 'Adds text at this block, such as “^id”, instead.' },
  '... and the text to put there.': { label: 'Text to add', help: 'For the heading or block above.' },
  'Instead: several SEARCH/REPLACE blocks.': { help: 'Several SEARCH/REPLACE blocks, instead of one search and replacement.' },
  'Instead: program and arguments, without a shell.': { help: 'Runs without a shell, instead of the command.' },
  'Expected hash, from a read.': { help: 'Refuse if the file has changed since this hash.' },
};
const advanced = new Set(['if_hash', 'dry_run']);

/** saysOf is how a field is called, and what explains it. An explanation that only repeats the name is left out. */
function saysOf(name: string, s: Schema): { label: string; help: string } {
  const words = name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
  const given = s.description ?? '';
  const label = told[given]?.label ?? labels[name] ?? words;
  const help = told[given]?.help ?? given;
  const bare = (t: string): string => t.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  return { label, help: bare(help) === bare(label) || bare(help) === bare(words) ? '' : help };
}

/** fieldsOf lists the fields of an object, those that must be there first. */
export function fieldsOf(schema: Schema): Field[] {
  const required = new Set(schema.required ?? []);
  const out = Object.entries(schema.properties ?? {}).map(([name, s]): Field => {
    const kind = kindOf(name, s);
    return { name, ...saysOf(name, s), kind, required: required.has(name), schema: s, fields: kind === 'group' ? fieldsOf(s) : [], advanced: advanced.has(name) && !required.has(name) };
  });
  return [...out.filter((f) => f.required), ...out.filter((f) => !f.required)];
}

/** cleaned leaves out what was not filled in: absent and empty are different things to a tool. */
export function cleaned(fields: Field[], value: Record<string, unknown>): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  const known = new Map(fields.map((f) => [f.name, f]));
  for (const [name, v] of Object.entries(value)) {
    const f = known.get(name);
    if (v === undefined || v === null) continue;
    if (!f) {
      out[name] = v;
      continue;
    }
    if (f.kind === 'group' && typeof v === 'object') {
      const inner = cleaned(f.fields, v as Record<string, unknown>);
      if (Object.keys(inner).length > 0) out[name] = inner;
      continue;
    }
    if (!f.required && (v === '' || (Array.isArray(v) && v.length === 0))) continue;
    out[name] = v;
  }
  return out;
}

/** missing are the names of fields that must be filled in and are not. */
export function missing(fields: Field[], value: Record<string, unknown>): string[] {
  return fields.filter((f) => f.required && f.kind !== 'switch' && (value[f.name] === undefined || value[f.name] === null || (value[f.name] === '' && f.kind !== 'long'))).map((f) => f.name);
}
