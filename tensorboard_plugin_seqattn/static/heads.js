/** Heads as small multiples, each with its mean entropy. */

import {createCells} from "./cells.js";
import {button, element, numberText, part, refill} from "./dom.js";
import {meanOf, rowEntropies} from "./measures.js";
import {explained} from "./tooltip.js";

const ENTROPY =
  "A head. The number is its mean entropy: 0 is one token, 1 is all tokens alike.";

/** `onChoose(head)` gets "mean" or a number, `onPoint` the pointed cell. */
export function createHeads(onChoose, onPoint) {
  const node = part("av-heads");
  let tiles = [];
  node.addEventListener("pointerleave", () => onPoint(null));

  function tileOf({name, head}) {
    const cells = createCells(onPoint);
    const entropy = element("span", {class: "av-number"});
    const tile = button("", () => onChoose(head), {class: "av-tile"});
    explained(tile, ENTROPY);
    tile.append(element("span", {}, name), entropy, cells.node);
    return {tile, cells, entropy};
  }

  return {
    node,

    /** `heads` are `{name, head, grid}`, one of them is chosen. */
    show({heads, scale, chosen}) {
      refill(node, heads.map(({name}) => name), () => {
        tiles = heads.map(tileOf);
        return tiles.map(({tile}) => tile);
      });
      tiles.forEach(({tile, cells, entropy}, i) => {
        const {head, grid} = heads[i];
        cells.show(grid, scale);
        entropy.textContent = numberText(meanOf(rowEntropies(grid)));
        tile.ariaPressed = head === chosen;
      });
    },

    mark(at) {
      for (const {cells} of tiles) cells.mark(at);
    },
  };
}
