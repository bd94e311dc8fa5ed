/** The layout of a heat map: sizes in pixels, labels, marks. */

import {svgElement} from "./dom.js";
import {directionOf, shortened} from "./symbols.js";

export const FONT = 'system-ui, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif';
const LONGEST = 20; // characters of a label
const TURNED = Math.SQRT1_2; // by 45 degrees
const [SMALLEST, LARGEST] = [14, 48]; // cells
const widths = new Map(); // of texts, in sizes of the font
let ruler = null;

/** The sizes of a cell, of the labels, and of the whole map. The cells are as large as
 * the room `{width, height}` allows; if they would be too small, the map is larger. */
export function layoutOf({rows, columns}, room) {
  const guess = cellOf({rows, columns}, room, sidesOf({rows, columns}, 13));
  const font = guess < 22 ? 11 : guess < 36 ? 13 : 15;
  const {above, left} = sidesOf({rows, columns}, font);
  const cell = cellOf({rows, columns}, room, {above, left});
  const widest = Math.max(0, ...above);
  const isTurned = widest > cell - 2;
  const [width, height] = [columns.length * cell, rows.length * cell];
  const reach = (length, j) => (j + 1) * cell + (isTurned ? length * TURNED : 0);
  return {
    ...{cell, font, isTurned, width, height, left},
    top: isTurned ? (widest + font) * TURNED + 12 : font + 12,
    right: Math.max(width, ...above.map(reach)),
  };
}

/** The widths of the labels above, and the room for those on the left. */
function sidesOf({rows, columns}, font) {
  const [above, beside] = [columns, rows].map((labels) =>
    labels.map(({text}) => Math.ceil(textWidth(text, font))),
  );
  return {above, left: Math.max(48, ...beside) + 16};
}

/** No label that is turned ends outside of the room. */
function cellOf({rows}, room, {above, left}) {
  const width = room.width - left;
  const across = above.map((length, j) => (width - length * TURNED) / (j + 1));
  const fits = Math.min(LARGEST, room.height / rows.length, ...across);
  return Math.max(SMALLEST, Math.floor(fits));
}

/** Whether cells of at least some size fit into a width, without scrolling. */
export function fitsInto({rows, columns}, width, cell = SMALLEST) {
  return sidesOf({rows, columns}, 11).left + columns.length * cell <= width;
}

function textWidth(text, size) {
  if (!widths.has(text)) widths.set(text, measuredWidth(shortened(text, LONGEST)));
  return size * widths.get(text);
}

function measuredWidth(text) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = `13px ${FONT}`;
  return ruler.measureText(text).width / 13;
}

/** Above the cells. */
export function sourceLabels(labels, sizes) {
  const {cell, isTurned} = sizes;
  return labels.map(({text}, j) => {
    const x = (j + 0.5) * cell;
    if (!isTurned) return labelText(text, sizes, {x, y: -6, "text-anchor": "middle"});
    const anchor = directionOf(text) === "rtl" && "end"; // it starts on the right
    const turned = {transform: `rotate(-45 ${x} -6)`, dx: -2, "text-anchor": anchor};
    return labelText(text, sizes, {x, y: -6, ...turned});
  });
}

/** To the left of them. */
export function targetLabels(labels, sizes) {
  return labels.map(({text}, i) => {
    const y = (i + 0.5) * sizes.cell + sizes.font * 0.36;
    const anchor = directionOf(text) === "rtl" ? "start" : "end";
    return labelText(text, sizes, {x: -8, y, "text-anchor": anchor});
  });
}

function labelText(text, {font}, place) {
  const how = {direction: directionOf(text), "unicode-bidi": "isolate"};
  const about = {class: "av-label", "font-size": font, ...how, ...place};
  return svgElement("text", about, shortened(text, LONGEST));
}

// Marks: one path for all of a kind, so that a large picture has few nodes ------------

/** SVG elements; a kind that is not there has an empty path. */
export function marksOf({grid, gold, local}, sizes) {
  const paths = {
    crosses: crossesPath(grid, sizes),
    window: local ? windowPath(local, sizes) : "",
    centre: local ? centresPath(local, sizes) : "",
    possible: gold ? cellsPath(gold.P, sizes) : "",
    sure: gold ? cellsPath(gold.S, sizes) : "",
  };
  return Object.entries(paths).map(([name, d]) =>
    svgElement("path", {class: `av-${name}`, d}),
  );
}

function boxPath(x, y, width, height) {
  return `M${x} ${y}h${width}v${height}h${-width}z`;
}

function cellsPath(cells, {cell}) {
  const box = ([i, j]) => boxPath(j * cell + 2, i * cell + 2, cell - 4, cell - 4);
  return cells.map(box).join("");
}

/** Where there is no finite number. */
function crossesPath({columns, values}, {cell}) {
  const size = cell - 8;
  const crosses = Array.from(values, (value, n) => {
    if (Number.isFinite(value)) return "";
    const x = (n % columns.length) * cell + 4;
    const y = Math.floor(n / columns.length) * cell + 4;
    return `M${x} ${y}l${size} ${size}m0 ${-size}l${-size} ${size}`;
  });
  return crosses.join("");
}

/** Local attention: the window around the predicted centre of each row. */
function windowPath({centre, reach}, {cell, width}) {
  const boxes = centre.map((p, i) => {
    if (!Number.isFinite(p)) return "";
    const within = (x) => Math.min(Math.max(x * cell, 0), width);
    const [left, right] = [within(p - reach), within(p + reach + 1)];
    return boxPath(left + 1, i * cell + 1.5, right - left - 2, cell - 3);
  });
  return boxes.join("");
}

function centresPath({centre}, {cell}) {
  const r = Math.max(2, cell / 9);
  const dots = centre.map((p, i) => {
    if (!Number.isFinite(p)) return "";
    const start = `M${(p + 0.5) * cell - r} ${(i + 0.5) * cell}`;
    return `${start}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  });
  return dots.join("");
}
