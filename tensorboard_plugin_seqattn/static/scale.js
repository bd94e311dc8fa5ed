/** From weights to colours, from 0 to 1 or to the largest weight.
 *
 * Lightness falls (in the dark: rises) evenly from 0 to 1, so that the order of two
 * weights is seen without colour vision, too; differences run from orange to blue.
 */

import {svgElement} from "./dom.js";

const STOPS = {
  light: "eef9fa b3e3ec 7bcae2 4facda 368ccd 316aba 35499e 2f2e79 221851",
  dark: "1e212e 293559 2d4d83 236ba5 178bba 29abc7 56cacd 8ee5d3 c6fedf",
};
const SIGNED_STOPS = {
  light: "823c07 a2683f c29470 dbc4ae f5f3f1 b7cae4 80a1d1 5377b7 2d4c9c",
  dark: "f8a87b c1855b 8d633f 574432 282624 3a495f 506e9c 7695cc 9ebdff",
};
const NO_NUMBER = {light: [216, 214, 210], dark: [70, 68, 66]};
const LEVELS = 256;
const tables = new Map();

/** The weight with the strongest colour: 1, or the largest one if some are above 1, as
 * in text/weight_scale.py of the Python library. */
export function strongestOf(values) {
  const finite = values.filter(Number.isFinite);
  const largest = finite.reduce((most, value) => Math.max(most, value), 1);
  return largest > 1.001 ? largest : 1;
}

/** A scale from 0 to `most`, or if it is signed from -most to most: `rgb`, `css` and
 * `ink` of a value, the latter a colour for text on it. */
export function scaleOf(theme, signed = false, most = 1) {
  const table = coloursOf(theme, signed);
  const rgb = (value) => {
    if (!Number.isFinite(value)) return NO_NUMBER[theme];
    const share = value / most;
    const level = LEVELS * (signed ? (share + 1) / 2 : share);
    return table[Math.round(Math.min(Math.max(level, 0), LEVELS))];
  };
  const twoDigits = (x) => x.toString(16).padStart(2, "0");
  return {
    ...{signed, most, rgb},
    css: (value) => `#${rgb(value).map(twoDigits).join("")}`,
    ink: (value) => (luminance(rgb(value)) < 0.179 ? "#ffffff" : "#000000"),
  };
}

/** The colours of all levels. */
function coloursOf(theme, signed) {
  const key = `${theme} ${signed}`;
  if (tables.has(key)) return tables.get(key);
  const stops = (signed ? SIGNED_STOPS : STOPS)[theme].split(" ").map(channels);
  const colour = (_, level) => between(stops, level / LEVELS);
  tables.set(key, Array.from({length: LEVELS + 1}, colour));
  return tables.get(key);
}

function channels(hex) {
  return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function between(stops, fraction) {
  const at = fraction * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  return stops[i].map((x, c) => Math.round(x + (stops[i + 1][c] - x) * (at - i)));
}

/** As in WCAG 2: black and white read equally well where it is 0.179. */
function luminance(rgb) {
  const [r, g, b] = rgb.map((x) => {
    const share = x / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** So many steps through all values. */
export function legendValues({signed, most = 1}, steps) {
  const least = signed ? -most : 0;
  const at = (_, i) => least + ((most - least) * i) / steps;
  return Array.from({length: steps + 1}, at);
}

/** A number with three digits. */
export function digitsOf(number) {
  return String(Number(number.toPrecision(3)));
}

/** The legend of the colours: an SVG for the page and for figures. */
export function legendOf(scale) {
  const bar = legendValues(scale, 31).map((value, i) =>
    svgElement("rect", {x: 5 * i, width: 5, height: 8, fill: scale.css(value)}),
  );
  const [half, most] = [scale.most / 2, scale.most].map(digitsOf);
  const ticks = scale.signed ? [`−${most}`, "0", `+${most}`] : ["0", half, most];
  const anchors = ["start", "middle", "end"];
  const below = ticks.map((tick, i) => {
    const place = {x: 80 * i, y: 21, "text-anchor": anchors[i]};
    return svgElement("text", {...place, "font-size": 11}, tick);
  });
  return svgElement("svg", {width: 160, height: 26}, ...bar, ...below);
}
