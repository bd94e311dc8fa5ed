/** Data from the server. Addresses are relative, so a path prefix does not matter. */

/** `{run: {sentences: [{tag, text, last, alignments}], tables: [tag]}}`; alignments, if
 * there are any, are `{tag, last, name, rows, columns}`. */
export async function fetchRuns() {
  return (await fetchJson("runs")).runs;
}

/** `[{source, reference, gold, steps}]` of series `{run, tag, last}`. */
export const fetchSeries = remembered(fetchAll);

/** The same for the overview. */
export const fetchLayers = remembered(fetchAll);

function fetchAll(series) {
  return Promise.all(series.map(({run, tag}) => fetchJson("series", {run, tag})));
}

/** `Map(tag -> [{step, metrics}])` of a run; `last` says how new it is. */
export const fetchMetrics = remembered(async (run, tables) => {
  const found = await Promise.all(tables.map((tag) => fetchJson("table", {run, tag})));
  const entries = found.flatMap(({steps}) => steps).flatMap(({step, rows}) =>
    Object.entries(rows ?? {}).map(([tag, metrics]) => ({tag, step, metrics})),
  );
  return Map.groupBy(entries.sort((a, b) => a.step - b.step), ({tag}) => tag);
});

/** Asks again only about something else, or after a failure. */
function remembered(ask) {
  let key = null;
  let answer = null;
  return (...about) => {
    if (key === JSON.stringify(about)) return answer;
    key = JSON.stringify(about);
    answer = ask(...about);
    answer.catch(() => {
      key = null;
    });
    return answer;
  };
}

async function fetchJson(route, query = {}) {
  const response = await fetch(`./${route}?${new URLSearchParams(query)}`).catch(() => {
    throw new Error(
      "TensorBoard does not answer. Expected its server where this page came from; " +
        "it may have been stopped. Start it again.",
    );
  });
  if (response.ok) return response.json();
  const reason = (await response.text()).slice(0, 500);
  throw new Error(`TensorBoard answers with ${response.status}: ${reason}`);
}
