/** The matrix: cells, marks on top of them, labels that stay visible. */

import {createCells} from "./cells.js";
import {element, focusable, part, refill, svgElement} from "./dom.js";
import {listenToSides, markSides, nameView} from "./labels.js";
import {layoutOf, marksOf, sourceLabels, targetLabels} from "./layout.js";

/** `onPoint({row, column})` is called when the pointer moves; null: it has left. */
export function createHeatMap(onPoint) {
  const title = element("figcaption", {class: "av-title"});
  const cells = createCells(onPoint);
  const [top, left, marks] = ["top", "left", "marks"].map((name) =>
    svgElement("svg", {class: `av-${name}`}),
  );
  const corner = part("av-corner");
  const body = part("av-body", cells.node, marks);
  const scroll = focusable("av-scroll", "", part("av-grid", corner, top, left, body));
  const node = element("figure", {class: "av-heat"}, title, scroll);
  listenToSides(scroll, top, left, onPoint);

  return {
    node,

    /** Draws a panel of a scene into a room of some `{width, height}`. */
    show(panel, isAlone, room) {
      const {grid, sides} = panel;
      const names = [`${sides.columns} →`, element("br"), `${sides.rows} ↓`];
      corner.replaceChildren(...names);
      const sizes = layoutOf(grid, room);
      nameView(title, "Heat map", panel, isAlone);
      scroll.ariaLabel = `Attention ${panel.title}. Arrow keys move the crosshair.`;
      const isWide = sizes.left + sizes.right > room.width;
      scroll.classList.toggle("av-boxed", isWide || sizes.height > room.height);
      scroll.style.scrollPadding = `${sizes.top}px 0 0 ${sizes.left}px`;
      node.style.setProperty("--cell", `${sizes.cell}px`);
      setBox(top, 0, -sizes.top, sizes.right, sizes.top);
      setBox(left, -sizes.left, 0, sizes.left, sizes.height);
      setBox(marks, 0, 0, sizes.right, sizes.height);
      refill(top, [grid.columns, sizes], () => sourceLabels(grid.columns, sizes));
      refill(left, [grid.rows, sizes], () => targetLabels(grid.rows, sizes));
      cells.show(grid, panel.scale);
      marks.replaceChildren(...marksOf(panel, sizes));
      return sizes;
    },

    /** Shows where the crosshair is; by a key, it is brought into view, too. */
    mark(at, isKey) {
      cells.mark(at);
      markSides(top, left, at);
      if (isKey) cells.reveal();
    },
  };
}

function setBox(svg, x, y, width, height) {
  svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
}
