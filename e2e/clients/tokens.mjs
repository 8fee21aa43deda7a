// tokens.mjs FILE: counts what the tools in an answer to tools/list cost a model,
// with the vocabulary o200k: name, description and arguments of each.
import { readFileSync } from "node:fs";
import { getEncoding } from "js-tiktoken";

const encoding = getEncoding("o200k_base");
const answer = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { tools } = answer.result ?? answer;
const each = tools.map(({ name, description, inputSchema }) => [name, encoding.encode(JSON.stringify({ name, description, inputSchema })).length]);
console.log(JSON.stringify({ tools: each.length, total: each.reduce((sum, [, n]) => sum + n, 0), each: Object.fromEntries(each) }));
