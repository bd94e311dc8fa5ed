/** Words of tokens; all positions are code points of the text. */

// White space, as in Python's str.split().
const BLANK =
  /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** For each token the number of its run of characters without white space, as in gold
 * links; of a blank the next one. -1: there is none, it is the start or the end. */
export function chunkNumbers(characters, tokens) {
  let chunk = -1;
  const numbers = characters.map((character, i) => {
    if (BLANK.test(character)) return -1;
    if (i === 0 || BLANK.test(characters[i - 1])) chunk += 1;
    return chunk;
  });
  return tokens.map(({piece, start, end}) => {
    if (piece === "<s>" && end === 0) return -1;
    return numbers.slice(start).find((n) => n >= 0) ?? -1;
  });
}

/** For each token the number of its word, which is the run of characters; where there
 * is only one (a script without spaces, a date), each token is a word of its own. */
export function wordNumbers(chunks) {
  const order = [...new Set(chunks)].filter((n) => n >= 0);
  if (order.length > 1) return chunks.map((n) => order.indexOf(n));
  let next = 0;
  return chunks.map((n) => (n < 0 ? -1 : next++));
}

/** Values of words: weights of source tokens are summed, those of target tokens
 * averaged (merge_subwords in keras_seqattn/metrics/confidence.py). */
export function mergedValues(values, targetWords, sourceWords) {
  const rows = 1 + Math.max(-1, ...targetWords);
  const columns = 1 + Math.max(-1, ...sourceWords);
  const merged = new Float32Array(rows * columns);
  const sizes = new Int32Array(rows);
  targetWords.forEach((row, i) => {
    if (row < 0) return;
    sizes[row] += 1;
    sourceWords.forEach((column, j) => {
      if (column < 0) return;
      merged[row * columns + column] += values[i * sourceWords.length + j];
    });
  });
  return merged.map((value, i) => value / sizes[Math.floor(i / columns)]);
}
