/**
 * What the server has: runs, series of pictures, tables of metrics. All addresses are
 * relative, so that a path prefix or a proxy before TensorBoard makes no difference.
 */

const KEPT = 40; // series; one of 100 steps takes a megabyte or two

const keptSeries = new Map();

/** `{run: {sentences: [{tag, text, last}], tables: [tag]}}` */
export async function fetchRuns() {
  return (await fetchJson("runs")).runs;
}

/** `{source, reference, gold, steps}` of a sentence; kept until it has another `last`. */
export function fetchSeries(run, {tag, last}) {
  const key = JSON.stringify([run, tag, last]);
  const series = keptSeries.get(key) ?? fetchJson("series", {run, tag}).then(withNumbers);
  keptSeries.delete(key);
  keptSeries.set(key, series); // behind the others: the first one is the oldest
  if (keptSeries.size > KEPT) keptSeries.delete(keptSeries.keys().next().value);
  series.catch(() => keptSeries.delete(key));
  return series;
}

/** `Map(tag -> [{step, metrics}])`, all tables of a run together. */
export async function fetchMetrics(run, tables) {
  const history = new Map();
  const found = await Promise.all(tables.map((tag) => fetchJson("table", {run, tag})));
  for (const {step, rows} of found.flatMap((table) => table.steps)) {
    for (const [tag, metrics] of Object.entries(rows ?? {})) {
      if (!history.has(tag)) history.set(tag, []);
      history.get(tag).push({step, metrics: numbersIn(metrics)});
    }
  }
  for (const entries of history.values()) entries.sort((a, b) => a.step - b.step);
  return history;
}

async function fetchJson(route, query = {}) {
  let response;
  try {
    response = await fetch(`./${route}?${new URLSearchParams(query)}`);
  } catch {
    throw new Error(
      "TensorBoard does not answer. Expected its server where this page came from; it " +
        "may have been stopped. Start it again.",
    );
  }
  if (response.ok) return response.json();
  const reason = (await response.text()).slice(0, 500);
  throw new Error(`TensorBoard answers with ${response.status}: ${reason}`);
}

// JSON has no NaN and no infinity: TensorBoard writes them as strings. They are undone
// where numbers stand and nowhere else, because "NaN" may be a token.
const NUMBERS = {NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity};

function undone(value) {
  return Object.hasOwn(NUMBERS, value) ? NUMBERS[value] : value;
}

function numbersIn(metrics) {
  const pairs = Object.entries(metrics ?? {});
  return Object.fromEntries(pairs.map(([key, value]) => [key, undone(value)]));
}

function withNumbers(series) {
  for (const step of series.steps) {
    step.metrics = numbersIn(step.metrics);
    for (const hypothesis of step.hypotheses ?? []) {
      for (const key of ["score", "ranking", "reach"]) {
        hypothesis[key] = undone(hypothesis[key]);
      }
      hypothesis.centre &&= hypothesis.centre.map(undone);
    }
  }
  return series;
}
