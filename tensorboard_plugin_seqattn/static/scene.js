/** From a picture and options to what the views are shown: plain values. */

import {counterpart, differenceOf} from "./compare.js";
import {decodePicture, goldCells, gridOf} from "./picture.js";
import {scaleOf} from "./scale.js";

/** One panel, or two to compare, and if it can be drawn their difference.
 *
 * A panel is what a view needs: `grid`, `scale`, `title`, `gold`, `local`, the texts.
 */
export function sceneOf(raw, about, options, theme) {
  const {name = "", other = null, otherName = ""} = about;
  const picture = decodePicture(raw);
  const chosen = Math.min(options.hypothesis, picture.hypotheses.length - 1);
  const hypothesis = picture.hypotheses[chosen];
  if (!hypothesis) throw new Error("It has no hypothesis.");
  const first = panelOf(raw, picture, hypothesis, options, theme);
  first.title = name;
  if (!other) return {panels: [first], chosen, difference: null, reason: null};
  const decoded = decodePicture(other);
  const like = counterpart(hypothesis, decoded.hypotheses);
  if (!like) throw new Error("What it is compared with has no hypothesis.");
  const second = panelOf(other, decoded, like, options, theme);
  first.title = name || "first";
  second.title = otherName || "second";
  return {panels: [first, second], chosen, ...signedPanel(first, second)};
}

function panelOf(raw, picture, hypothesis, options, theme) {
  const {unit} = options;
  const head = options.head < hypothesis.heads.length ? options.head : "mean";
  const grid = gridOf(picture, hypothesis, {unit, head});
  const {kind, text} = hypothesis;
  const isReference = kind === "forced" || text === picture.reference;
  const hasGold = picture.gold === null ? null : isReference;
  const isLocal = hypothesis.centre !== null && unit === "subword";
  return {
    raw,
    picture,
    hypothesis,
    grid,
    head,
    hasGold,
    scale: scaleOf(theme),
    gold: hasGold && options.gold ? goldCells(picture.gold, grid) : null,
    local: isLocal ? {centre: hypothesis.centre, reach: hypothesis.reach || 0} : null,
  };
}

function signedPanel(first, second) {
  const {grid, reason} = differenceOf(first.grid, second.grid);
  if (!grid) return {difference: null, reason};
  const scale = scaleOf(first.scale.theme, true);
  const title = `${second.title} − ${first.title}`;
  const difference = {grid, scale, title, gold: null, local: null};
  return {difference, reason: null};
}

/** The mean and each head, if there are several. */
export function headGrids({picture, hypothesis}, unit) {
  if (hypothesis.heads.length < 2) return [];
  return ["mean", ...hypothesis.heads].map((name, i) => {
    const head = i === 0 ? "mean" : i - 1;
    return {head, name, grid: gridOf(picture, hypothesis, {unit, head})};
  });
}

/** Which views are seen. There is no room for all of them twice. */
export function seenOf({panels: [first, second]}, {view, head}) {
  const isLarge = head === "all" && !second && first.hypothesis.heads.length > 1;
  const isDrawn = first.grid.values.length > 0;
  return {
    reading: view === "all" || view === "reading",
    heads: isDrawn && view !== "reading" && first.hypothesis.heads.length > 1,
    largeHeads: isLarge,
    heat: isDrawn && !isLarge && (view === "all" || view === "heat"),
    links: isDrawn && (view === "links" || (view === "all" && !second && !isLarge)),
  };
}

/** What has to be said about a picture besides its numbers. */
export function notesOf({panels: [first]}, {unit}) {
  const {picture, hypothesis, grid, local, hasGold, gold} = first;
  const ends = [...picture.source.words, ...hypothesis.target.words].includes(-1);
  const notes = [
    [grid.values.length === 0, "There is nothing to draw: one of the texts is empty."],
    [
      hypothesis.kind === "forced",
      "The reference was given to the model word by word (teacher forcing).",
    ],
    [
      unit === "word" && ends,
      "The end tokens belong to no word and are left out: rows may sum to less than 1.",
    ],
    [local !== null, "Dots are the predicted centres, boxes the windows around them."],
    [gold !== null, "Squares are gold links: sure ones solid, possible ones dashed."],
    [hasGold === false, "Gold links belong to the reference: choose it to see them."],
    [
      grid.values.some((value) => !Number.isFinite(value)),
      "Crosses: the weight is not a finite number.",
    ],
  ];
  return notes.filter(([is]) => is).map(([, note]) => note);
}
