/** The options of a viewer. */

export const DEFAULTS = {
  unit: "subword",
  hypothesis: 0,
  otherHypothesis: null, // of the picture to compare with; null: the same one
  head: "mean",
  view: "all",
  gold: true,
};

const isIndex = (x) => Number.isInteger(x) && x >= 0;
const FITS = {
  __proto__: null, // the names are what a link says
  unit: (x) => ["subword", "word"].includes(x),
  hypothesis: isIndex,
  otherHypothesis: (x) => isIndex(x) || x === null,
  head: (x) => isIndex(x) || x === "mean",
  view: (x) => ["all", "heat", "links", "reading"].includes(x),
  gold: (x) => typeof x === "boolean",
};

/** Options with changes; invalid values, as in an old link, are ignored. */
export function withChanges(options, changes) {
  const fit = Object.entries(changes).filter(([name, value]) => FITS[name]?.(value));
  return {...options, ...Object.fromEntries(fit)};
}
