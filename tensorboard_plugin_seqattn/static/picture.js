/** Decoding of a picture, and the grid that is drawn. */

import {shortened, tokenLabel, visible} from "./symbols.js";
import {chunkNumbers, mergedValues, wordNumbers} from "./words.js";

/** A picture with typed arrays instead of base64, and with its words.
 *
 * `rows` and `columns` say what they are, "source" or "target". A hypothesis has the
 * sides of its matrix: `target` of the rows, `source` of the columns.
 */
export function decodePicture(raw) {
  const {rows = "target", columns = "source"} = raw;
  const source = sideOf(raw.source);
  const read = columns === "source" ? source : null;
  const hypotheses = raw.hypotheses.map((each) => decodeHypothesis(each, read));
  return {...raw, rows, columns, source, hypotheses};
}

/** Without another side to read, a hypothesis reads itself. */
function decodeHypothesis(raw, read) {
  const target = sideOf(raw);
  const source = read ?? target;
  const [heads, rows, columns] = raw.shape;
  const weights = decodeHalf(raw.weights);
  const fits = rows === target.tokens.length && columns === source.tokens.length;
  if (!fits || !(heads > 0) || weights.length !== heads * rows * columns) {
    throw new Error(
      `The weights do not fit the tokens. Expected ${target.tokens.length} x ` +
        `${source.tokens.length} for each head, received ${weights.length} numbers ` +
        `for the shape ${raw.shape}.`,
    );
  }
  const numbers = Array.from({length: heads}, (_, i) => `head ${i + 1}`);
  return {...raw, source, target, weights, heads: raw.heads ?? numbers};
}

/** A text with its tokens; positions are code points, not UTF-16. */
function sideOf({text, tokens}) {
  const characters = Array.from(text);
  const within = (n) => Math.min(Math.max(Math.trunc(n) || 0, 0), characters.length);
  const found = tokens.map(([piece, start, end]) => ({
    piece,
    start: within(start),
    end: Math.max(within(start), within(end)),
  }));
  const chunks = chunkNumbers(characters, found);
  return {text, characters, tokens: found, chunks, words: wordNumbers(chunks)};
}

/** Little-endian float16 in base64, as float32. */
export function decodeHalf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return new Float32Array(new Float16Array(bytes.buffer));
}

/** One head, or the mean over them. */
export function headValues({weights, heads}, head) {
  const size = weights.length / heads.length;
  if (head !== "mean") return weights.subarray(head * size, (head + 1) * size);
  const mean = new Float32Array(size);
  weights.forEach((weight, i) => {
    mean[i % size] += weight / heads.length;
  });
  return mean;
}

/** The grid of a heat map: `rows` of the target, `columns` of the source, and `values`,
 * row after row.
 *
 * A label has a `text` for the axis, the `surface` as it stands in the text, from
 * `start` to `end`, and the `chunk` of the gold links.
 */
export function gridOf(hypothesis, options) {
  const {source, target} = hypothesis;
  const labels = options.unit === "word" ? wordLabels : tokenLabels;
  const values = valuesOf(hypothesis, options);
  return {rows: labels(target), columns: labels(source), values};
}

/** The values of a grid. */
export function valuesOf(hypothesis, {unit, head}) {
  const {source, target} = hypothesis;
  const tokens = headValues(hypothesis, head);
  return unit === "word" ? mergedValues(tokens, target.words, source.words) : tokens;
}

function tokenLabels({characters, tokens, chunks}) {
  return tokens.map(({piece, start, end}, i) => {
    const text = tokenLabel(piece);
    const surface = visible(characters.slice(start, end).join("")).trim() || text;
    return {text, surface, start, end, chunk: chunks[i]};
  });
}

function wordLabels({characters, tokens, words, chunks}) {
  const labels = [];
  tokens.forEach(({start, end}, i) => {
    if (words[i] < 0) return;
    const label = (labels[words[i]] ??= {start, end, chunk: chunks[i]});
    label.end = Math.max(end, label.end);
  });
  return labels.map((label) => {
    const surface = characters.slice(label.start, label.end).join("").trim();
    const shown = visible(surface) || "␣";
    return {...label, surface: shown, text: shortened(shown, 40)};
  });
}

/** The cells of the gold links: lists of [row, column], sure and possible ones. */
export function goldCells(gold, {rows, columns}) {
  const cells = {S: [], P: []};
  for (const [target, source, kind] of gold) {
    rows.forEach((row, i) => {
      if (row.chunk !== target) return;
      columns.forEach((column, j) => {
        if (column.chunk === source) cells[kind === "S" ? "S" : "P"].push([i, j]);
      });
    });
  }
  return cells;
}
