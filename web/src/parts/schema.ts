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

/** fieldsOf lists the fields of an object, those that must be there first. */
export function fieldsOf(schema: Schema): Field[] {
  const required = new Set(schema.required ?? []);
  const out = Object.entries(schema.properties ?? {}).map(([name, s]): Field => {
    const kind = kindOf(name, s);
    return { name, label: name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' '), help: s.description ?? '', kind, required: required.has(name), schema: s, fields: kind === 'group' ? fieldsOf(s) : [] };
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
