/** The hypotheses of a search, best first, and the reference if it was forced. */

import {element, isolated, numberText, part, refill} from "./dom.js";
import {nameView} from "./labels.js";
import {shortened, visible} from "./symbols.js";
import {explained} from "./tooltip.js";

const SCORE = "The logarithm of the probability of this text. 0 is certain.";
const RANKING =
  "The search orders its hypotheses by this: the log-probability, with the penalties " +
  "for length and coverage.";

/** `onChoose(index)`. */
export function createBeams(onChoose) {
  const title = element("h2", {class: "av-title"});
  const list = part("av-list");
  const node = part("av-beams", title, list);
  const cell = (text, i) => element("span", {class: i !== 1 && "av-number"}, text);

  function headOf() {
    const numbers = [["log-probability", SCORE], ["ranking", RANKING]];
    const explain = ([name, about]) => explained(cell(name), about);
    return part("av-beam", cell("", 1), cell("", 1), ...numbers.map(explain));
  }

  function beamOf({kind, rank, text, score, ranking}, i) {
    const name = kind === "forced" ? "reference" : String(rank + 1);
    const said = isolated(visible(shortened(text, 400)) || "(empty)");
    const numbers = [score, ranking].map((value) => cell(numberText(value)));
    const about = {type: "button", class: "av-beam", onclick: () => onChoose(i)};
    return element("button", about, cell(name), said, ...numbers);
  }

  return {
    node,

    /** A panel of a scene; undefined: there is none. */
    show(panel, isAlone) {
      node.hidden = !panel || panel.sides.rows === "source"; // the same for all
      if (node.hidden) return;
      const {picture: {hypotheses}, hypothesis} = panel;
      node.hidden = isAlone && hypotheses.length < 2;
      nameView(title, "Hypotheses", panel, isAlone);
      const seen = hypotheses.map(({kind, text, score, ranking}) => {
        return [kind, text, score, ranking];
      });
      refill(list, seen, () => [headOf(), ...hypotheses.map(beamOf)]);
      list.querySelectorAll("button").forEach((beam, i) => {
        beam.ariaPressed = hypotheses[i] === hypothesis;
      });
    },
  };
}
