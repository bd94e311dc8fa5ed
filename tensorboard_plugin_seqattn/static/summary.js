/** In words and numbers: what is pointed at, what the whole says, what it does not. */

import {element, isolated} from "./dom.js";
import {coverageOf, meanOf, rowEntropies} from "./measures.js";
import {exactly, legendTicks, legendValues, signedly} from "./scale.js";
import {shortened} from "./symbols.js";

const METRIC_NAMES = {
  coverage_deviation: "Coverage deviation",
  absentmindedness_out: "Absentmindedness out",
  absentmindedness_in: "Absentmindedness in",
  overlap: "Overlap with the source",
  length_ratio: "Length ratio",
  bleu: "BLEU",
};
const CAUTION =
  "Attention shows where the model looked, not why it chose a word: " +
  "other weights may lead to the same words.";

/** One line with the exact weight at the crosshair. */
export class Readout {
  constructor() {
    this.node = element("p", {class: "av-readout"});
    this.live = element("p", {class: "av-unseen", "aria-live": "polite"});
  }

  /** `panels`: `{title, grid, at}`; of two, the second minus the first is said, too. */
  show(panels, pointed, speak = false) {
    const parts = saidOf(panels, pointed);
    this.node.replaceChildren(...parts);
    this.node.classList.toggle("av-hint", parts.length === 1);
    if (speak) this.live.textContent = this.node.textContent;
  }
}

function saidOf(panels, pointed) {
  const {grid, at: {row, column}} = panels[pointed];
  const word = (label) => isolated(shortened(label.surface, 40), {class: "av-word"});
  if (row === null && column === null) {
    return ["Point at a cell or a word, or use the arrow keys, to read the weights."];
  }
  if (row === null) {
    const covered = rounded(coverageOf(grid)[column]);
    return [word(grid.columns[column]), ` was looked at ${covered} times in all`];
  }
  if (column === null) {
    const entropy = rounded(rowEntropies(grid)[row]);
    return [word(grid.rows[row]), ` looked around: entropy ${entropy} of uniform`];
  }
  const looked = [word(grid.rows[row]), " looked at ", word(grid.columns[column]), " "];
  return [...looked, ...weightsOf(panels)];
}

/** The weights where the crosshair is, for two pictures with their difference. */
function weightsOf(panels) {
  const number = (text) => element("output", {class: "av-exact"}, text);
  const found = panels.flatMap(({title, grid, at: {row, column}}) => {
    if (row === null || column === null) return [];
    return [{title, value: grid.values[row * grid.columns.length + column]}];
  });
  const said = found.flatMap(({title, value}) => [
    ...(title ? [isolated(title, {class: "av-which"})] : []),
    number(exactly(value)),
  ]);
  if (found.length < 2) return said;
  const difference = number(signedly(found[1].value - found[0].value));
  return [...said, element("span", {class: "av-which"}, "difference"), difference];
}

/** Measures of the alignment, and the caution that belongs to every attention view. */
export class Summary {
  constructor() {
    this.list = element("dl", {class: "av-measures"});
    this.notes = element("p", {class: "av-small"});
    this.node = element(
      "footer",
      {class: "av-summary"},
      this.list,
      element("p", {class: "av-small"}, CAUTION),
      this.notes,
    );
  }

  /** The entropy is of what is drawn; `metrics` those that came with it, or {}. */
  show(grid, metrics, notes) {
    const entropy = meanOf(rowEntropies(grid));
    const entries = [["Mean entropy, 1 is uniform", entropy]];
    for (const [key, name] of Object.entries(METRIC_NAMES)) {
      if (Number.isFinite(metrics[key])) entries.push([name, metrics[key]]);
    }
    const shown = entries.map(([name, value]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, rounded(value))),
    );
    this.list.replaceChildren(...shown);
    this.notes.textContent = notes.join(" ");
  }
}

function rounded(value) {
  return Number.isFinite(value) ? value.toFixed(2).replace("-", "−") : "–";
}

/** The colours and what they mean. */
export function legendOf(scale, names) {
  const steps = legendValues(scale, 32).map(scale.css);
  const bar = element("span", {class: "av-legend-bar"});
  bar.style.background = `linear-gradient(to right, ${steps.join(",")})`;
  const ticks = legendTicks(scale).map((tick) => element("span", {}, tick));
  const marks = element("span", {class: "av-legend-ticks"}, ...ticks);
  return element("div", {class: "av-legend"}, bar, element("span", {}, names), marks);
}
