/** One line with the exact weights at the crosshair. */

import {element, isolated, numberText} from "./dom.js";
import {coverageOf, rowEntropies, rowOf, sumOf} from "./measures.js";
import {shortened} from "./symbols.js";

const HINT = "Point at a cell or a word, or use the arrow keys, to read the weights.";

export function createReadout() {
  const node = element("p", {class: "av-readout", "aria-live": "polite"});
  return {
    node,

    /** `panels`: `{name, grid, at}`; of two, it also shows the difference. If it
     * `isResting`, the reader points at nothing. */
    show(panels, pointed, isResting) {
      const said = saidOf(panels, pointed);
      if (isResting && said.length) said.push(". ");
      if (isResting) said.push(element("span", {class: "av-small"}, HINT));
      node.replaceChildren(...said);
    },
  };
}

function saidOf(panels, pointed) {
  const {grid, at: {row, column}} = panels[pointed];
  const word = ({surface}) => isolated(shortened(surface, 40), "av-word");
  if (row === null && column === null) return [];
  if (row === null) {
    const seen = panels.filter(({at}) => at.column !== null);
    return [word(grid.columns[column]), " received", ...seen.flatMap(covered)];
  }
  if (column === null) {
    const seen = panels.filter(({at}) => at.row !== null);
    return [word(grid.rows[row]), " spread its attention:", ...seen.flatMap(spread)];
  }
  const looked = [word(grid.rows[row]), " looked at ", word(grid.columns[column]), " "];
  return [...looked, ...weightsAt(panels)];
}

function covered({grid, at: {column}, name}) {
  const total = numberText(coverageOf(grid)[column]);
  return [isolated(name, "av-which"), ` ${total} of attention in total`];
}

function spread({grid, at: {row}, name}) {
  const entropy = rowEntropies(grid)[row];
  const sum = sumOf(rowOf(grid, row));
  const said = Number.isFinite(entropy)
    ? ` entropy ${numberText(entropy)} of 1`
    : ` weights sum to ${numberText(sum)}`;
  return [isolated(name, "av-which"), said];
}

/** The weights where the crosshair is, for two pictures with their difference. */
function weightsAt(panels) {
  const seen = panels.filter(({at: {row, column}}) => row !== null && column !== null);
  const values = seen.map(({grid, at}) => rowOf(grid, at.row)[at.column]);
  const exactly = (name, text) => [
    isolated(name, "av-which"),
    element("output", {class: "av-exact"}, text),
  ];
  const said = seen.flatMap(({name}, i) => exactly(name, numberText(values[i], 4)));
  if (values.length < 2) return said;
  const difference = values[1] - values[0];
  const sign = difference > 0 ? "+" : "";
  return [...said, ...exactly("difference", sign + numberText(difference, 4))];
}
