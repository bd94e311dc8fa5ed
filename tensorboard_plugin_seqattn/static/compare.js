/** The comparison of two pictures of one sentence. */

/** The hypothesis of the second picture that belongs to one of the first: of the same
 * kind, and if possible with the same text. */
export function counterpart({kind, text}, hypotheses) {
  const alike = hypotheses.filter((other) => other.kind === kind);
  return alike.find((other) => other.text === text) ?? alike[0] ?? hypotheses[0];
}

/** `{grid}` with second minus first, or `{reason}` why there is none. */
export function differenceOf(first, second) {
  for (const [side, name] of [["columns", "sources"], ["rows", "translations"]]) {
    const [a, b] = [first, second].map((grid) => grid[side].map(({text}) => text));
    const at = a.findIndex((text, i) => text !== b[i]);
    if (at < 0 && a.length === b.length) continue;
    const reason =
      `No difference is drawn: the ${name} are not the same from position ` +
      `${(at < 0 ? a.length : at) + 1} on. The reference, if there is one, is the ` +
      "same in both: choose it.";
    return {reason};
  }
  const values = first.values.map((value, i) => second.values[i] - value);
  return {grid: {...first, values}};
}
