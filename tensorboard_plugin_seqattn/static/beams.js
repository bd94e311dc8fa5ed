/** The hypotheses of a search, best first, and the reference if it was forced. */

import {element, isolated, numberText, part, refill} from "./dom.js";
import {shortened, visible} from "./symbols.js";

/** `onChoose(index)`. */
export function createBeams(onChoose) {
  const node = part("av-beams");
  const cell = (text, i) => element("span", {class: i !== 1 && "av-number"}, text);

  function beamOf({kind, rank, text, score, ranking}, i) {
    const name = kind === "forced" ? "reference" : String(rank + 1);
    const said = isolated(visible(shortened(text, 400)) || "(empty)");
    const numbers = [score, ranking].map((value) => cell(numberText(value)));
    const about = {type: "button", class: "av-beam", onclick: () => onChoose(i)};
    return element("button", about, cell(name), said, ...numbers);
  }

  return {
    node,

    show(hypotheses, chosen) {
      node.hidden = hypotheses.length < 2;
      const seen = hypotheses.map(({kind, text, score, ranking}) => {
        return [kind, text, score, ranking];
      });
      const names = ["", "Hypothesis", "log-probability", "ranking"].map(cell);
      refill(node, seen, () => [part("av-beam", ...names), ...hypotheses.map(beamOf)]);
      node.querySelectorAll("button").forEach((beam, i) => {
        beam.ariaPressed = i === chosen;
      });
    },
  };
}
