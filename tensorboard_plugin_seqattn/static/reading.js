/** The two original texts, shaded by their attention. */

import {element, focusable, part, refill} from "./dom.js";
import {listenToSides, markSides, nameView, shadeSides} from "./labels.js";
import {shortened, visible} from "./symbols.js";

export function createReading(onPoint) {
  const title = element("h2", {class: "av-title"});
  const text = () => element("p", {class: "av-text", dir: "auto"});
  const [source, target, reference] = [text(), text(), text()];
  const line = (name, node) => part("av-line", element("span", {}, name), node);
  const lines = [line("Source", source), line("Translation", target)];
  const last = line("Reference", reference);
  const help = "Source and translation. Arrow keys move from word to word.";
  const node = focusable("av-reading", help, title, ...lines, last);
  let panel = null;
  listenToSides(node, source, target, onPoint);

  return {
    node,

    show(newPanel, isAlone) {
      panel = newPanel;
      const {picture, hypothesis, grid} = panel;
      nameView(title, "Reading", panel, isAlone);
      for (const [side, read, labels] of [
        [source, picture.source, grid.columns],
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
    const isEnd = start === characters.length;
    const shown = first < end ? between(first, end) : isEnd ? text : "";
    parts.push(element("span", {class: "av-label"}, shown));
    done = Math.max(done, end);
  }
  parts.push(between(done, characters.length));
  return parts;
}
