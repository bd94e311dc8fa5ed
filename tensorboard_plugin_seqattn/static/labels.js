/** What the views of one matrix have in common: labels that are marked and shaded. */

import {element} from "./dom.js";

/** A token on an axis, isolated from its neighbours. */
export function axisLabel(text) {
  return element("div", {class: "av-label"}, element("span", {dir: "auto"}, text));
}

/** Marks the child at a position as the one that is looked at. */
export function markOne(nodes, position) {
  for (const node of nodes) node.classList.remove("av-on");
  if (position !== null && nodes[position]) nodes[position].classList.add("av-on");
}

/** Backgrounds by weight, and text that can be read on them; null: none. */
function shadeLabels(nodes, weights, scale) {
  Array.from(nodes).forEach((node, i) => {
    const shaded = weights !== null && (weights[i] > 0.005 || Number.isNaN(weights[i]));
    node.style.background = shaded ? scale.css(weights[i]) : "";
    node.style.color = shaded ? scale.ink(weights[i]) : "";
  });
}

/** Of two sides with labels, marks one and shades its partners on the other. */
export function markTexts({source, target, grid, scale}, {row, column}) {
  const {rows, columns, values} = grid;
  const of = (i, j) => values[i * columns.length + j];
  const looked = row === null ? null : columns.map((_, j) => of(row, j));
  const isBack = row === null && column !== null;
  const wrote = isBack ? rows.map((_, i) => of(i, column)) : null;
  shadeLabels(source.children, looked, scale);
  shadeLabels(target.children, wrote, scale);
  markOne(source.children, column);
  markOne(target.children, row);
}

/** The position of the label that an event happened on, or -1. */
export function positionOf(event, parent) {
  const label = event.target.closest(".av-label, .av-token");
  return Array.from(parent.children).indexOf(label);
}
