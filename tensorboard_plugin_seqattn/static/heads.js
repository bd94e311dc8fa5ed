/** Heads as small multiples, each with its mean entropy. */

import {inside} from "./crosshair.js";
import {element} from "./dom.js";
import {paintCells} from "./heatmap.js";
import {meanOf, rowEntropies} from "./measures.js";

export class Heads {
  /** `onChoose(head)` gets "mean" or a number, `onSelect` what is pointed at. */
  constructor(onChoose, onSelect) {
    this.onChoose = onChoose;
    this.onSelect = onSelect;
    this.tiles = [];
    this.node = element("div", {class: "av-heads"});
    this.node.addEventListener("pointerleave", () => onSelect(null));
  }

  /** `grids`: `{head, name, grid}` of each; `chosen`: "mean", a number, or "all". */
  show(grids, scale, chosen) {
    const size = chosen === "all" ? 240 : 88;
    this.node.classList.toggle("av-large", chosen === "all");
    if (this.tiles.length !== grids.length) this._make(grids.length);
    this.tiles.forEach((tile, i) => {
      const {head, name, grid} = grids[i];
      Object.assign(tile, {head, grid});
      const scaled = size / Math.max(grid.rows.length, grid.columns.length, 1);
      const cell = Math.min(scaled, chosen === "all" ? 24 : 10);
      tile.cell = cell;
      tile.frame.style.width = `${grid.columns.length * cell}px`;
      tile.frame.style.height = `${grid.rows.length * cell}px`;
      tile.button.setAttribute("aria-pressed", String(head === chosen));
      tile.name.textContent = name;
      const entropy = meanOf(rowEntropies(grid));
      tile.entropy.textContent = Number.isFinite(entropy) ? entropy.toFixed(2) : "–";
      tile.button.title = `${name}: entropy ${tile.entropy.textContent} of uniform`;
      paintCells(tile.canvas, grid, scale);
    });
  }

  mark({row, column}) {
    for (const {across, down, cell} of this.tiles) {
      across.hidden = row === null;
      down.hidden = column === null;
      across.style.top = `${row * cell}px`;
      down.style.left = `${column * cell}px`;
      across.style.height = down.style.width = `${cell}px`;
    }
  }

  _make(count) {
    this.tiles = Array.from({length: count}, () => this._tile());
    this.node.replaceChildren(...this.tiles.map(({button}) => button));
  }

  _tile() {
    const canvas = element("canvas", {class: "av-canvas"});
    const across = element("i", {class: "av-across", hidden: true});
    const down = element("i", {class: "av-down", hidden: true});
    const frame = element("span", {class: "av-frame"}, canvas, across, down);
    const name = element("span", {class: "av-tile-name"});
    const entropy = element("span", {class: "av-number"});
    const about = element("span", {class: "av-tile-about"}, name, entropy);
    const button = element("button", {type: "button", class: "av-tile"}, frame, about);
    const tile = {button, frame, canvas, across, down, name, entropy};
    button.addEventListener("click", () => this.onChoose(tile.head));
    frame.addEventListener("pointermove", (event) => {
      const box = frame.getBoundingClientRect();
      const at = (part, count) => inside(Math.floor(part * count), count);
      this.onSelect({
        row: at((event.clientY - box.top) / box.height, tile.grid.rows.length),
        column: at((event.clientX - box.left) / box.width, tile.grid.columns.length),
        of: {title: tile.name.textContent, grid: tile.grid},
      });
    });
    return tile;
  }
}
