/** Text below the views: the weights at the pointer, measures, and a caution. */

import {element, isolated, numberText, part} from "./dom.js";
import {METRICS, coverageOf, meanOf, metricName, rowEntropies} from "./measures.js";
import {shortened} from "./symbols.js";

const CAUTION =
  "Attention shows where the model looked, not why it chose a word: " +
  "other weights may lead to the same words.";

/** One line with the exact weight at the crosshair. */
export function createReadout() {
  const node = element("p", {class: "av-readout", "aria-live": "polite"});
  return {
    node,

    /** `panels`: `{title, grid, at}`; of two, it also shows the difference. */
    show(panels, pointed) {
      node.replaceChildren(...saidOf(panels, panels[pointed]));
    },
  };
}

function saidOf(panels, {grid, at: {row, column}}) {
  const word = ({surface}) => isolated(shortened(surface, 40), "av-word");
  if (row === null && column === null) {
    return ["Point at a cell or a word, or use the arrow keys, to read the weights."];
  }
  if (row === null) {
    const covered = numberText(coverageOf(grid)[column]);
    return [word(grid.columns[column]), ` received ${covered} of attention in total`];
  }
  if (column === null) {
    const entropy = numberText(rowEntropies(grid)[row]);
    return [word(grid.rows[row]), ` spread its attention: entropy ${entropy} of 1`];
  }
  const looked = [word(grid.rows[row]), " looked at ", word(grid.columns[column]), " "];
  return [...looked, ...weightsAt(panels)];
}

/** The weights where the crosshair is, for two pictures with their difference. */
function weightsAt(panels) {
  const seen = panels.filter(({at: {row, column}}) => row !== null && column !== null);
  const values = seen.map(({grid, at}) => {
    return grid.values[at.row * grid.columns.length + at.column];
  });
  const exactly = (title, text) => [
    isolated(title, "av-which"),
    element("output", {class: "av-exact"}, text),
  ];
  const said = seen.flatMap(({title}, i) => exactly(title, numberText(values[i], 4)));
  if (values.length < 2) return said;
  const difference = values[1] - values[0];
  const sign = difference > 0 ? "+" : "";
  return [...said, ...exactly("difference", sign + numberText(difference, 4))];
}

/** Measures of the alignment, and a caution about attention. */
export function createSummary() {
  const list = element("dl", {class: "av-measures"});
  const notes = element("p", {class: "av-small"});
  const caution = element("p", {class: "av-small"}, CAUTION);
  return {
    node: element("footer", {class: "av-summary"}, list, caution, notes),

    /** The entropy is of the grid; `metrics` come from the log, or are {}. */
    show(grid, {entropy, ...metrics}, said) {
      const known = Object.keys(METRICS).filter((key) => Number.isFinite(metrics[key]));
      const rows = known.map((key) => [metricName(key), metrics[key]]);
      rows.unshift(["mean entropy, 1 is uniform", meanOf(rowEntropies(grid))]);
      const entry = ([name, value]) =>
        part("", element("dt", {}, name), element("dd", {}, numberText(value)));
      list.replaceChildren(...rows.map(entry));
      notes.textContent = said;
    },
  };
}
