/** Metrics, and which sentences are shown: words and conditions, as in `house bleu<20`. */

/** In the order of the table. `best` is where good translations are. */
export const METRICS = [
  {key: "coverage_deviation", label: "coverage deviation", short: "coverage", best: "low",
    help: "how far the source tokens are from being looked at once each"},
  {key: "absentmindedness_out", label: "absentmindedness out", short: "absent out", best: "low",
    help: "over how much of the source a target token spreads its attention"},
  {key: "absentmindedness_in", label: "absentmindedness in", short: "absent in", best: "low",
    help: "by how much of the target a source token is looked at"},
  {key: "overlap", label: "overlap", short: "overlap", best: "low",
    help: "how much of the translation is copied from the source"},
  {key: "entropy", label: "entropy", short: "entropy", best: "low",
    help: "of the attention, relative to a uniform one: 1 says that nothing was chosen"},
  {key: "length_ratio", label: "length ratio", short: "length", best: null,
    help: "the length of the translation by that of the source"},
  {key: "bleu", label: "BLEU", short: "BLEU", best: "high",
    help: "likeness to the reference, from 0 to 100"},
];

/** How a metric is called; the log may have others than those above. */
export function metricOf(key) {
  const label = key.replaceAll("_", " ");
  const other = {key, label, short: label, best: null, help: ""};
  return METRICS.find((metric) => metric.key === key) ?? other;
}

/** A metric in a filter: one word. */
export function filterName(key) {
  return metricOf(key).short.toLowerCase().replaceAll(" ", "_");
}

/** The metrics in histories, Maps or lists of entries: those above first, then others. */
export function metricKeys(histories) {
  const found = new Set();
  for (const entries of histories.flatMap((history) => [...history.values()])) {
    for (const {metrics} of entries) Object.keys(metrics).forEach((key) => found.add(key));
  }
  const known = METRICS.map(({key}) => key).filter((key) => found.delete(key));
  return [...known, ...[...found].sort()];
}

/** `{words: [text], conditions: [{key, sign, bound}], wrong: [text]}` */
export function parseFilter(text, keys) {
  const filter = {words: [], conditions: [], wrong: []};
  for (const part of text.split(/\s+/).filter(Boolean)) {
    const [, name, sign, bound] = /^([a-z_]+)(<=|>=|<|>)(.*)$/i.exec(part) ?? [];
    const key = keys.find((key) => [key, filterName(key)].includes(name?.toLowerCase()));
    if (sign === undefined) filter.words.push(part.toLowerCase());
    else if (key === undefined || !/^-?\d*\.?\d+$/.test(bound)) filter.wrong.push(part);
    else filter.conditions.push({key, sign, bound: Number(bound)});
  }
  return filter;
}

const HOLDS = {
  "<": (value, bound) => value < bound,
  ">": (value, bound) => value > bound,
  "<=": (value, bound) => value <= bound,
  ">=": (value, bound) => value >= bound,
};

/** Whether a sentence passes. One without a metric meets no condition on it. */
export function passes(filter, text, metrics) {
  const lower = text.toLowerCase();
  return (
    filter.words.every((word) => lower.includes(word)) &&
    filter.conditions.every(({key, sign, bound}) => {
      const value = metrics?.[key];
      return typeof value === "number" && HOLDS[sign](value, bound);
    })
  );
}

/**
 * Ready-made conditions `{name, text, help}`, whose thresholds stand in the filter to be
 * changed. What is long or short is a matter of the languages: relative to the median.
 */
export function filterPresets(all) {
  const having = (key) => all.map((metrics) => metrics?.[key]).filter(Number.isFinite);
  const ratios = having("length_ratio").sort((a, b) => a - b);
  const usual = ratios[ratios.length >> 1];
  const made = [];
  const add = (name, text, help) => made.push({name, text, help});
  if (usual > 0) {
    add("repetition", `length>${(1.4 * usual).toFixed(2)}`, "much longer than usual");
    add("dropped source", `length<${(0.7 * usual).toFixed(2)}`, "much shorter than usual");
  }
  if (having("overlap").length) {
    add("copied source", "overlap>0.3", "a third of it stands in the source");
  }
  if (having("entropy").length) {
    add("unsure", "entropy>0.5", "the attention is nearer to uniform than to one token");
  }
  return made;
}
