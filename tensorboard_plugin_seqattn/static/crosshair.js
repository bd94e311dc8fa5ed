/** The place of the crosshair: under the pointer, or fixed by a click or a key. */

export const NOWHERE = {row: null, column: null, panel: 0};

const MOVES = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-Infinity, 0],
  PageDown: [Infinity, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

/** Where a key moves it in a grid; null: the key means nothing. */
export function movedBy(key, {row, column, panel}, {rows, columns}) {
  if (key === "Escape") return NOWHERE;
  if (!Object.hasOwn(MOVES, key) || !rows.length || !columns.length) return null;
  if (row === null && column === null) return {row: 0, column: 0, panel};
  const [down, right] = MOVES[key];
  return {
    row: inside((row ?? 0) + down, rows.length),
    column: inside((column ?? 0) + right, columns.length),
    panel,
  };
}

/** The position that is nearest to one that may not be there. */
export function inside(position, size) {
  return Math.min(Math.max(position, 0), size - 1);
}

/** The part of the crosshair that is on a grid, which may be another grid. */
export function insideOf({row, column, panel}, {rows, columns}) {
  return {
    row: row < rows.length ? row : null,
    column: column < columns.length ? column : null,
    panel,
  };
}
