/** Source and target side by side, and a line for each weight that can be seen. */

import {element, svgElement} from "./dom.js";
import {axisLabel, markTexts, positionOf} from "./labels.js";

const PITCH = 22; // pixels from token to token
const SPAN = 190; // from side to side
const FAINTEST = 0.04; // a lighter line is not drawn
const MOST = 8; // lines of a target token
const LINKS_FOCUS = {
  class: "av-scroll av-focus",
  tabindex: 0,
  role: "application",
  "aria-label": "Links between tokens. Arrow keys move from token to token.",
};

export class Links {
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.title = element("figcaption", {class: "av-title"});
    this.lines = svgElement("svg", {class: "av-lines", width: SPAN});
    this.source = element("div", {class: "av-side av-side-source"});
    this.target = element("div", {class: "av-side av-side-target"});
    const sides = [this.source, this.lines, this.target];
    const row = element("div", {class: "av-bipartite"}, ...sides);
    const scroll = element("div", LINKS_FOCUS, row);
    const said = `Drawn: the ${MOST} heaviest of a target token, from ${FAINTEST} up.`;
    const note = element("p", {class: "av-small"}, said);
    this.node = element("figure", {class: "av-links"}, this.title, scroll, note);
    for (const [side, name] of [[this.source, "column"], [this.target, "row"]]) {
      side.addEventListener("pointerover", (event) => this._hover(event, side, name));
    }
    scroll.addEventListener("pointerleave", () => onSelect(null));
  }

  /** Draws a panel of a scene. */
  show({grid, scale, title}, {isAlone}) {
    this.grid = grid;
    this.scale = scale;
    this.title.textContent = title;
    this.title.hidden = isAlone;
    this._place();
    const shown = strongest(grid);
    this.paths = shown.map(({row, column, value}, i) => {
      const path = this.paths?.[i] ?? svgElement("path");
      path.setAttribute("d", this._curve(row, column));
      path.style.strokeWidth = `${(0.8 + 5.2 * value).toFixed(2)}px`;
      path.style.opacity = (0.08 + 0.87 * value).toFixed(3);
      return path;
    });
    this.lines.replaceChildren(...this.paths);
    this.shown = shown;
  }

  /** What is selected stays, the other lines step back; its partners are shaded. */
  mark({row, column}) {
    this.lines.classList.toggle("av-selecting", row !== null || column !== null);
    this.shown.forEach((line, i) => {
      const is = row === null ? line.column === column : line.row === row;
      this.paths[i].classList.toggle("av-on", is);
    });
    markTexts(this, {row, column});
  }

  _place() {
    const {rows, columns} = this.grid;
    const key = JSON.stringify([rows, columns]);
    if (key === this.key) return;
    this.key = key;
    const most = Math.max(rows.length, columns.length);
    this.lines.setAttribute("height", most * PITCH);
    [[this.source, columns], [this.target, rows]].forEach(([side, labels]) => {
      side.style.paddingTop = `${((most - labels.length) * PITCH) / 2}px`;
      side.replaceChildren(...labels.map(({text}) => axisLabel(text)));
    });
  }

  _curve(row, column) {
    const {rows, columns} = this.grid;
    const most = Math.max(rows.length, columns.length);
    const from = (column + 0.5 + (most - columns.length) / 2) * PITCH;
    const to = (row + 0.5 + (most - rows.length) / 2) * PITCH;
    const [a, b] = [SPAN * 0.45, SPAN * 0.55];
    return `M0 ${from}C${a} ${from} ${b} ${to} ${SPAN} ${to}`;
  }

  _hover(event, side, name) {
    const at = positionOf(event, side);
    if (at >= 0) this.onSelect({row: null, column: null, [name]: at});
  }
}

/** The heaviest weights of each row; the lightest first, so that they lie below. */
export function strongest({rows, columns, values}) {
  return rows
    .flatMap((_, row) =>
      columns
        .map((_label, column) => {
          const value = values[row * columns.length + column];
          return {row, column, value: Math.min(value, 1)};
        })
        .filter(({value}) => value >= FAINTEST)
        .sort((a, b) => b.value - a.value)
        .slice(0, MOST),
    )
    .sort((a, b) => a.value - b.value);
}
