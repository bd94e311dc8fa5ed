/** The cells of a grid, and the crosshair on top of them. */

import {inside} from "./crosshair.js";
import {element, part} from "./dom.js";

/** `onPoint({row, column})` is called when the pointer moves. */
export function createCells(onPoint) {
  const canvas = element("canvas", {class: "av-canvas"});
  const bands = ["row", "column", "cell"].map((name) =>
    element("i", {class: `av-band av-band-${name}`}),
  );
  const node = part("av-cells", canvas, ...bands);
  let grid = null;

  node.addEventListener("pointermove", ({clientX, clientY}) => {
    const {left, top, width, height} = node.getBoundingClientRect();
    const at = (share, {length}) => inside(Math.floor(share * length), length);
    const row = at((clientY - top) / height, grid.rows);
    onPoint({row, column: at((clientX - left) / width, grid.columns)});
  });

  return {
    node,

    show(newGrid, scale) {
      grid = newGrid;
      node.style.setProperty("--rows", grid.rows.length);
      node.style.setProperty("--columns", grid.columns.length);
      paint(canvas, grid, scale);
    },

    mark({row, column}) {
      const [rowBand, columnBand, cell] = bands;
      rowBand.hidden = row === null;
      columnBand.hidden = column === null;
      cell.hidden = row === null || column === null;
      node.style.setProperty("--row", row);
      node.style.setProperty("--column", column);
    },

    /** Brings the crosshair into view. */
    reveal() {
      const band = bands.findLast(({hidden}) => !hidden);
      band?.scrollIntoView({block: "nearest", inline: "nearest"});
    },
  };
}

/** One pixel for a cell; CSS enlarges it. */
function paint(canvas, {rows, columns, values}, scale) {
  canvas.width = columns.length;
  canvas.height = rows.length;
  if (!values.length) return;
  const image = new ImageData(columns.length, rows.length);
  const {data} = image;
  values.forEach((value, i) => {
    [data[4 * i], data[4 * i + 1], data[4 * i + 2]] = scale.rgb(value);
    data[4 * i + 3] = 255;
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
}
