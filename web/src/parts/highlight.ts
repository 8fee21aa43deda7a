// Colors in code: comments, strings, numbers and the words of a language. One pass
// over the text, for the languages that notes hold most; others stay plain.

interface Language {
  comment: RegExp | undefined;
  string: RegExp;
  words: Set<string>;
}

const set = (s: string): Set<string> => new Set(s.split(' '));
const quoted = /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/y;
const quotedOrBack = /"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?/y;
const slashes = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;
const hash = /#[^\n]*/y;

const c: Language = { comment: slashes, string: quoted, words: set('auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false float for friend goto if inline int long namespace new nullptr operator private protected public return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while include define') };
const js: Language = { comment: slashes, string: quotedOrBack, words: set('abstract any as async await boolean break case catch class const continue default delete do else enum export extends false finally for from function get if implements import in instanceof interface let new null number of private protected public readonly return set static string super switch this throw true try type typeof undefined unknown var void while yield') };
const java: Language = { comment: slashes, string: quoted, words: set('abstract boolean break byte case catch char class const continue default do double else enum extends false final finally float for fun if implements import instanceof int interface internal is let long namespace new null object open operator override package private protected public return sealed short static string struct super switch synchronized this throw throws true try using val var virtual void volatile when while') };
const go: Language = { comment: slashes, string: quotedOrBack, words: set('any bool break byte case chan const continue default defer else error fallthrough false float64 for func go goto if import int int64 interface map nil package range return rune select string struct switch true type uint8 var') };
const rust: Language = { comment: slashes, string: /"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\\n])'/y, words: set('as async await bool break char const continue crate dyn else enum extern f64 false fn for i32 i64 if impl in let loop match mod move mut pub ref return self Self static str String struct super trait true type u8 u32 u64 unsafe use usize where while') };
const python: Language = { comment: hash, string: /"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/y, words: set('and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield') };
const ruby: Language = { comment: hash, string: quoted, words: set('alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield') };
const shell: Language = { comment: /#[^\n]*/y, string: quoted, words: set('alias case cd do done echo elif else esac eval exec exit export fi for function if in local read return set shift source sudo then trap unset until while') };
const sql: Language = { comment: /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y, string: quoted, words: set('add alter and as asc between by case create delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references right select set table then union unique update using values view when where with') };
const data: Language = { comment: hash, string: quoted, words: set('true false null yes no on off') };
const json: Language = { comment: slashes, string: quoted, words: set('true false null') };
const css: Language = { comment: /\/\*[\s\S]*?(?:\*\/|$)/y, string: quoted, words: set('important media supports keyframes import layer from to') };
const markup: Language = { comment: /<!--[\s\S]*?(?:-->|$)/y, string: quoted, words: set('') };

const languages: Record<string, Language> = {
  c, cpp: c, 'c++': c, h: c, hpp: c, cc: c, js, javascript: js, jsx: js, mjs: js, ts: js, typescript: js, tsx: js, svelte: js, vue: js, java, kotlin: java, kt: java, csharp: java, cs: java, swift: java, scala: java, php: java, dart: java,
  go, golang: go, rust, rs: rust, py: python, python, rb: ruby, ruby, sh: shell, bash: shell, zsh: shell, shell, fish: shell, console: shell, sql, yaml: data, yml: data, toml: data, ini: data, dockerfile: data, json, jsonc: json, css, scss: css, html: markup, xml: markup, svg: markup,
};

/** A Piece is a part of code: its text, and what it is. */
export interface Piece {
  text: string;
  is: '' | 'comment' | 'string' | 'number' | 'word';
}

const word = /[\p{L}_$][\p{L}\p{N}_$-]*/uy;
const number = /0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?/iy;

/** pieces takes code apart. */
export function pieces(text: string, language: string): Piece[] {
  const l = languages[language];
  if (!l || text.length > 100_000) return [{ text, is: '' }];
  const out: Piece[] = [];
  const add = (t: string, is: Piece['is']): void => {
    const last = out.at(-1);
    if (last && last.is === is) last.text += t;
    else out.push({ text: t, is });
  };
  const match = (re: RegExp, at: number): string => {
    re.lastIndex = at;
    return re.exec(text)?.[0] ?? '';
  };
  for (let at = 0; at < text.length; ) {
    const comment = l.comment ? match(l.comment, at) : '';
    const string = comment ? '' : match(l.string, at);
    const n = comment || string ? '' : match(number, at);
    const w = comment || string || n ? '' : match(word, at);
    const found = comment || string || n || w;
    if (comment) add(comment, 'comment');
    else if (string) add(string, 'string');
    else if (n) add(n, 'number');
    else if (w) add(w, l.words.has(w) || (l === sql && l.words.has(w.toLowerCase())) ? 'word' : '');
    else add(text[at] ?? '', '');
    at += found.length || 1;
  }
  return out;
}

/** highlight colors the code of a page. */
export function highlight(root: HTMLElement): void {
  for (const el of root.querySelectorAll<HTMLElement>('pre[title] > code')) {
    const [language = ''] = (el.parentElement?.title ?? '').trim().toLowerCase().split(/[\s{]/);
    const all = el.children.length ? [] : pieces(el.textContent ?? '', language);
    if (all.length < 2) continue;
    el.replaceChildren(
      ...all.map((p) => {
        if (!p.is) return document.createTextNode(p.text);
        const span = document.createElement('span');
        span.className = `code-${p.is}`;
        span.textContent = p.text;
        return span;
      }),
    );
  }
}
