/** Text below the views: measures and what they mean, notes, and a caution. */

import {element, numberText} from "./dom.js";
import {METRICS, meanOf, metricName, rowEntropies} from "./measures.js";

const CAUTION =
  "Attention shows where the model looked, not why it chose a word: " +
  "other weights may lead to the same words.";

/** Measures of one alignment or of two, side by side. */
export function createSummary() {
  const table = element("table", {class: "av-measures"});
  const title = element("h2", {class: "av-title"}, "Measures");
  const notes = element("p", {class: "av-small"});
  const caution = element("p", {class: "av-small"}, CAUTION);
  return {
    node: element("footer", {class: "av-summary"}, title, table, notes, caution),

    show(panels, said) {
      const values = panels.map(measuresOf);
      const keys = Object.keys(METRICS).filter((key) =>
        values.some((known) => key in known),
      );
      const names = panels.map(({title: name, number}) =>
        element("th", {scope: "col", title: name, "data-panel": number}, name),
      );
      const head = element("tr", {}, element("th"), ...names, element("th"));
      const rows = keys.map((key) => lineOf(key, values));
      table.replaceChildren(...(panels.length > 1 ? [head] : []), ...rows);
      notes.textContent = said;
    },
  };
}

/** The entropy is of what is drawn; the others are of the best hypothesis. */
function measuresOf({picture: {metrics}, grid}) {
  const known = Object.entries(metrics ?? {});
  const finite = known.filter(([, value]) => Number.isFinite(value));
  return {...Object.fromEntries(finite), entropy: meanOf(rowEntropies(grid))};
}

function lineOf(key, values) {
  const numbers = values.map((known) => {
    const value = Number.isFinite(known[key]) ? known[key] : null;
    return element("td", {class: "av-value"}, numberText(value));
  });
  const name = element("th", {scope: "row"}, metricName(key));
  const about = element("td", {class: "av-small"}, METRICS[key]);
  return element("tr", {}, name, ...numbers, about);
}
