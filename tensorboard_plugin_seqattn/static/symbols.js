/** How a token looks: as in the terminal, keras_seqattn/text/terminal_text.py. */

const segmenter = new Intl.Segmenter();
export const START = "▸";
const SYMBOLS = new Map([["</s>", "⏎"], ["<unk>", "⁇"], ["<s>", START]]);
// Characters that control a browser. Joiners are not among them: scripts need them.
const UNSEEN = /(?![\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/gu;
const RIGHT_TO_LEFT =
  /^\P{L}*[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nko}\p{sc=Adlam}]/u;

/** Text with its control characters, bidi controls included, made visible. */
export function visible(text) {
  return text.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0);
    if (code < 32) return String.fromCodePoint(0x2400 + code);
    if (code === 127) return "␡";
    const [letter, size] = code > 0xffff ? ["U", 8] : code > 0xff ? ["u", 4] : ["x", 2];
    return `\\${letter}${code.toString(16).padStart(size, "0")}`;
  });
}

/** Text of at most so many characters as a reader counts them; the rest is … */
export function shortened(text, limit) {
  if (text.length <= limit) return text;
  const most = text.slice(0, 16 * limit); // a token may have 10 000 characters
  const parts = Array.from(segmenter.segment(most), ({segment}) => segment);
  if (parts.length <= limit) return most === text ? text : `${most}…`;
  return `${parts.slice(0, limit).join("")}…`;
}

/** A piece as its label: white space is ␣, the end ⏎, an unknown token ⁇. */
export function tokenLabel(piece) {
  const symbol = SYMBOLS.get(piece);
  if (symbol) return symbol;
  const text = visible(shortened(piece, 40).replace(/\p{Zs}/gu, "␣"));
  return text === "" || /^\p{M}/u.test(text) ? `◌${text}` : text;
}

/** The direction of the first letter. */
export function directionOf(text) {
  return RIGHT_TO_LEFT.test(text) ? "rtl" : "ltr";
}
