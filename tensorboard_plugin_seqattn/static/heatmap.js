/** The matrix: cells on a canvas, marks in an SVG on top, labels that stay in sight. */

import {inside} from "./crosshair.js";
import {element, svgElement} from "./dom.js";
import {axisLabel, markOne, positionOf} from "./labels.js";
import {
  MARGIN,
  ROOM,
  barsPath,
  bordersPath,
  cellsPath,
  centresPath,
  crossesPath,
  layoutOf,
  rulesPath,
  windowPath,
} from "./layout.js";

const PATHS = "borders crosses rules bars window centre possible sure".split(" ");
const FOCUS = {
  class: "av-scroll av-focus",
  tabindex: 0,
  role: "application",
  "aria-roledescription": "heat map",
};

export class HeatMap {
  /** `onSelect({row, column})` is called when the pointer moves; null: it has left. */
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.title = element("figcaption", {class: "av-title"});
    this.canvas = element("canvas", {class: "av-canvas"});
    this.paths = Object.fromEntries(
      PATHS.map((name) => [name, svgElement("path", {class: `av-${name}`})]),
    );
    this.bands = ["row", "column", "cell"].map((name) =>
      svgElement("rect", {class: `av-band av-band-${name}`}),
    );
    this.marks = svgElement("svg", {class: "av-marks", "aria-hidden": "true"});
    this.marks.append(...Object.values(this.paths), ...this.bands);
    this.cells = element("div", {class: "av-cells"}, this.canvas);
    this.corner = element(
      "div",
      {class: "av-corner", "aria-hidden": "true"},
      element("span", {}, "source →"),
      element("span", {}, "target ↓"),
    );
    this.top = element("div", {class: "av-top"});
    this.left = element("div", {class: "av-left"});
    this.entropy = marginName("entropy", "Of a target token; at the line: uniform.");
    this.coverage = marginName("coverage", "Of a source token; at the line: 1.");
    const marked = [this.cells, this.marks, this.entropy];
    this.body = element("div", {class: "av-body"}, ...marked);
    const parts = [this.corner, this.top, this.left, this.body];
    const grid = element("div", {class: "av-grid"}, ...parts);
    this.scroll = element("div", FOCUS, grid);
    this.node = element("figure", {class: "av-heat"}, this.title, this.scroll);
    this._listen();
  }

  /** Draws a panel of a scene; with bars in the margins if there is room. */
  show({grid, scale, title, gold, local}, {isAlone: margins}) {
    this.grid = grid;
    this.title.textContent = title;
    this.title.hidden = !title;
    const help = `Attention ${title}. Arrow keys move the crosshair.`;
    this.scroll.setAttribute("aria-label", help);
    this._place(margins);
    paintCells(this.canvas, grid, scale);
    const {sizes, paths} = this;
    paths.borders.setAttribute("d", bordersPath(grid, sizes));
    paths.crosses.setAttribute("d", crossesPath(grid, sizes.cell));
    paths.rules.setAttribute("d", margins ? rulesPath(sizes) : "");
    paths.bars.setAttribute("d", margins ? barsPath(grid, sizes) : "");
    paths.sure.setAttribute("d", gold ? cellsPath(gold.S, sizes.cell, 2) : "");
    paths.possible.setAttribute("d", gold ? cellsPath(gold.P, sizes.cell, 2) : "");
    paths.window.setAttribute("d", local ? windowPath(local, sizes) : "");
    paths.centre.setAttribute("d", local ? centresPath(local, sizes) : "");
  }

  /** Shows where the crosshair is; `scroll`: and brings it into view. */
  mark({row, column}, scroll = false) {
    const {cell, width, height} = this.sizes;
    const [x, y] = [(column ?? 0) * cell, (row ?? 0) * cell];
    const is = [row !== null, column !== null, row !== null && column !== null];
    const boxes = [[0, y, width, cell], [x, 0, cell, height], [x, y, cell, cell]];
    this.bands.forEach((band, i) => {
      band.style.display = is[i] ? "" : "none";
      ["x", "y", "width", "height"].forEach((side, n) => {
        band.setAttribute(side, boxes[i][n]);
      });
    });
    markOne(this.left.children, row);
    markOne(this.top.children, column);
    if (scroll) this._bringIntoView(is[0] ? y : null, is[1] ? x : null);
  }

  /** Labels are made anew only if they have changed: sliders move often. */
  _place(margins) {
    const key = JSON.stringify([this.grid.rows, this.grid.columns, margins]);
    if (key === this.key) return;
    this.key = key;
    this.sizes = layoutOf(this.grid, margins ? ROOM.alone : ROOM.beside);
    const {cell, font, angle, width, height, top, overhang} = this.sizes;
    const extra = margins ? MARGIN : 1;
    this.node.style.setProperty("--cell", `${cell}px`);
    this.node.style.setProperty("--label", `${font}px`);
    this.node.style.setProperty("--angle", `${-angle}deg`);
    this.cells.style.width = this.canvas.style.width = `${width}px`;
    this.cells.style.height = this.canvas.style.height = `${height}px`;
    this.top.style.height = `${top}px`;
    this.top.classList.toggle("av-flat", angle === 0);
    this.body.style.width = `${width + Math.max(extra, overhang)}px`;
    this.body.style.height = `${height + extra}px`;
    this.entropy.style.left = `${width}px`;
    this.entropy.hidden = this.coverage.hidden = !margins;
    const names = this.grid.rows.map(({text}) => axisLabel(text));
    this.left.replaceChildren(...names, this.coverage);
    this.top.replaceChildren(...this.grid.columns.map(({text}) => axisLabel(text)));
    Array.from(this.top.children).forEach((label, j) => {
      label.style.left = `${(j + 0.5) * cell}px`;
    });
  }

  _listen() {
    this.cells.addEventListener("pointermove", (event) => this._select(event, "cell"));
    this.top.addEventListener("pointerover", (event) => this._select(event, "column"));
    this.left.addEventListener("pointerover", (event) => this._select(event, "row"));
    this.scroll.addEventListener("pointerleave", () => this.onSelect(null));
  }

  _select(event, kind) {
    const {cell} = this.sizes;
    if (kind === "cell") {
      const row = inside(Math.floor(event.offsetY / cell), this.grid.rows.length);
      const column = inside(Math.floor(event.offsetX / cell), this.grid.columns.length);
      this.onSelect({row, column});
      return;
    }
    const at = positionOf(event, kind === "row" ? this.left : this.top);
    if (at >= 0) this.onSelect({row: null, column: null, [kind]: at});
  }

  _bringIntoView(y, x) {
    const {scroll, sizes} = this;
    const [left, top] = [this.left.offsetWidth, this.top.offsetHeight];
    const bring = (position, start, room, side) => {
      if (position === null) return;
      if (position < scroll[side]) scroll[side] = position;
      const beyond = position + sizes.cell + start - room;
      if (beyond > scroll[side]) scroll[side] = beyond;
    };
    bring(y, top, scroll.clientHeight, "scrollTop");
    bring(x, left, scroll.clientWidth, "scrollLeft");
  }
}

function marginName(name, title) {
  const about = {class: `av-margin av-margin-${name}`, title, "aria-hidden": "true"};
  return element("div", about, name);
}

/** One pixel for a cell; CSS makes it as large as it shall be. */
export function paintCells(canvas, {rows, columns, values}, scale) {
  canvas.width = columns.length;
  canvas.height = rows.length;
  if (!values.length) return;
  const image = new ImageData(columns.length, rows.length);
  values.forEach((value, i) => {
    const [r, g, b] = scale.rgb(value);
    image.data.set([r, g, b, 255], 4 * i);
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
}
