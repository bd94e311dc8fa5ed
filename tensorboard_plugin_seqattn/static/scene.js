/** Scenes: the plain values that the views show, made from pictures and options. */

import {counterpart, differenceOf} from "./compare.js";
import {decodePicture, goldCells, gridOf, valuesOf} from "./picture.js";
import {digitsOf, scaleOf, strongestOf} from "./scale.js";

/** One panel, or two to compare, and if it can be drawn their difference.
 *
 * A panel is what a view needs: `grid`, its `sides`, `scale`, `title`, `gold`, `local`,
 * the texts; of two, its `number` is 0 or 1.
 */
export function sceneOf(raw, {name = "", other, otherName}, options, theme) {
  const choose = ({hypotheses}) => hypotheses[options.hypothesis] ?? hypotheses.at(-1);
  const first = panelOf(raw, choose, options);
  first.title = name;
  if (!other) return {panels: scaled([first], theme)};
  const like = ({hypotheses}) =>
    hypotheses[options.otherHypothesis] ?? counterpart(first.hypothesis, hypotheses);
  const second = panelOf(other, like, options);
  Object.assign(first, {title: name || "first", number: 0});
  Object.assign(second, {title: otherName || "second", number: 1});
  const panels = scaled([first, second], theme);
  const {grid, reason} = differenceOf(first.grid, second.grid);
  const title = `${second.title} − ${first.title}`;
  const scale = scaleOf(theme, true, first.scale.most);
  const {sides} = first;
  return {panels, difference: grid && {grid, sides, title, scale}, reason};
}

/** Panels with one scale, so that their colours can be compared. */
function scaled(panels, theme) {
  const weightsOf = ({hypothesis, grid}) => [hypothesis.weights, grid.values];
  const most = Math.max(...panels.flatMap(weightsOf).map(strongestOf));
  const scale = scaleOf(theme, false, most);
  return panels.map((panel) => Object.assign(panel, {scale}));
}

function panelOf(raw, choose, options) {
  const picture = decodePicture(raw);
  const hypothesis = choose(picture);
  if (!hypothesis) throw new Error("The picture has no hypothesis.");
  const {kind, text, heads, centre, reach} = hypothesis;
  const head = options.head < heads.length ? options.head : "mean";
  const grid = gridOf(hypothesis, {...options, head});
  const isReference = kind === "forced" || text === picture.reference;
  const hasGold = Boolean(picture.gold) && isReference;
  const isLocal = centre && options.unit === "subword";
  return {
    ...{raw, picture, hypothesis, head, grid, hasGold},
    sides: {rows: picture.rows, columns: picture.columns},
    gold: hasGold && options.gold ? goldCells(picture.gold, grid) : null,
    local: isLocal ? {centre, reach: reach ?? 0} : null,
  };
}

/** The mean and each head. */
export function headsOf({hypothesis, grid}, unit) {
  return ["mean", ...hypothesis.heads].map((name, i) => {
    const head = i === 0 ? "mean" : i - 1;
    return {head, name, grid: {...grid, values: valuesOf(hypothesis, {unit, head})}};
  });
}

/** Which views are shown. There is no room to show all of them twice. */
export function seenOf({panels: [first, second]}, {view}) {
  const isDrawn = first.grid.values.length > 0;
  return {
    reading: view === "all" || view === "reading",
    heads: isDrawn && view !== "reading" && first.hypothesis.heads.length > 1,
    heat: isDrawn && (view === "all" || view === "heat"),
    links: isDrawn && (view === "links" || (view === "all" && !second)),
  };
}

/** Whether the metrics are about another hypothesis, the best one. */
function isNotBest({picture: {hypotheses, metrics}, hypothesis}) {
  return metrics && hypothesis !== hypotheses[0];
}

/** The notes about a picture below its numbers. */
export function notesOf({panels}, {unit}) {
  const [first] = panels;
  const {picture, hypothesis, grid, local, hasGold, gold, scale} = first;
  const most = digitsOf(scale.most);
  const ends = [...hypothesis.source.words, ...hypothesis.target.words].includes(-1);
  const notes = {
    "There is nothing to draw: one of the texts is empty.": !grid.values.length,
    "The reference was given to the model word by word (teacher forcing).":
      hypothesis.kind === "forced",
    "Start and end tokens belong to no word: rows may sum to less than 1.":
      unit === "word" && ends,
    "The decoder reads its own text from the start token on, and cannot look ahead.":
      picture.columns === "target",
    "Dots are the predicted centres, boxes the windows around them.": local,
    "Squares are gold links: sure ones solid, possible ones dashed.": gold,
    "Gold links belong to the reference: choose it to see them.":
      picture.gold && !hasGold,
    "The entropy is of this hypothesis, the other measures are of the best one.":
      panels.some(isNotBest),
    [`The alignment is not normalised: it is scaled by its largest weight, ${most}.`]:
      scale.most > 1,
    "Weights below 0 are drawn as 0.": grid.values.some((value) => value < -0.001),
    "Crosses: the weight is not a finite number.": !grid.values.every(Number.isFinite),
  };
  return Object.keys(notes).filter((note) => notes[note]).join(" ");
}
