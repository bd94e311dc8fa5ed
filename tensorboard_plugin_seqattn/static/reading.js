/** The two texts as they were written; what is looked at is shaded. */

import {element, isolated} from "./dom.js";
import {markTexts, positionOf} from "./labels.js";
import {directionOf, shortened, visible} from "./symbols.js";

const READING_FOCUS = {
  class: "av-reading av-focus",
  tabindex: 0,
  role: "application",
  "aria-label": "Source and translation. Arrow keys move from word to word.",
};

export class Reading {
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.title = element("h3", {class: "av-title"});
    this.source = element("p", {class: "av-text"});
    this.target = element("p", {class: "av-text"});
    this.reference = element("p", {class: "av-text av-quiet"});
    this.caption = element("p", {class: "av-small"});
    this.referenceLine = line("Reference", this.reference);
    this.node = element(
      "section",
      READING_FOCUS,
      this.title,
      line("Source", this.source),
      line("Translation", this.target),
      this.referenceLine,
      this.caption,
    );
    for (const [text, name] of [[this.source, "column"], [this.target, "row"]]) {
      text.addEventListener("pointerover", (event) => this._hover(event, text, name));
    }
    this.node.addEventListener("pointerleave", () => onSelect(null));
  }

  /** Draws a panel of a scene. */
  show({grid, scale, title, picture, hypothesis}, {isAlone}) {
    const {source, reference} = picture;
    const {target} = hypothesis;
    Object.assign(this, {grid, scale});
    this.title.textContent = title;
    this.title.hidden = isAlone;
    const key = JSON.stringify([grid.rows, grid.columns, target.text]);
    if (key !== this.key) {
      this.key = key;
      fill(this.source, source, grid.columns);
      fill(this.target, target, grid.rows);
    }
    const shown = reference !== null && reference !== target.text;
    this.referenceLine.hidden = !shown;
    this.reference.textContent = shown ? visible(reference) : "";
    this.reference.dir = directionOf(reference ?? "");
  }

  mark({row, column}) {
    markTexts(this, {row, column});
    this.caption.replaceChildren(...this._said(row, column));
  }

  _said(row, column) {
    const word = ({surface}) => ["“", isolated(shortened(surface, 40)), "”."];
    if (row !== null) return ["Shaded: looked at for ", ...word(this.grid.rows[row])];
    if (column === null) return ["Point at a word: what belongs to it is shaded."];
    return ["Shaded: written while looking at ", ...word(this.grid.columns[column])];
  }

  _hover(event, text, name) {
    const at = positionOf(event, text);
    if (at >= 0) this.onSelect({row: null, column: null, [name]: at});
  }
}

function line(name, text) {
  const before = element("span", {class: "av-name"}, name);
  return element("div", {class: "av-line"}, before, text);
}

/** Spans of the labels, and between them what belongs to none, as it was written. */
function fill(node, {text, characters}, labels) {
  const between = (from, to) =>
    visible(shortened(characters.slice(from, to).join(""), 200));
  const parts = [];
  let done = 0;
  for (const {start, end, text: label} of labels) {
    if (start > done) parts.push(between(done, start));
    const from = Math.max(start, done);
    // the blank before a word is not shaded
    let first = from;
    while (first < end && /\s/u.test(characters[first])) first += 1;
    if (first > from) parts.push(between(from, first));
    const shown = first < end ? between(first, end) : end > start ? "" : label;
    parts.push(element("span", {class: "av-token"}, shown));
    done = Math.max(done, end);
  }
  if (done < characters.length) parts.push(between(done, characters.length));
  node.dir = directionOf(text);
  node.replaceChildren(...parts);
}
