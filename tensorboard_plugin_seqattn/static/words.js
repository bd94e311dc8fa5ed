/** From tokens to words: all positions are code points of the text. */

// What Python's str.split() splits at.
const BLANK =
  /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** For each token the number of its word; -1: none, which is the end token.
 *
 * Tokens are of one word if no white space lies between them. Where that leaves one
 * word (a script without spaces, a date), each token is a word of its own.
 */
export function wordNumbers(characters, tokens) {
  let word = -1;
  const numbers = tokens.map((token, i) => {
    if (isEnd(characters, tokens, i)) return -1;
    if (word < 0 || parted(characters, tokens[i - 1], token)) word += 1;
    return word;
  });
  return word === 0 ? numbers.map((n, i) => (n < 0 ? n : i)) : numbers;
}

/** For each token the number of the run of characters without white space, as in the
 * gold links; -1: it is white space or the end. */
export function chunkNumbers(characters, tokens) {
  let chunk = -1;
  const at = characters.map((character, i) => {
    if (BLANK.test(character)) return -1;
    if (i === 0 || BLANK.test(characters[i - 1])) chunk += 1;
    return chunk;
  });
  return tokens.map(({start, end}) => at.slice(start, end).find((n) => n >= 0) ?? -1);
}

function isEnd(characters, tokens, i) {
  const {start, end} = tokens[i];
  return i === tokens.length - 1 && start === characters.length && end === start;
}

function parted(characters, first, second) {
  let i = first.start;
  while (i < first.end && BLANK.test(characters[i])) i += 1; // "▁" before a word
  for (; i < second.end; i += 1) if (BLANK.test(characters[i])) return true;
  return false;
}

/** Values of words: weights of source tokens are summed, those of target tokens
 * averaged (merge_subwords in keras_seqattn/training/alignment_confidence.py). */
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
