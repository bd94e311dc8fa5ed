/** Measures of an alignment, as in alignment_confidence of the Python library. */

/** The metrics of a sentence in the log, with their descriptions. */
export const METRICS = {
  coverage_deviation:
    "How far the attention that a source token receives is from 1. 0 is best.",
  absentmindedness_out:
    "How widely a target token spreads its attention. 0 is a single token.",
  absentmindedness_in:
    "How widely the attention to a source token is spread over the target. 0 is best.",
  overlap: "The share of the translation that is copied from the source in one piece.",
  entropy:
    "How evenly a row spreads its attention: 0 is one token, 1 is all alike.",
  length_ratio: "The length of the translation divided by the length of the source.",
  bleu: "How similar the translation is to the reference, from 0 to 100.",
};

export function metricName(key) {
  return key === "bleu" ? "BLEU" : key.replaceAll("_", " ");
}

const ROUNDING = 2 ** -12; // of each weight in a log

/** The entropy of each row, relative to a uniform one: from 0 (sharp) to 1; NaN if the
 * weights are not those of an alignment. */
export function rowEntropies(grid) {
  const uniform = Math.log(grid.columns.length) || 1; // one source token: no choice
  return grid.rows.map((_, i) => {
    const row = rowOf(grid, i);
    const most = 1.001 + row.length * ROUNDING;
    if (sumOf(row) > most || row.some((x) => x < -0.001)) return NaN;
    // 0 log 0 is 0, and NaN stays what it is
    return row.reduce((sum, x) => (x === 0 ? sum : sum - x * Math.log(x)), 0) / uniform;
  });
}

/** The weights of a target token. */
export function rowOf({columns, values}, i) {
  return values.subarray(i * columns.length, (i + 1) * columns.length);
}

export function sumOf(numbers) {
  return numbers.reduce((sum, x) => sum + x, 0);
}

/** The sum of the attention to each source token. */
export function coverageOf({rows, columns, values}) {
  return columns.map((_, j) =>
    rows.reduce((sum, _row, i) => sum + values[i * columns.length + j], 0),
  );
}

/** The mean; NaN for an empty list. */
export function meanOf(numbers) {
  return sumOf(numbers) / numbers.length;
}
