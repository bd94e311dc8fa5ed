/** Source and target side by side, and a line for each visible weight. */

import {element, focusable, part, refill, svgElement} from "./dom.js";
import {listenToSides, markSides, shadeSides} from "./labels.js";

const PITCH = 22; // pixels from token to token
const SPAN = 190; // from side to side
const FAINTEST = 0.04; // a lighter line is not drawn
const MOST = 8; // lines of a target token

export function createLinks(onPoint) {
  const title = element("figcaption", {class: "av-title"});
  const lines = svgElement("svg", {class: "av-lines", width: SPAN});
  const source = part("av-side av-side-source");
  const target = part("av-side av-side-target");
  const help = "Links between tokens. Arrow keys move from token to token.";
  const scroll = focusable("av-scroll av-bipartite", help, source, lines, target);
  const said = `Links: up to ${MOST} per target token, weights from ${FAINTEST} up.`;
  const note = element("p", {class: "av-small"}, said);
  const node = element("figure", {class: "av-links"}, title, scroll, note);
  let panel = null;
  let shown = [];
  listenToSides(scroll, source, target, onPoint);

  function pathOf({row, column, value}) {
    const {rows, columns} = panel.grid;
    const y = (i, {length}) => PITCH * (i + 0.5 - length / 2);
    const middle = PITCH * Math.max(rows.length, columns.length) / 2;
    const [from, to] = [middle + y(column, columns), middle + y(row, rows)];
    return svgElement("path", {
      d: `M0 ${from}C${SPAN * 0.45} ${from} ${SPAN * 0.55} ${to} ${SPAN} ${to}`,
      "stroke-width": (0.8 + 5.2 * value).toFixed(2),
      opacity: (0.08 + 0.87 * value).toFixed(3),
    });
  }

  return {
    node,

    show(newPanel, isAlone) {
      panel = newPanel;
      const {rows, columns} = panel.grid;
      title.textContent = panel.title;
      title.hidden = isAlone;
      for (const [side, labels] of [[source, columns], [target, rows]]) {
        const texts = labels.map(({text}) => text);
        const label = (text) => element("div", {class: "av-label", dir: "auto"}, text);
        refill(side, texts, () => texts.map(label));
      }
      lines.setAttribute("height", PITCH * Math.max(rows.length, columns.length));
      shown = strongest(panel.grid).map((link) => ({...link, path: pathOf(link)}));
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
export function strongest({rows, columns, values}) {
  const weights = (_row, row) =>
    columns.map((_column, column) => {
      const value = Math.min(values[row * columns.length + column], 1);
      return {row, column, value};
    });
  const heaviest = (links) =>
    links
      .filter(({value}) => value >= FAINTEST)
      .sort((a, b) => b.value - a.value)
      .slice(0, MOST);
  return rows.map(weights).flatMap(heaviest).sort((a, b) => a.value - b.value);
}
