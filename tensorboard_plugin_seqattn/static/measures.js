/** What an alignment says about itself, as alignment_confidence in Python does. */

/** What the log says about a sentence. */
export const METRICS = {
  coverage_deviation: "how far source tokens are from being looked at once each",
  absentmindedness_out: "over how much of the source a target token looks",
  absentmindedness_in: "by how much of the target a source token is looked at",
  overlap: "how much of the translation is copied from the source",
  entropy: "of the attention: 0 is one token, 1 is uniform",
  length_ratio: "length of the translation by that of the source",
  bleu: "likeness to the reference, from 0 to 100",
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

/** How much each source token was looked at in all. */
export function coverageOf({rows, columns, values}) {
  return columns.map((_, j) =>
    rows.reduce((sum, _row, i) => sum + values[i * columns.length + j], 0),
  );
}

/** NaN of nothing. */
export function meanOf(numbers) {
  return numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
}
