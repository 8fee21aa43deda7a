// Writes ../prices.json, the table that the program carries, and ../testdata/oracle.json, what the
// package itself says some answers cost. Needed only when the table is renewed:
//
//	npm install && node export.mjs 2026-09-23     (the day on which the version was published)
import { readFileSync, writeFileSync } from 'node:fs'
import { calcPrice, findProvider } from '@pydantic/genai-prices'

const date = process.argv[2]
if (!/^\d{4}-\d{2}-\d{2}$/.test(date ?? '')) throw new Error('say the day on which the package was published: node export.mjs 2026-09-23')
const { version } = JSON.parse(readFileSync(new URL('node_modules/@pydantic/genai-prices/package.json', import.meta.url)))
const providers = ['anthropic', 'cerebras', 'deepseek', 'fireworks', 'google', 'groq', 'mistral', 'moonshotai', 'openai', 'openrouter', 'together', 'x-ai']

// A match is a list of alternatives; each is a word with a mark before it, or a list of such that must all fit.
const marks = { equals: '=', starts_with: '^', ends_with: '$', contains: '*' }
function alternatives(m) {
  if (m.or) return m.or.flatMap(alternatives)
  if (m.and) return m.and.reduce((all, x) => all.flatMap((a) => alternatives(x).map((b) => [...a, ...b])), [[]])
  if ('regex' in m) return [[pattern(m.regex)]]
  for (const [k, mark] of Object.entries(marks)) if (k in m) return [[mark + m[k].toLowerCase()]]
  throw new Error('a match of a new kind: ' + JSON.stringify(m))
}
// Go has no lookaround; the one form that occurs says what a name must not hold.
function pattern(r) {
  const not = /^\^\(\?!(.*)\)$/.exec(r)
  if (!not && /\(\?[=!<]/.test(r)) throw new Error('a pattern that Go cannot have: ' + r)
  return not ? '!^' + not[1] : '~' + r
}
const price = (p) => (typeof p === 'object' ? [p.base, ...p.tiers.flatMap((t) => [t.start, t.price])] : p)
const names = { input_mtok: 'i', output_mtok: 'o', cache_read_mtok: 'r', cache_write_mtok: 'w', output_reasoning_mtok: 'g' }
function rates(prices, constraint) {
  const out = {}
  if (constraint?.type === 'start_date') out.from = constraint.start_date
  else if (constraint?.type === 'time_of_date') out.hours = [constraint.start_time, constraint.end_time].map(clock)
  else if (constraint) throw new Error('a constraint of a new kind: ' + JSON.stringify(constraint))
  for (const [k, short] of Object.entries(names)) if (prices[k] !== undefined) out[short] = price(prices[k])
  return out
}
function clock(t) { // seconds of the day, in UTC
  const m = /^(\d{2}):(\d{2}):(\d{2})Z$/.exec(t)
  if (!m) throw new Error('a time of day of a new form: ' + t)
  return m[1] * 3600 + m[2] * 60 + +m[3]
}
const free = (m) => m.id.endsWith(':free') && JSON.stringify(m.prices) === '{}'

const table = { source: `@pydantic/genai-prices ${version} (MIT)`, date, providers: {} }
const oracle = []
for (const id of providers) {
  const p = findProvider({ providerId: id })
  table.providers[id] = []
  let n = 0
  for (const m of p.models) {
    const list = Array.isArray(m.prices) ? m.prices.map((x) => rates(x.prices, x.constraint)) : [rates(free(m) ? { input_mtok: 0, output_mtok: 0 } : m.prices)]
    if (!m.context_window && list.every((r) => r.i === undefined && r.o === undefined)) continue
    table.providers[id].push({ m: alternatives(m.match).map((a) => (a.length === 1 ? a[0] : a)), c: m.context_window, p: list })
    if (n++ % (id === 'openrouter' ? 9 : 1) === 0 || list.length > 1) oracle.push(...cases(id, m))
  }
}
function cases(provider, m) {
  const out = []
  for (const at of ['2026-02-01T06:00:00Z', '2026-11-01T18:30:00Z']) {
    for (const u of [[1000, 200, 600, 100, 50], [300000, 2000, 250000, 1000, 500]]) {
      let r
      try {
        r = calcPrice({ input_tokens: u[0], output_tokens: u[1], cache_read_tokens: u[2], cache_write_tokens: u[3], output_reasoning_tokens: u[4] }, m.id, { providerId: provider, timestamp: new Date(at) })
      } catch { continue }
      if (r && r.model_price.input_mtok !== undefined && r.model_price.output_mtok !== undefined) out.push([provider, m.id, at, ...u, r.total_price])
    }
  }
  return out
}
const lines = (rows) => rows.map((r) => JSON.stringify(r)).join(',\n')
const body = Object.entries(table.providers).map(([id, ms]) => `${JSON.stringify(id)}:[\n${lines(ms)}\n]`).join(',\n')
writeFileSync(new URL('../prices.json', import.meta.url), `{"source":${JSON.stringify(table.source)},"date":"${date}","providers":{\n${body}\n}}\n`)
writeFileSync(new URL('../testdata/oracle.json', import.meta.url), `[\n${lines(oracle)}\n]\n`)
