/** What is seen, as a file of one of four formats. */

import {csvOf, download, numbersOf} from "./export.js";
import {figureSvg, pngOf, svgText} from "./figure.js";
import {headGrids} from "./scene.js";
import {shortened, visible} from "./symbols.js";

const FORMATS = {
  svg: [(...scene) => svgText(sceneSvg(...scene)), "image/svg+xml"],
  png: [(...scene) => pngOf(sceneSvg(...scene)), "image/png"],
  csv: [sceneCsv, "text/csv"],
  json: [sceneJson, "application/json"],
};

export async function saveScene(scene, options, format) {
  const name = `${fileName(scene)}.${format}`;
  const [make, type] = FORMATS[format];
  download(name, await make(scene, options), type);
}

/** The heat maps side by side: heads, or two pictures and their difference. */
export function sceneSvg(scene, options) {
  const {panels: [first]} = scene;
  const texts = [first.picture.source.text, first.hypothesis.text];
  const description = texts.map((text) => visible(shortened(text, 500))).join(" → ");
  return figureSvg(figuresOf(scene, options), description);
}

export function sceneCsv(scene, options) {
  const tables = figuresOf(scene, options);
  const titleOf = ({title}) => (tables.length > 1 ? title : "");
  return tables.map((table) => csvOf(table.grid, titleOf(table))).join("\r\n");
}

export function sceneJson({panels}) {
  const pictures = panels.map(({raw, picture}) => numbersOf(raw, picture));
  return `${JSON.stringify(pictures.length > 1 ? pictures : pictures[0])}\n`;
}

function figuresOf({panels, difference}, {head, unit}) {
  const [first] = panels;
  const heads = head === "all" && panels.length === 1 ? headGrids(first, unit) : [];
  if (heads.length) {
    return heads.map(({name, grid}) => ({...first, title: name, grid}));
  }
  return difference ? [...panels, difference] : panels;
}

/** From the names that the host gave, as far as any file system takes them. */
function fileName({panels}) {
  const names = ["attention", ...panels.map(({title}) => title)].join("-");
  return names.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/-+$/u, "").slice(0, 80);
}
