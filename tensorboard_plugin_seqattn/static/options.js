/** What a viewer can be told to show. */

const CHOICES = {
  unit: ["subword", "word"],
  view: ["all", "heat", "links", "reading"],
};

export const DEFAULTS = {
  unit: "subword",
  hypothesis: 0,
  head: "mean",
  view: "all",
  gold: true,
};

/** Options with changes; what makes no sense, as in an old link, is left out. */
export function withChanges(options, changes) {
  const found = {...options};
  for (const [name, value] of Object.entries(changes ?? {})) {
    if (isFit(name, value)) found[name] = value;
  }
  return found;
}

function isFit(name, value) {
  const isIndex = Number.isInteger(value) && value >= 0;
  if (name === "hypothesis") return isIndex;
  if (name === "head") return isIndex || value === "mean" || value === "all";
  if (name === "gold") return typeof value === "boolean";
  return Object.hasOwn(CHOICES, name) && CHOICES[name].includes(value);
}
