/** Saving the views as SVG, PNG, CSV or JSON. */

import {element} from "./dom.js";
import {figureSvg, pngOf, svgText} from "./figure.js";
import {shortened, visible} from "./symbols.js";

const FORMATS = {
  svg: [(scene, host) => svgText(svgOf(scene, host)), "image/svg+xml"],
  png: [(scene, host) => pngOf(svgOf(scene, host)), "image/png"],
  csv: [csvOf, "text/csv"],
  json: [jsonOf, "application/json"],
};

/** Offers a download; nothing leaves the browser. */
export async function saveScene(scene, format, host) {
  const [make, type] = FORMATS[format];
  const content = await make(scene, host);
  const href = URL.createObjectURL(new Blob([content], {type}));
  element("a", {href, download: `${fileName(scene)}.${format}`}).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** From the names that the host gave, as far as any file system takes them. */
function fileName({panels}) {
  const names = ["attention", ...panels.map(({title}) => title)].join("-");
  return names.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/-+$/u, "").slice(0, 80);
}

/** Two pictures have a third map: their difference. */
function mapsOf({panels, difference}) {
  return difference ? [...panels, difference] : panels;
}

function svgOf(scene, host) {
  const {hypothesis: {source, text}} = scene.panels[0];
  const texts = [source.text, text];
  const description = texts.map((text) => visible(shortened(text, 500))).join(" → ");
  return figureSvg(mapsOf(scene), description, host);
}

/** Tables with a row for each target token, a column for each source token. */
function csvOf(scene) {
  const maps = mapsOf(scene);
  const titleOf = ({title}) => (maps.length > 1 ? title : "");
  return maps.map((map) => tableOf(map.grid, titleOf(map))).join("\r\n");
}

export function tableOf({rows, columns, values}, title) {
  const lines = rows.map(({text}, i) => {
    const row = values.subarray(i * columns.length, (i + 1) * columns.length);
    return [text, ...Array.from(row, (value) => String(Number(value.toPrecision(6))))];
  });
  const all = [[title, ...columns.map(({text}) => text)], ...lines];
  return all.map((line) => `${line.map(field).join(",")}\r\n`).join("");
}

/** Spreadsheets run formulas: a token that looks like one gets an apostrophe. */
function field(content) {
  const isFormula = /^[=+@\t\r-]./.test(content) && Number.isNaN(Number(content));
  const safe = isFormula ? `'${content}` : content;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Pictures with numbers in the place of base64, row after row of each head. */
function jsonOf({panels}) {
  const pictures = panels.map(({raw, picture}) => {
    const hypotheses = raw.hypotheses.map((one, n) => {
      const {weights} = picture.hypotheses[n];
      return {...one, weights: Array.from(weights, (x) => Number(x.toPrecision(5)))};
    });
    return {...raw, hypotheses};
  });
  return `${JSON.stringify(pictures.length > 1 ? pictures : pictures[0])}\n`;
}
