/** The hypotheses of a search, best first, and the reference if it was forced. */

import {element, isolated} from "./dom.js";
import {shortened, visible} from "./symbols.js";

const BEAM_NAMES = {class: "av-beam-names", "aria-hidden": "true"};
let groups = 0;

export class Beams {
  /** `onChoose(index)`. */
  constructor(onChoose) {
    this.onChoose = onChoose;
    this.group = `av-beams-${(groups += 1)}`;
    this.node = element("div", {
      class: "av-beams",
      role: "radiogroup",
      "aria-label": "Hypotheses",
    });
  }

  show(hypotheses, chosen) {
    this.node.hidden = hypotheses.length < 2;
    const key = JSON.stringify(hypotheses.map(({kind, text, score, ranking}) => [
      kind, text, score, ranking,
    ]));
    if (key !== this.key) {
      this.key = key;
      const names = ["", "", "Hypothesis", "log-probability", "ranking"];
      this.node.replaceChildren(
        element("div", BEAM_NAMES, ...names.map(cell)),
        ...hypotheses.map((hypothesis, i) => this._row(hypothesis, i)),
      );
    }
    this.node.querySelectorAll("input").forEach((input, i) => {
      input.checked = i === chosen;
    });
  }

  _row({kind, rank, text, score, ranking}, index) {
    const input = element("input", {type: "radio", name: this.group, value: index});
    input.addEventListener("change", () => this.onChoose(index));
    const name = kind === "forced" ? "reference" : `${rank + 1}`;
    const shown = visible(shortened(text, 400)) || "(empty)";
    return element(
      "label",
      {class: "av-beam"},
      input,
      element("span", {class: "av-rank"}, name),
      isolated(shown, {class: "av-beam-text", dir: "auto"}),
      number(score),
      number(ranking),
    );
  }
}

function number(value) {
  return cell(Number.isFinite(value) ? value.toFixed(2).replace("-", "−") : "");
}

function cell(text) {
  return element("span", {class: "av-number"}, text);
}
