/** A picture as it comes, and the grid of it that is drawn. */

import {shortened, tokenLabel, visible} from "./symbols.js";
import {chunkNumbers, mergedValues, wordNumbers} from "./words.js";

/** A picture with typed arrays in the place of base64, and with its words found. */
export function decodePicture(raw) {
  const source = textSide(raw.source.text, raw.source.tokens);
  return {
    source,
    reference: raw.reference ?? null,
    gold: raw.gold ?? null,
    metrics: raw.metrics ?? {},
    hypotheses: raw.hypotheses.map((one) => decodeHypothesis(one, source)),
  };
}

function decodeHypothesis(raw, source) {
  const target = textSide(raw.text, raw.tokens);
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
  return {
    kind: raw.kind,
    rank: raw.rank,
    text: raw.text,
    score: numberOf(raw.score),
    ranking: numberOf(raw.ranking),
    target,
    weights,
    heads: headNames(raw.heads, heads),
    centre: raw.centre?.map(numberOf) ?? null,
    reach: numberOf(raw.reach),
  };
}

function headNames(names, count) {
  return Array.from({length: count}, (_, i) => names?.[i] ?? `head ${i + 1}`);
}

/** JSON has no NaN: null, or the words "NaN" and "Infinity". */
function numberOf(value) {
  return value === null || value === undefined ? NaN : Number(value);
}

function textSide(text, triples) {
  const characters = Array.from(text); // positions are code points, not UTF-16
  const within = (n) => Math.min(Math.max(Math.trunc(n) || 0, 0), characters.length);
  const tokens = triples.map(([piece, start, end]) => ({
    piece,
    start: within(start),
    end: Math.max(within(start), within(end)),
  }));
  return {
    text,
    characters,
    tokens,
    words: wordNumbers(characters, tokens),
    chunks: chunkNumbers(characters, tokens),
  };
}

// Numbers ----------------------------------------------------------------------------

/** Little-endian float16 in base64, as float32. */
export function decodeHalf(base64) {
  const bytes = atob(base64);
  const found = new Float32Array(bytes.length >> 1);
  for (let i = 0; i < found.length; i += 1) {
    found[i] = halfFloat(bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8));
  }
  return found;
}

function halfFloat(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
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

// Grids ------------------------------------------------------------------------------

/** What a heat map shows: `rows` of the target, `columns` of the source, and `values`,
 * row after row.
 *
 * A label has a `text` for the axis, the `surface` as it stands in the text, from
 * `start` to `end`, the `word` that it belongs to, and the `chunk` of the gold links.
 */
export function gridOf(picture, hypothesis, {unit, head}) {
  const {source} = picture;
  const {target} = hypothesis;
  const values = headValues(hypothesis, head);
  if (unit !== "word") {
    return {rows: tokenLabels(target), columns: tokenLabels(source), values, unit};
  }
  return {
    rows: wordLabels(target),
    columns: wordLabels(source),
    values: mergedValues(values, target.words, source.words),
    unit,
  };
}

function tokenLabels({characters, tokens, words, chunks}) {
  return tokens.map(({piece, start, end}, i) => ({
    text: tokenLabel(piece),
    surface: visible(characters.slice(start, end).join("")).trim() || tokenLabel(piece),
    start,
    end,
    word: words[i],
    chunk: chunks[i],
  }));
}

function wordLabels({characters, tokens, words, chunks}) {
  const labels = [];
  tokens.forEach(({start, end}, i) => {
    if (words[i] < 0) return;
    const label = (labels[words[i]] ??= {start, end, word: words[i], chunk: -1});
    label.end = Math.max(end, label.end);
    if (label.chunk < 0) label.chunk = chunks[i];
  });
  for (const label of labels) {
    const surface = characters.slice(label.start, label.end).join("").trim();
    label.surface = visible(surface) || "␣";
    label.text = shortened(label.surface, 40);
  }
  return labels;
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
