/** The state of the tab, and how a link holds it. */

export const START = {
  run: "",
  other: "", // the run to compare with
  sentence: "", // its tag
  alignment: "", // the name of one among several; "": the one that a search returns
  overview: false, // of all layers
  metric: "entropy", // of the curve and of the order of the sentences
  sort: "", // or "ascending", "descending"
  filter: "",
  step: null, // the last one, whichever that is
};

/** `{key: text}` of the parts that differ from the start. */
export function linkOf(state, start) {
  const changed = Object.keys(start).filter((key) => state[key] !== start[key]);
  return Object.fromEntries(changed.map((key) => [key, String(state[key])]));
}

/** Where a link points; anybody may have written it. */
export function stateOf(link, start) {
  const known = Object.keys(start).filter((key) => Object.hasOwn(link, key));
  const read = known.map((key) => [key, readValue(key, link[key])]);
  return {...start, ...Object.fromEntries(read)};
}

function readValue(key, text) {
  if (typeof START[key] === "string") return text; // a run may be called 1, or true
  return /^(0|[1-9]\d{0,14}|true|false)$/.test(text) ? JSON.parse(text) : text;
}
