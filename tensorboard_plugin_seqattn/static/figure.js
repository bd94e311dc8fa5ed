/** Heat maps in one SVG without a page around it, for papers and slides. */

import {element, svgElement} from "./dom.js";
import {createHeatMap} from "./heatmap.js";
import {FONT} from "./layout.js";
import {legendOf} from "./scale.js";
import {visible} from "./symbols.js";

const SPACE = 28; // between maps, and around them
const ROOM = {width: 720, height: 560}; // of a map, whatever the window
const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity"];

/** An SVG element of panels side by side, as they look in the host, a node. */
export function figureSvg(panels, description, host) {
  const {color, backgroundColor} = getComputedStyle(host);
  let [width, height] = [SPACE, 0];
  const groups = panels.map((panel) => {
    const {sizes, drawn} = standing(panel, panels.length === 1, host);
    const [x, y] = [width + sizes.left, sizes.top + 2 * SPACE];
    const about = {x: 0, y: -sizes.top - 8, "font-size": 13, "font-weight": 600};
    const title = svgElement("text", about, visible(panel.title));
    const legend = legendOf(panel.scale);
    legend.setAttribute("y", sizes.height + 10);
    width = x + Math.max(sizes.right, 170) + SPACE;
    height = Math.max(height, y + sizes.height + 2 * SPACE);
    const place = {transform: `translate(${x} ${y})`};
    return svgElement("g", place, title, ...drawn, legend);
  });
  return svgElement(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${width} ${height}`,
      ...{width, height, fill: color, "font-family": FONT},
    },
    svgElement("desc", {}, description),
    svgElement("rect", {width, height, fill: backgroundColor}),
    ...groups,
  );
}

/** A map as elements that need no style sheet. */
function standing(panel, isAlone, host) {
  const map = createHeatMap(() => {});
  host.append(map.node);
  const sizes = map.show(panel, isAlone, ROOM);
  const {columns, values} = panel.grid;
  const {cell} = sizes;
  const cells = Array.from(values, (value, n) => {
    const [x, y] = [n % columns.length, Math.floor(n / columns.length)];
    const box = {x: x * cell, y: y * cell, width: cell - 1, height: cell - 1};
    return svgElement("rect", {...box, fill: panel.scale.css(value)});
  });
  for (const mark of map.node.querySelectorAll("svg > *")) {
    const style = getComputedStyle(mark);
    for (const look of LOOKS) mark.setAttribute(look, style[look]);
    mark.removeAttribute("class");
  }
  map.node.remove();
  const all = (kind) => map.node.querySelectorAll(kind);
  return {sizes, drawn: [...all("text"), ...cells, ...all("path")]};
}

export function svgText(svg) {
  const written = new XMLSerializer().serializeToString(svg);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${written}\n`;
}

/** A PNG of an SVG, twice as large. */
export async function pngOf(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg))}`;
  await image.decode();
  const [width, height] = ["width", "height"].map((side) => svg.getAttribute(side));
  const scale = Math.min(2, 16000 / width, 16000 / height); // what browsers can hold
  const canvas = element("canvas", {width: width * scale, height: height * scale});
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
