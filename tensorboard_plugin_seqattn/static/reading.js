/** The two original texts, shaded by their attention. */

import {element, focusable, part, refill} from "./dom.js";
import {listenToSides, markSides, nameView, shadeSides} from "./labels.js";
import {START, shortened, visible} from "./symbols.js";

const TEXTS = {source: "Source", target: "Translation"};

export function createReading(onPoint) {
  const title = element("h2", {class: "av-title"});
  const text = () => element("p", {class: "av-text", dir: "auto"});
  const [source, target, reference] = [text(), text(), text()];
  const names = [element("span"), element("span")];
  const line = (name, node) => part("av-line", name, node);
  const lines = [line(names[0], source), line(names[1], target)];
  const last = line(element("span", {}, "Reference"), reference);
  const help = "Source and translation. Arrow keys move from word to word.";
  const node = focusable("av-reading", help, title, ...lines, last);
  let panel = null;
  listenToSides(node, source, target, onPoint);

  return {
    node,

    show(newPanel, isAlone) {
      panel = newPanel;
      const {picture, hypothesis, grid, sides: {rows, columns}} = panel;
      nameView(title, "Reading", panel, isAlone);
      names[0].textContent = rows === columns ? "Looked at" : TEXTS[columns];
      names[1].textContent = TEXTS[rows];
      for (const [side, read, labels] of [
        [source, hypothesis.source, grid.columns],
        [target, hypothesis.target, grid.rows],
      ]) {
        refill(side, [read.text, labels], () => partsOf(read.characters, labels));
      }
      last.hidden = !picture.reference || picture.reference === hypothesis.text;
      reference.textContent = visible(picture.reference ?? "");
    },

    mark(at) {
      markSides(source, target, at);
      shadeSides(source, target, panel, at);
    },
  };
}

/** Spans of the labels, and the original text between them. */
function partsOf(characters, labels) {
  const between = (from, to) =>
    visible(shortened(characters.slice(from, to).join(""), 200));
  const parts = [];
  let done = 0;
  for (const {start, end, text} of labels) {
    let first = Math.max(start, done);
    while (first < end && /\s/u.test(characters[first])) first += 1; // not shaded
    if (first > done) parts.push(between(done, first));
    const isMark = start === characters.length || (end === 0 && text === START);
    const shown = first < end ? between(first, end) : isMark ? text : "";
    parts.push(element("span", {class: "av-label"}, shown));
    done = Math.max(done, end);
  }
  parts.push(between(done, characters.length));
  return parts;
}
