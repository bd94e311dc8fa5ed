/** Small things of the tab: icons, lists to choose from, numbers, curves. */

import {element, svgElement} from "./dom.js";

// On a grid of 16 x 16.
const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  previous: "M11 3v10L4 8z",
  play: "M4 2v12l10-6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
  next: "M5 3v10l7-5z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
  swap: "M5 1 1 5h3v6h2V5h3zM11 15l4-4h-3V5h-2v6H7z",
  close: "M3.8 2.4 8 6.6l4.2-4.2 1.4 1.4L9.4 8l4.2 4.2-1.4 1.4L8 9.4l-4.2 4.2-1.4-1.4L6.6 8 2.4 3.8z",
  help: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1M7.1 11h1.8v1.8H7.1zM8 3.4c1.7 0 2.9 1 2.9 2.5 0 1.2-.7 1.8-1.3 2.3-.5.4-.8.7-.8 1.5H7.2c0-1.4.6-2 1.3-2.5.5-.4.8-.7.8-1.2 0-.6-.5-1-1.3-1s-1.4.5-1.5 1.3l-1.6-.4C5.1 4.4 6.3 3.4 8 3.4",
};

/** A button; `properties` are those of the element, onclick among them. */
export function button(label, properties) {
  return Object.assign(element("button", {type: "button"}, label), properties);
}

/** A button with an icon; its label is for the pointer at rest and for screen readers. */
export function iconButton(icon, label, onclick) {
  const made = button("", {className: "tab-icon", onclick});
  setIcon(made, icon, label);
  return made;
}

export function setIcon(made, icon, label) {
  made.title = label;
  made.ariaLabel = label;
  const path = svgElement("path", {d: ICONS[icon]});
  made.replaceChildren(
    svgElement("svg", {viewBox: "0 0 16 16", "aria-hidden": "true"}, path),
  );
}

/** Gives a `<select>` the options `[value, label]`, one of them chosen. */
export function fillSelect(select, options, chosen) {
  select.replaceChildren(
    ...options.map(([value, label]) => element("option", {value}, label)),
  );
  select.value = chosen;
}

/** A number as a reader needs it; a dash where there is none. */
export function shortNumber(value) {
  if (typeof value !== "number" || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  return value.toFixed(Math.abs(value) < 10 ? 3 : 1).replace("-", "−");
}

/** A line through the values, in a box of `width` x `height`; a gap where none is. */
export function curvePath(values, [low, high], width, height) {
  const across = width / Math.max(1, values.length - 1);
  const up = height / (high - low || 1);
  let path = "";
  let pen = "M";
  values.forEach((value, i) => {
    if (!Number.isFinite(value)) {
      pen = "M";
      return;
    }
    path += `${pen}${(i * across).toFixed(1)} ${(height - (value - low) * up).toFixed(1)}`;
    pen = "L";
  });
  return path;
}

/** `[smallest, largest]` of the finite numbers; [0, 1] where there is none. */
export function rangeOf(values) {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [0, 1];
  return finite.reduce(
    ([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity],
  );
}
