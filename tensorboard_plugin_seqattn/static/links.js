/** Source and target side by side, and a line for each visible weight. */

import {element, focusable, numberText, part, refill, svgElement} from "./dom.js";
import {listenToSides, markSides, nameView, shadeSides} from "./labels.js";

const [CLOSE, WIDE] = [22, 34]; // pixels from token to token
const HEIGHT = 560; // of a view with few tokens
const FAINTEST = 0.04; // of the largest weight; a lighter line is not drawn
const MOST = 8; // lines of a target token

export function createLinks(onPoint) {
  const title = element("figcaption", {class: "av-title"});
  const lines = svgElement("svg", {class: "av-lines"});
  const source = part("av-side av-side-source");
  const target = part("av-side av-side-target");
  const help = "Links between tokens. Arrow keys move from token to token.";
  const scroll = focusable("av-scroll av-bipartite", help, source, lines, target);
  const note = element("p", {class: "av-small"});
  const node = element("figure", {class: "av-links"}, title, scroll, note);
  let panel = null;
  let [pitch, span] = [CLOSE, 0]; // span: from side to side
  let shown = [];
  listenToSides(scroll, source, target, onPoint);

  function pathOf({row, column, value}) {
    const {rows, columns} = panel.grid;
    const y = (i, {length}) => pitch * (i + 0.5 - length / 2);
    const middle = pitch * Math.max(rows.length, columns.length) / 2;
    const share = value / panel.scale.most;
    const [from, to] = [middle + y(column, columns), middle + y(row, rows)];
    return svgElement("path", {
      d: `M0 ${from}C${span * 0.45} ${from} ${span * 0.55} ${to} ${span} ${to}`,
      "stroke-width": (0.8 + 5.2 * share).toFixed(2),
      opacity: (0.08 + 0.87 * share).toFixed(3),
    });
  }

  return {
    node,

    show(newPanel, isAlone) {
      panel = newPanel;
      const {rows, columns} = panel.grid;
      nameView(title, "Links", panel, isAlone);
      for (const [side, labels] of [[source, columns], [target, rows]]) {
        const texts = labels.map(({text}) => text);
        const label = (text) => element("div", {class: "av-label", dir: "auto"}, text);
        refill(side, texts, () => texts.map(label));
      }
      const most = Math.max(rows.length, columns.length);
      pitch = Math.min(WIDE, Math.max(CLOSE, Math.floor(HEIGHT / most)));
      node.style.setProperty("--pitch", `${pitch}px`);
      lines.setAttribute("height", pitch * most);
      span = lines.clientWidth; // what the labels leave
      const least = numberText(FAINTEST * panel.scale.most);
      const {rows: side} = panel.sides;
      note.textContent = `Up to ${MOST} per ${side} token, weights from ${least} up.`;
      scroll.classList.toggle("av-boxed", most * CLOSE > HEIGHT);
      const links = strongest(panel.grid, panel.scale.most);
      shown = links.map((link) => ({...link, path: pathOf(link)}));
      lines.replaceChildren(...shown.map(({path}) => path));
    },

    /** Shows the selected lines, fades the others, and shades linked tokens. */
    mark({row, column}) {
      lines.classList.toggle("av-selecting", row !== null || column !== null);
      for (const link of shown) {
        const is = row === null ? link.column === column : link.row === row;
        link.path.classList.toggle("av-on", is);
      }
      markSides(source, target, {row, column});
      shadeSides(source, target, panel, {row, column});
    },
  };
}

/** The heaviest weights of each row; the lightest first, so that they lie below. */
export function strongest({rows, columns, values}, most) {
  const weights = (_row, row) =>
    columns.map((_column, column) => {
      const value = Math.min(values[row * columns.length + column], most);
      return {row, column, value};
    });
  const heaviest = (links) =>
    links
      .filter(({value}) => value >= FAINTEST * most)
      .sort((a, b) => b.value - a.value)
      .slice(0, MOST);
  return rows.map(weights).flatMap(heaviest).sort((a, b) => a.value - b.value);
}
