/** Two pictures of one sentence: what the second looks at more, and what less. */

import {shortened} from "./symbols.js";

/** Of the second picture the hypothesis that belongs to one of the first: of the same
 * kind, if possible with the same tokens, then with the same rank. */
export function counterpart(hypothesis, hypotheses) {
  const alike = hypotheses.filter(({kind}) => kind === hypothesis.kind);
  return (
    alike.find(({target}) => sameTokens(target, hypothesis.target)) ??
    alike.find(({rank}) => rank === hypothesis.rank) ??
    hypotheses[0]
  );
}

/** `{grid}` with second minus first, or `{reason}` why there is none. */
export function differenceOf(first, second) {
  const textsOf = (labels) => labels.map(({text}) => text);
  for (const [side, name] of [["columns", "sources"], ["rows", "translations"]]) {
    const [a, b] = [textsOf(first[side]), textsOf(second[side])];
    const at = a.findIndex((text, i) => text !== b[i]);
    if (at < 0 && a.length === b.length) continue;
    return {reason: whyNot(name, a, b, at < 0 ? a.length : at)};
  }
  const values = first.values.map((value, i) => second.values[i] - value);
  return {grid: {...first, values}, reason: null};
}

function whyNot(name, a, b, at) {
  const [one, other] = [a, b].map((texts) =>
    at < texts.length ? `“${shortened(texts[at], 30)}”` : "the end",
  );
  const remedy = "Choose the reference, if it is there: it is the same in both.";
  return (
    `No difference is drawn: the ${name} are not the same. At position ${at + 1} ` +
    `there is ${one} and ${other}. ${name === "translations" ? remedy : ""}`
  );
}

function sameTokens(a, b) {
  return (
    a.tokens.length === b.tokens.length &&
    a.tokens.every(({piece}, i) => piece === b.tokens[i].piece)
  );
}
