/** Where things of a heat map stand, on the screen and in a file alike. */

import {coverageOf, rowEntropies} from "./measures.js";

export const FONT =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif';
export const ROOM = {alone: 560, beside: 300};
const WIDEST = 132; // pixels of a label, a longer one is cut
const BAR = 26; // pixels of the longest bar in the margins
let ruler = null;

/** Sizes in pixels: of a cell, of the labels, and how far those above are turned.
 *
 * The cells fit into so much `room` as long as they are not smaller than 14 pixels.
 */
export function layoutOf({rows, columns}, room) {
  const most = Math.max(rows.length, columns.length, 1);
  const cell = Math.max(14, Math.min(30, Math.floor(room / most)));
  const font = cell < 22 ? 11 : 13;
  const widest = Math.max(0, ...columns.map((label) => textWidth(label.text, font)));
  const length = Math.min(WIDEST, widest);
  const angle = widest <= cell - 2 ? 0 : cell < 20 ? 60 : 45;
  const [sin, cos] = [Math.sin, Math.cos].map((f) => f((angle * Math.PI) / 180));
  return {
    cell,
    font,
    angle,
    width: columns.length * cell,
    height: rows.length * cell,
    longest: WIDEST,
    top: Math.ceil(length * sin + font * 1.3 * cos) + 8,
    overhang: Math.ceil(length * cos),
    left: Math.min(
      WIDEST,
      Math.ceil(Math.max(...rows.map((label) => textWidth(label.text, font)), 0)),
    ),
  };
}

export function textWidth(text, size) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = `${size}px ${FONT}`;
  return ruler.measureText(text).width;
}

// Paths: one for all marks of a kind, so that a large picture has few nodes -----------

/** Squares around cells. */
export function cellsPath(cells, cell, inset) {
  const side = cell - 2 * inset;
  const square = ([i, j]) =>
    `M${j * cell + inset} ${i * cell + inset}h${side}v${side}h${-side}z`;
  return cells.map(square).join("");
}

/** Crosses where there is no finite number. */
export function crossesPath({columns, values}, cell) {
  const size = cell - 8;
  let path = "";
  values.forEach((value, n) => {
    if (Number.isFinite(value)) return;
    const x = (n % columns.length) * cell + 4;
    const y = Math.floor(n / columns.length) * cell + 4;
    path += `M${x} ${y}l${size} ${size}m0 ${-size}l${-size} ${size}`;
  });
  return path;
}

/** Lines between words, where tokens are parts of them. */
export function bordersPath({rows, columns, unit}, {cell, width, height}) {
  if (unit === "word") return "";
  const borders = (labels) => {
    const found = labels.flatMap((label, i) =>
      i > 0 && label.word !== labels[i - 1].word ? [i * cell] : [],
    );
    return found.length === labels.length - 1 ? [] : found; // each token is a word
  };
  return [
    ...borders(rows).map((y) => `M0 ${y}h${width}`),
    ...borders(columns).map((x) => `M${x} 0v${height}`),
  ].join("");
}

/** Local attention: the window around the predicted centre of each row. */
export function windowPath({centre, reach}, {cell, width}) {
  return centre
    .map((p, i) => {
      const [left, right] = [p - reach, p + reach + 1].map((x) =>
        Math.min(Math.max(x * cell, 0), width),
      );
      if (!Number.isFinite(left + right)) return "";
      const y = i * cell + 1.5;
      return `M${left + 1} ${y}h${right - left - 2}v${cell - 3}h${left + 2 - right}z`;
    })
    .join("");
}

/** Dots at the predicted centres. */
export function centresPath({centre}, {cell}) {
  const r = Math.max(2, cell / 9);
  return centre
    .map((p, i) => {
      if (!Number.isFinite(p)) return "";
      const [x, y] = [(p + 0.5) * cell - r, (i + 0.5) * cell];
      return `M${x} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
    })
    .join("");
}

/** Bars in the margins: to the right the entropy of each row, full width if it is
 * uniform; below the coverage of each column, half the height if it is 1. */
export function barsPath(grid, {cell, width, height}) {
  const gap = Math.min(3, cell / 5);
  const side = cell - 2 * gap;
  const right = rowEntropies(grid).map((entropy, i) => {
    const length = BAR * Math.min(entropy, 1) || 0;
    return `M${width + 6} ${i * cell + gap}h${length}v${side}h${-length}z`;
  });
  const below = coverageOf(grid).map((sum, j) => {
    const length = (BAR * Math.min(sum, 2)) / 2 || 0;
    return `M${j * cell + gap} ${height + 6}v${length}h${side}v${-length}z`;
  });
  return [...right, ...below].join("");
}

/** Where a row is uniform, and where a column was looked at once. */
export function rulesPath({width, height}) {
  return `M${width + 6 + BAR} 0v${height}M0 ${height + 6 + BAR / 2}h${width}`;
}

export const MARGIN = BAR + 18;
