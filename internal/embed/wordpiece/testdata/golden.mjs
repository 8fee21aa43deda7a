// Writes golden.json: what @huggingface/tokenizers makes of the texts below
// with the tokenizer.json of all-MiniLM-L6-v2. Run it in a folder where that
// package (0.2.0) is installed:
//
//   npm install @huggingface/tokenizers@0.2.0
//   node golden.mjs path/to/tokenizer.json > golden.json
//
// Texts are stored as base64 of their bytes, since some are not valid UTF-8;
// the reference is given what a browser would decode them to.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const { Tokenizer } = createRequire(process.cwd() + "/")("@huggingface/tokenizers");

const spec = JSON.parse(readFileSync(process.argv[2], "utf8"));
spec.truncation = null;
spec.padding = null;
const tokenizer = new Tokenizer(spec, {});

const texts = [
  "", " ", "\t\n\r", "hello", "Hello, World!", "don't stop-believin'", "unaffable", "[[wikilink|alias]] #tag/nested ^block",
  "café cafe\u0301 CAFÉ", "Ångström Å A\u030A", "naïve façade Über straße STRASSE ẞ", "İstanbul ISPARTA ı İ i̇", "Ǆ ǅ ǆ ﬁ ﬀ ﬃ ſ",
  "ΟΔΥΣΣΕΥΣ Σ ΑΣ ΑΣΑ Α.Σ Σ. ΑΣ' ΑΣ’Α", "ὈΔΥΣΣΕΎΣ", "σς", "K Å Ω", "\u037e \u1fef \u2000 \u2001x",
  "中文字符", "漢字kana混じり", "ひらがな カタカナ ﾊﾝｶｸ", "が か\u3099", "한국어 텍스트", "\u1112\u1161\u11ab", "豈 更 \uFA0E\uFA0F", "〇一二三 々 〆", "㐀䶵", "\u2E80\u2F00 ⼀",
  "👨‍👩‍👧‍👦", "🏳️‍🌈 🇩🇪 👍🏽", "a👍b", "☺ ☺️ ©®™ ℃ № ½ ²", "x\u200dy", "x\u200cy", "soft\u00adhyphen", "zero\u200bwidth", "\ufeffbom", "a\ufeffb",
  "nul\u0000in", "bell\u0007 vt\u000bff\u000cfs\u001c", "\u0085next\u0085line", "\u00a0nbsp\u00a0", "line\u2028para\u2029sep", "\u3000wide\u3000", "\u1680ogham\u1680", "\u180e mongolian",
  "\ufffd", "a\ufffdb", "\ue000private\uf8ff", "\u{f0000}x\u{10ffff}", "\u{e0001}tag", "שָׁלוֹם עולם", "مرحبا بالعالم", "السَّلَامُ", "\u202eRTL\u202c", "नमस्ते दुनिया", "ไทย ภาษา", "བོད་སྐད", "ქართული ᲥᲐᲠᲗᲣᲚᲘ", "ᎣᏏᏲ ꭰ", "Հայերեն ԵՒ եւ", "Привет МИР Ёж й", "Ѐ ѐ", "ЇЖАК",
  "ＦＵＬＬｗｉｄｔｈ １２３ ！？", "𝐁𝐨𝐥𝐝 𝔊𝔬𝔱𝔥𝔦𝔠 𝟘", "ⅷ Ⅷ Ⓐⓐ", "e\u0301\u0302\u0303 \u0301 \u0301\u0302", "\u0301", "\u0300\u0301\u0302", "a\u20dd", "\u20dd", "\u093e", "q\u0307\u0323 q\u0323\u0307",
  "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "…—–‘’“”«»‹›„‚·•§¶†‡", "¡¿", "、。「」『』【】", "a_b-c/d\\e", "$100.00 €5 £3 ¥4 ₹9", "^~`+=<>|", "¨´¸¯", "٪ ٫ ۔", "\u2460\u2776",
  "[CLS]", "[SEP] a [MASK] b[PAD]c [UNK]", "[cls] [sep]", "[CLS", "[[CLS]]", "x[SEP]y", "CLS]",
  "a".repeat(99), "a".repeat(100), "a".repeat(101), "é".repeat(100), "é".repeat(101), "e\u0301".repeat(100), "e\u0301".repeat(101), "x".repeat(250) + " y", "中".repeat(120), "ab".repeat(50) + "c", "한".repeat(40), "-".repeat(120),
  "supercalifragilisticexpialidocious antidisestablishmentarianism", "https://example.com/a?b=c&d=%20#frag", "mail@example.org", "C:\\path\\to\\file.txt", "3.14159 1,000,000 1e-9 0x1F", "2024-02-29T12:34:56Z", "v1.2.3-rc.4+build", "snake_case camelCase PascalCase kebab-case SCREAMING",
  "# Heading\n\n- [ ] task\n- [x] done\n\n> quote\n\n```go\nfunc main() {}\n```\n", "---\ntitle: x\ntags: [a, b]\n---\n", "| a | b |\n|---|---|\n", "$$\\int_0^1 x^2 dx$$", "\\u0041 \\n", "<div class=\"x\">&nbsp;</div>",
  "Zürich–Genève", "Ærøskøbing Œuvre ŁÓDŹ đĐ ħ Ŧ", "Tiếng Việt ĐƯỜNG", "Türkçe ÇĞİÖŞÜ çğıöşü", "Čeština ŘEŘICHA", "ŉ ǰ ẖ", "ﬀﬁﬂﬃﬄﬅﬆ", "ŀ Ŀ ĳ Ĳ", "ß ẞ", "ͅ ᾳ ᾼ Ἀι", "ϐ ϑ ϕ ϖ ϰ ϱ ϵ", "µ μ", "ⱥ Ⱥ ȿ Ȿ", "Ꙁ Ꚁ", "ᏸ Ᏸ", "𐐀 𐐨", "𞤀 𞤢", "Ა ა",
  "\u{1f3fb}", "\u{20000}", "x \u{20000} y", "\u{1d165}\u{1d16e}", "\u0f73 \u0f75 \u0f81", "\u0344 \u0340 \u0341", "\u2126 \u212a \u212b", "\u1e9b\u0323", "\uac00\u11a8", "\u302e\u3099a", "\u17d2\u17b6", "a\u0345\u0301", "\u00df\u0301",
];
// Every block of the basic plane (but surrogates and ideographs), as words of
// sixteen and one by one with a letter on both sides. Characters newer than
// Unicode 15 are left out: what they are depends on the age of the tables.
const fresh = (c) => (c >= 0x1acf && c <= 0x1aff) || [0x897, 0x1b4e, 0x1b4f, 0x1b7f].includes(c);
for (let block = 0; block < 0x10000; block += 0x400) {
  if (block >= 0xd800 && block < 0xe000) continue;
  if (block >= 0x5000 && block < 0x9c00) continue;
  let run = "";
  for (let c = block; c < block + 0x400; c += 7) {
    if (fresh(c) || fresh(c + 3)) continue;
    run += String.fromCharCode(c);
    if ((c - block) % 112 === 0) run += " ";
    if ((c - block) % 49 === 0) run += " a" + String.fromCharCode(c + 3) + "b ";
  }
  texts.push(run);
}
const bytes = texts.map((t) => Buffer.from(t, "utf8"));
for (const raw of [[0xff], [0x61, 0xff, 0x62], [0xc3], [0xc3, 0x28], [0xe4, 0xb8], [0xf0, 0x9f, 0x91], [0xed, 0xa0, 0x80], [0x61, 0xc0, 0x80, 0x62], [0xfe, 0x61, 0x20, 0x80, 0x62], [0xf4, 0x90, 0x80, 0x80]])
  bytes.push(Buffer.from(raw));

const out = bytes.map((b) => {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(b);
  return JSON.stringify({ text: b.toString("base64"), ids: tokenizer.encode(text).ids });
});
console.log("[\n" + out.join(",\n") + "\n]");
