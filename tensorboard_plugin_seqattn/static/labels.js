/** The two sides of a view, with a child for each token. */

/** The name of a view; beside others, the name of its panel. */
export function nameView(title, name, panel, isAlone) {
  title.textContent = isAlone ? name : panel.title;
  title.dataset.panel = isAlone ? "" : panel.number ?? "";
}

/** Calls `onPoint({row, column})` for the token under the pointer, or with null. */
export function listenToSides(node, source, target, onPoint) {
  for (const [side, name] of [[source, "column"], [target, "row"]]) {
    side.addEventListener("pointerover", (event) => {
      const at = [...side.children].indexOf(event.target.closest(".av-label"));
      if (at >= 0) onPoint({row: null, column: null, [name]: at});
    });
  }
  node.addEventListener("pointerleave", () => onPoint(null));
}

/** Marks the tokens that are pointed at. */
export function markSides(source, target, {row, column}) {
  for (const [side, marked] of [[source, column], [target, row]]) {
    const mark = ({classList}, i) => classList.toggle("av-on", i === marked);
    [...side.children].forEach(mark);
  }
}

/** Shades the attention of a row over the source, or of all rows to a column. */
export function shadeSides(source, target, {grid, scale}, {row, column}) {
  const {rows, columns, values} = grid;
  const weight = (i, j) => values[i * columns.length + j];
  const isBack = row === null && column !== null;
  shade(source, row === null ? [] : columns.map((_, j) => weight(row, j)), scale);
  shade(target, isBack ? rows.map((_, i) => weight(i, column)) : [], scale);
}

function shade(side, weights, scale) {
  [...side.children].forEach(({style}, i) => {
    const isShaded = weights[i] > 0.005 * scale.most || Number.isNaN(weights[i]);
    style.background = isShaded ? scale.css(weights[i]) : "";
    style.color = isShaded ? scale.ink(weights[i]) : "";
  });
}
