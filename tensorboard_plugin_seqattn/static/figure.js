/** A heat map as one SVG that stands alone: for papers and slides. */

import {element, svgElement} from "./dom.js";
import {
  FONT,
  ROOM,
  bordersPath,
  cellsPath,
  centresPath,
  crossesPath,
  layoutOf,
  textWidth,
  windowPath,
} from "./layout.js";
import {legendTicks, legendValues} from "./scale.js";
import {directionOf, shortened, visible} from "./symbols.js";

const COLOURS = {
  light: {paper: "#ffffff", ink: "#1a1d24", quiet: "#5c6370", gold: "#c2410c"},
  dark: {paper: "#14161b", ink: "#eceef2", quiet: "#a3a9b5", gold: "#ff9d52"},
};
const SPACE = 28; // between figures, and around them

/** An SVG element of figures `{title, grid, scale, gold, local}` side by side. */
export function figureSvg(figures, description) {
  const colours = COLOURS[figures[0].scale.theme];
  const placed = figures.map((figure) => {
    return {...figure, sizes: layoutOf(figure.grid, ROOM.alone)};
  });
  const titled = figures.some(({title}) => title) ? 24 : 0;
  const top = Math.max(...placed.map(({sizes}) => sizes.top)) + titled - SPACE / 2;
  const deepest = Math.max(...placed.map(({sizes}) => sizes.height));
  const height = top + deepest + 2 * SPACE + 30;
  let x = SPACE;
  const groups = placed.map((figure) => {
    const {sizes} = figure;
    x += sizes.left + 8;
    const group = svgElement("g", {transform: `translate(${x} ${SPACE + top})`});
    group.append(...drawing(figure, colours), ...legend(figure, colours));
    x += Math.max(sizes.width + sizes.overhang, LEGEND) + SPACE;
    return group;
  });
  return svgElement(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width: x,
      height,
      viewBox: `0 0 ${x} ${height}`,
      "font-family": FONT,
    },
    svgElement("title", {}, "Attention"),
    svgElement("desc", {}, description),
    svgElement("rect", {width: x, height, fill: colours.paper}),
    ...groups,
  );
}

function drawing({title, grid, scale, gold, local, sizes}, colours) {
  const {cell} = sizes;
  const {paper, ink, quiet} = colours;
  const path = (d, look) => svgElement("path", {d, fill: "none", ...look});
  const middle = (i) => (i + 0.5) * cell;
  const made = [
    text(visible(title), 0, -sizes.top - 8, 13, ink, {"font-weight": 600}),
    ...grid.columns.map((label, j) => sourceLabel(label, middle(j), sizes, ink)),
    ...grid.rows.map((label, i) => targetLabel(label, middle(i), sizes, ink)),
    ...Array.from(grid.values, (value, n) =>
      svgElement("rect", {
        x: (n % grid.columns.length) * cell,
        y: Math.floor(n / grid.columns.length) * cell,
        width: cell - 1,
        height: cell - 1,
        fill: scale.hex(value),
      }),
    ),
    path(bordersPath(grid, sizes), {stroke: paper, "stroke-width": 3}),
    path(crossesPath(grid, cell), {stroke: quiet}),
  ];
  if (local) {
    made.push(path(windowPath(local, sizes), {stroke: quiet}));
    made.push(path(centresPath(local, sizes), {fill: ink}));
  }
  if (gold) {
    const line = {stroke: colours.gold, "stroke-width": 2};
    made.push(path(cellsPath(gold.P, cell, 2), {...line, "stroke-dasharray": "3 2"}));
    made.push(path(cellsPath(gold.S, cell, 2), line));
  }
  return made;
}

function sourceLabel(label, x, {font, angle, longest}, ink) {
  const shown = fitting(label.text, longest, font);
  const how = angle
    ? {transform: `rotate(${-angle} ${x} -6)`, dx: -2}
    : {"text-anchor": "middle"};
  if (angle && directionOf(label.text) === "rtl") how["text-anchor"] = "end";
  return text(shown, x, -6, font, ink, {...how, ...direction(label.text)});
}

function targetLabel(label, y, {font, longest}, ink) {
  const rtl = directionOf(label.text) === "rtl"; // there, the start is on the right
  const shown = fitting(label.text, longest, font);
  return text(shown, -8, y + font * 0.36, font, ink, {
    "text-anchor": rtl ? "start" : "end",
    ...direction(label.text),
  });
}

function direction(content) {
  return {direction: directionOf(content), "unicode-bidi": "isolate"};
}

function text(content, x, y, size, fill, attributes = {}) {
  return svgElement("text", {x, y, "font-size": size, fill, ...attributes}, content);
}

/** The text, cut to a width. */
function fitting(content, width, font) {
  if (textWidth(content, font) <= width) return content;
  let count = Array.from(content).length;
  while (count > 1 && textWidth(shortened(content, count), font) > width) count -= 1;
  return shortened(content, count);
}

const LEGEND = 120;

/** The colours of a few values, below the map. */
function legend({scale, sizes}, colours) {
  const values = legendValues(scale, 23);
  const y = sizes.height + 18;
  return [
    ...values.map((value, i) =>
      svgElement("rect", {x: i * 5, y, width: 5.2, height: 8, fill: scale.hex(value)}),
    ),
    ...legendTicks(scale).map((name, i) =>
      text(name, (i * LEGEND) / 2, y + 22, 10, colours.quiet, {
        "text-anchor": ["start", "middle", "end"][i],
      }),
    ),
  ];
}

// Files ------------------------------------------------------------------------------

export function svgText(svg) {
  const written = new XMLSerializer().serializeToString(svg);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${written}\n`;
}

/** A PNG of an SVG, `scale` times as large. */
export async function pngOf(svg, scale = 2) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
  await image.decode();
  const size = (side) => Number(svg.getAttribute(side));
  const [width, height] = [size("width"), size("height")];
  const most = Math.min(scale, 16000 / width, 16000 / height); // what browsers can hold
  const canvas = element("canvas", {width: width * most, height: height * most});
  const context = canvas.getContext("2d");
  context.scale(most, most);
  context.drawImage(image, 0, 0, width, height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
