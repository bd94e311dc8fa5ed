/** Measures of an alignment, as in alignment_confidence of the Python library. */

/** The metrics of a sentence in the log, with their descriptions. */
export const METRICS = {
  coverage_deviation: "how far the attention to each source token is from 1",
  absentmindedness_out: "how widely target tokens spread their attention",
  absentmindedness_in: "how widely the attention to source tokens is spread",
  overlap: "share of the translation that is copied from the source",
  entropy: "entropy of the attention: 0 is one token, 1 is uniform",
  length_ratio: "length of the translation divided by the length of the source",
  bleu: "similarity to the reference, from 0 to 100",
};

export function metricName(key) {
  return key === "bleu" ? "BLEU" : key.replaceAll("_", " ");
}

/** The entropy of each row, relative to a uniform one: from 0 (sharp) to 1. */
export function rowEntropies({rows, columns, values}) {
  const most = Math.log(columns.length) || 1; // one source token: there is no choice
  return rows.map((_, i) => {
    const row = values.subarray(i * columns.length, (i + 1) * columns.length);
    // 0 log 0 is 0, and NaN stays what it is
    return row.reduce((sum, x) => (x === 0 ? sum : sum - x * Math.log(x)), 0) / most;
  });
}

/** The sum of the attention to each source token. */
export function coverageOf({rows, columns, values}) {
  return columns.map((_, j) =>
    rows.reduce((sum, _row, i) => sum + values[i * columns.length + j], 0),
  );
}

/** The mean; NaN for an empty list. */
export function meanOf(numbers) {
  return numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
}
