/** Scenes: the plain values that the views show, made from pictures and options. */

import {counterpart, differenceOf} from "./compare.js";
import {decodePicture, goldCells, gridOf} from "./picture.js";
import {scaleOf} from "./scale.js";

/** One panel, or two to compare, and if it can be drawn their difference.
 *
 * A panel is what a view needs: `grid`, `scale`, `title`, `gold`, `local`, the texts.
 */
export function sceneOf(raw, {name = "", other, otherName}, options, theme) {
  const choose = ({hypotheses}) => hypotheses[options.hypothesis] ?? hypotheses.at(-1);
  const first = panelOf(raw, choose, options, theme);
  first.title = name;
  if (!other) return {panels: [first]};
  const like = ({hypotheses}) => counterpart(first.hypothesis, hypotheses);
  const second = panelOf(other, like, options, theme);
  first.title = name || "first";
  second.title = otherName || "second";
  const {grid, reason} = differenceOf(first.grid, second.grid);
  const title = `${second.title} − ${first.title}`;
  const difference = grid && {grid, title, scale: scaleOf(theme, true)};
  return {panels: [first, second], difference, reason};
}

function panelOf(raw, choose, options, theme) {
  const picture = decodePicture(raw);
  const hypothesis = choose(picture);
  if (!hypothesis) throw new Error("The picture has no hypothesis.");
  const {kind, text, heads, centre, reach} = hypothesis;
  const head = options.head < heads.length ? options.head : "mean";
  const grid = gridOf(picture, hypothesis, {...options, head});
  const isReference = kind === "forced" || text === picture.reference;
  const hasGold = Boolean(picture.gold) && isReference;
  const isLocal = centre && options.unit === "subword";
  return {
    ...{raw, picture, hypothesis, head, grid, hasGold},
    scale: scaleOf(theme),
    gold: hasGold && options.gold ? goldCells(picture.gold, grid) : null,
    local: isLocal ? {centre, reach: reach ?? 0} : null,
  };
}

/** The mean and each head. */
export function headsOf({picture, hypothesis}, unit) {
  return ["mean", ...hypothesis.heads].map((name, i) => {
    const head = i === 0 ? "mean" : i - 1;
    return {head, name, grid: gridOf(picture, hypothesis, {unit, head})};
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

/** The notes about a picture below its numbers. */
export function notesOf({panels: [first]}, {unit}) {
  const {picture, hypothesis, grid, local, hasGold, gold} = first;
  const ends = [...picture.source.words, ...hypothesis.target.words].includes(-1);
  const notes = {
    "There is nothing to draw: one of the texts is empty.": !grid.values.length,
    "The reference was given to the model word by word (teacher forcing).":
      hypothesis.kind === "forced",
    "The end tokens belong to no word and are left out: rows may sum to less than 1.":
      unit === "word" && ends,
    "Dots are the predicted centres, boxes the windows around them.": local,
    "Squares are gold links: sure ones solid, possible ones dashed.": gold,
    "Gold links belong to the reference: choose it to see them.":
      picture.gold && !hasGold,
    "Crosses: the weight is not a finite number.": !grid.values.every(Number.isFinite),
  };
  return Object.keys(notes).filter((note) => notes[note]).join(" ");
}
